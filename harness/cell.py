"""The cells: which question goes to which column, from which file; careful that a name which matches nothing is an error, not a gap."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harness import contract, source
from harness.case import FAILURES, SWEPT, Spec
from harness.errors import BadInput
from harness.pins import Column, not_before, release_key
from harness.project import Project

# A change of the protocol that can change a number (how inputs are made, how a call is timed) changes every cell's version.
PROTOCOL = 1
FRAMEWORKS = Project().frameworks
RUN_FILE = re.compile(r"run_(?P<framework>[a-z0-9]+)(?:\.(?P<variant>[a-z0-9_]+))?(?:@(?P<since>[0-9][0-9.]*))?\.(?P<ext>py|rs)")


@dataclass(frozen=True, kw_only=True)
class RunFile:
    framework: str
    variant: str
    since: str
    path: Path

    def functions(self) -> dict[str, str]:
        return source.functions(self.path)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One question: (case, item, variant, dtype, mode, column). ``file`` is None where nobody wrote one."""

    spec: Spec
    variant: str
    dtype: str
    mode: str
    column: Column
    file: RunFile | None

    @property
    def address(self) -> str:
        """``CASE[:ITEM][/VARIANT][@DTYPE][+compiled]``, without its column."""
        variant, mode = (f"/{self.variant}" if self.variant else ""), ("+compiled" if self.mode == "compiled" else "")
        return f"{self.spec.row}{variant}@{self.dtype}{mode}"

    @property
    def key(self) -> tuple[str, str, str, str, str, str]:
        """What its record's `record.key` will be."""
        return (self.spec.id, self.spec.item, self.variant, self.dtype, self.mode, self.column.id)

    @property
    def id(self) -> str:
        return f"{self.address}-{self.column.id}"

    @property
    def function(self) -> str:
        return "step" if self.spec.case.timing else (self.spec.item or "run")

    @property
    def limit_s(self) -> float:
        return self.spec.case.limit_s * self.column.patience

    @property
    def asked(self) -> str:
        """The cell's version: it changes with what can change its number, and with nothing else."""
        spec = self.spec
        code = self.file.functions().get(self.function, "") if self.file else ""
        if spec.op:
            case, column = spec.folder / "case.py", self.column
            asking = (self.mode, glue(column), *child_half(column), self.limit_s, column.examples)
            return source.digest(PROTOCOL, *asking, swept(case), source.entry(case, spec.item), code)
        if self.file and spec.case.timing:
            code = "\n".join(self.file.functions().get(name, "") for name in ("forward", "step", "gemm"))
        if self.file and self.column.source:
            code += source.reached(code, Path(self.column.source), self.column.framework)
        limits = [(x.quantity, x.factor, x.absolute) for x in spec.case.timing.limits] if spec.case.timing else []
        own = spec.tol[self.dtype]
        tolerances = [
            (own.rtol, own.atol),
            *((c.output, c.norm, spec.tolerance(c, self.dtype).rtol, spec.tolerance(c, self.dtype).atol) for c in spec.checks),
        ]
        asking = (self.mode, self.spec.timing_digest, glue(self.column), spec.case.repeat, self.limit_s, spec.case.limit_gb)
        documented = spec.documented.get(self.column.framework)
        second = source.of(documented.reference) if documented else ""
        return source.digest(PROTOCOL, asking, spec.inputs_digest, source.of(spec.reference), second, tolerances, limits, code)


def between(column: Column) -> str:
    """The digest of all that a probe is built of beside run files and the framework."""
    return source.digest(glue(column), *child_half(column))


@lru_cache
def child_half(column: Column) -> tuple[str, ...]:
    """The text of the child's half of a sweep: a framework's gradients and views, and what is the same for all of its language."""
    shared = FRAMEWORKS.parent / "swept.py" if column.language == "python" else FRAMEWORKS / "probe_rs" / "swept.rs"
    return tuple(file.read_text() for file in (ways(FRAMEWORKS, column), shared) if file.exists())


@lru_cache
def swept(case: Path, judged: bool = True) -> str:
    """The text of what draws the examples of a sweep's case and computes their references, and of what judges answers; a neighbour's samplers are no part."""
    package = Path(__file__).parent / "sweep"
    drawn = source.reached(case.read_text(), package, "harness.sweep")
    rest = ("reference", "draw", *(("judge", "explore", "ask") if judged else ()))
    return source.digest(drawn, *((package / f"{name}.py").read_text() for name in rest))


@lru_cache
def glue(column: Column) -> str:
    """The text between a run file and the harness."""
    return source.digest(*(f.read_text() for f in glue_files(FRAMEWORKS, column) if f.exists()), column.features)


def glue_files(frameworks: Path, column: Column) -> list[Path]:
    """A framework's adapter, or its Rust files after the shared half of the protocol: of glue.rs and glue@VERSION.rs the one that serves the column."""
    folder = frameworks / column.folder
    if column.language == "python":
        return [folder / "adapter.py"]
    glues = {path.stem.partition("@")[2]: path for path in folder.glob("glue*.rs")}
    others = sorted(path for path in folder.glob("*.rs") if path not in glues.values() and not path.name.startswith("sweep"))
    since = sorted((v for v in glues if not v or not_before(column.version, v)), key=lambda v: release_key(v or "0"))
    return [frameworks / "probe_rs" / "protocol.rs", *others, *(glues[v] for v in since[-1:])]


def ways(frameworks: Path, column: Column) -> Path:
    """The file of a framework's gradients and views, which its sweep goes by; for Rust of the version that its glue is of."""
    folder = frameworks / column.folder
    if column.language == "python":
        return folder / "sweep.py"
    return folder / glue_files(frameworks, column)[-1].name.replace("glue", "sweep")


def run_files(folder: Path) -> list[RunFile]:
    """The run files of a case folder.

    Raises:
        BadInput: a file named run_* that the form does not read, so that a typing error cannot hide a cell.
    """
    files = []
    for path in sorted(folder.glob("run_*")):
        match = RUN_FILE.fullmatch(path.name)
        if not match:
            raise BadInput(f"{folder.name}/{path.name}", "run_FRAMEWORK[.VARIANT][@VERSION].py or .rs", "rename it")
        files.append(RunFile(framework=match["framework"], variant=match["variant"] or "", since=match["since"] or "", path=path))
    return files


def files_for(files: Iterable[RunFile], column: Column) -> dict[str, RunFile]:
    """Variant -> the file that serves this column's version: of those it is not before, the latest."""
    extension = ".py" if column.language == "python" else ".rs"
    mine = [f for f in files if f.framework == column.framework]
    for wrong in (f for f in mine if f.path.suffix != extension):
        raise BadInput(f"{wrong.path.parent.name}/{wrong.path.name} for a {column.language} framework", f"a {extension} file", "rename it")
    mine = [f for f in mine if not f.since or not_before(column.version, f.since)]
    # Written for the interface of an older glue, a file would not compile: untested, and no absence of the framework's.
    interface = glue_files(FRAMEWORKS, column)[-1].stem.partition("@")[2]
    mine = [f for f in mine if not_before(f.since or "0", interface or "0")]
    mine.sort(key=lambda f: release_key(f.since or "0"))
    return {f.variant: f for f in mine}  # the last one wins


def load_specs(project: Project) -> list[Spec]:
    """Every row of every case, case folders in alphabetical order.

    Raises:
        BadInput: no cases, or one that does not load.
    """
    folders = sorted(p.parent for p in project.cases.glob("*/case.py"))
    if not folders:
        raise BadInput(f"no cases in {project.cases}", "folders with a case.py", "name a project folder with --project")
    return [spec for folder in folders for spec in contract.load(folder)]


def expand(specs: list[Spec], columns: list[Column], known_frameworks: set[str]) -> list[Cell]:
    """Every cell of the rows on the columns, column by column.

    Raises:
        BadInput: a run file for a framework that has no pin, or with a function that is no item of its case.
    """
    per_case = {spec.id: run_files(spec.folder) for spec in specs}
    for spec in specs:
        if unknown := set(spec.case.only) - known_frameworks:
            raise BadInput(f"{spec.id}: only {sorted(unknown)}", f"some of {', '.join(sorted(known_frameworks))}", "name pinned frameworks")
    items = {spec.id: {s.item for s in specs if s.id == spec.id} for spec in specs}
    for spec in specs:
        for file in per_case[spec.id]:
            if file.framework not in known_frameworks:
                raise BadInput(
                    f"{spec.id}/{file.path.name}: framework {file.framework!r}",
                    f"one of {', '.join(sorted(known_frameworks))}",
                    "rename it or pin it",
                )
            stray = set(file.functions()) - items[spec.id] - ({"run"} if not spec.case.timing else {"forward", "step", "gemm"})
            if stray:
                raise BadInput(
                    f"{spec.id}/{file.path.name}: function {', '.join(sorted(stray))}",
                    f"{', '.join(sorted(filter(None, items[spec.id]))) or 'run, or forward, step and gemm'}",
                    "name it like its item, or _private",
                )
    cells: list[Cell] = []
    for column in columns:
        if unknown := set(column.failures) - FAILURES.keys():
            raise BadInput(f"{column.framework}: failures {sorted(unknown)}", f"some of {', '.join(FAILURES)}", "correct harness/pins.toml")
        for spec in specs:
            fits = not column.failures or spec.case.failure in column.failures
            if fits and (not spec.case.only or column.framework in spec.case.only):
                cells += _cells(spec, column, files_for(per_case[spec.id], column))
    return cells


def _swept_modes(column: Column, code: str) -> list[str]:
    """The modes that an operation of a sweep is asked in, whose function in the run file is ``code``."""
    if not column.swept:
        return []
    return ["eager", *(["compiled"] if column.compiles and not any(text in code for text in column.eager) else [])]


def _cells(spec: Spec, column: Column, files: dict[str, RunFile]) -> list[Cell]:
    function = "step" if spec.case.timing else (spec.item or "run")
    written = {variant: f for variant, f in files.items() if function in f.functions()}
    if spec.op:
        return [
            Cell(spec=spec, variant=v, dtype=SWEPT, mode=m, column=column, file=f)
            for v, f in sorted(written.items())
            for m in _swept_modes(column, f.functions()[function])
        ]
    able: dict[str, RunFile | None] = {**written}
    if not able:
        if column.source and column.framework not in spec.absent:
            return []  # a framework of ours is asked what it is for; nobody is to write the rest
        able[""] = None  # nobody wrote one: a cell that says so
    cells = []
    for variant, file in sorted(able.items()):
        modes = [(dtype, "eager") for dtype in spec.tol if dtype not in column.unasked]
        if column.compiles and file:
            modes += [(dtype, "compiled") for dtype in spec.case.compiled]
        cells += [Cell(spec=spec, variant=variant, dtype=dtype, mode=mode, column=column, file=file) for dtype, mode in modes]
    return cells
