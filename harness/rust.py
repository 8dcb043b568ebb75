"""Builds a Rust column: one crate, one binary of all its cells; careful that a run file which does not compile costs only its own cells."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import cargo, cell, rustc
from harness.errors import CannotBuild
from harness.pins import Column
from harness.project import ROOT, Project, replace
from harness.source import digest

OWN_CRATES = 'libc = "0.2"\nsafetensors = "0.8"\nserde_json = "1"\n'  # of protocol.rs and the glue; the lock says which exactly
EVIDENCE = 4_000  # characters


@dataclass(frozen=True, kw_only=True)
class RustFile:
    """A run file and the functions of it that are cells."""

    case: str
    variant: str  # "" for the plain one
    path: Path
    functions: tuple[str, ...]

    def key(self, function: str) -> str:
        return f"{self.case}/{self.variant}/{function}"


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A cell that did not compile: the framework lacks the name (``absent``), or any other error of the build."""

    absent: bool
    code: str
    evidence: str


@dataclass(frozen=True, kw_only=True)
class Built:
    binary: Path
    crates: dict[str, str]  # the framework's crates and their versions
    dropped: dict[str, Dropped]  # by key
    seconds: float
    cargo: str
    rustc: str


@dataclass(kw_only=True)
class _Crate:
    """The generated crate of a column, and what of it had to be left out so far."""

    column: Column
    project: Project
    folder: Path
    binary: str
    versions: dict[str, str]
    lines: dict[int, tuple[RustFile, str]] = field(default_factory=dict)  # line of main.rs -> its file and function; "" for the whole file
    paths: dict[str, RustFile] = field(default_factory=dict)  # what rustc reads -> the run file it is, or was copied from
    dropped: dict[str, Dropped] = field(default_factory=dict)
    cut: dict[str, list[str]] = field(default_factory=dict)  # run file -> the items blanked in its copy


def build(project: Project, column: Column, files: Sequence[RustFile], *, local: Path | None = None, sweep: bool = False) -> Built:
    """Build the column's binary from its pins, or from a maintainer's checkout; what does not compile is in ``dropped``. With ``sweep``, that of the
    operations of sweeps: many small functions, so it is compiled without optimization beside optimized dependencies.

    Raises:
        CannotBuild: a tool, the registry, a dependency or the glue; never a run file.
        BadInput: the checkout does not hold the framework's crates.
    """
    start = time.monotonic()
    column = dataclasses.replace(column, local=str(local.resolve())) if local else column
    env = cargo.environment(project.environments.resolve() / "target")
    tools = {tool: cargo.version(tool, env) for tool in ("cargo", "rustc")}
    crate = _make(project, column, env, sweep=sweep)
    files = [dataclasses.replace(file, path=file.path.resolve()) for file in files]
    shared = [path.resolve() for path in cell.glue_files(project.frameworks, column)]
    if sweep:
        shared = [shared[0], shared[0].with_name("swept.rs"), *shared[1:-1], cell.ways(project.frameworks, column).resolve()]
    # Told by content: cargo goes by dates, and a file put back with its old date would leave a stale binary.
    texts = [
        path.read_text() for path in (crate.folder / "Cargo.toml", crate.folder / "pinned.lock", *shared, *(file.path for file in files))
    ]
    sources = digest(tools, files, *texts)
    memory = crate.folder / "left_out.json"
    if memory.exists() and not column.local and (last := json.loads(memory.read_text()))["sources"] == sources:
        # The same texts, the same compiler: it would refuse the same again.
        crate.cut, crate.dropped = last["cut"], {key: Dropped(**dropped) for key, dropped in last["dropped"].items()}
    argv = ["cargo", "build", "--release", *([] if column.local else ["--locked"]), "--message-format=json"]
    while True:
        _write(crate.folder / "src" / "main.rs", _main_rs(crate, shared, files, sources))
        done = cargo.run(argv, crate.folder, env)
        if done.returncode == 0:
            break
        if not _leave_out(crate, done.stdout):
            raise cargo.fault(done)
    left_out = {
        "sources": sources,
        "cut": crate.cut,
        "dropped": {key: dataclasses.asdict(dropped) for key, dropped in crate.dropped.items()},
    }
    replace(memory, json.dumps(left_out))
    binary = project.environments.resolve() / "target" / "release" / crate.binary
    _verify(binary, crate, files, sources)
    return Built(binary=binary, crates=crate.versions, dropped=crate.dropped, seconds=time.monotonic() - start, **tools)


def lock(project: Project, column: Column) -> Path:
    """Resolve the column's dependencies anew and keep the result as its lock.

    Raises:
        CannotBuild: cargo or the registry.
    """
    with tempfile.TemporaryDirectory() as folder:
        env = cargo.environment(Path(folder) / "target")
        cargo.version("cargo", env)
        _write(Path(folder) / "Cargo.toml", _manifest(column, _name(column), {}))
        _write(Path(folder) / "src" / "main.rs", "fn main() {}\n")
        done = cargo.run(["cargo", "generate-lockfile"], Path(folder), env)
        if done.returncode:
            raise cargo.fault(done)
        _write(project.locks / column.lock, (Path(folder) / "Cargo.lock").read_text())
    return project.locks / column.lock


# ---------------------------------------------------------------------------------------------------------------- the crate


def _name(column: Column) -> str:
    return "probe-" + re.sub(r"[^a-z0-9]+", "-", column.id)


def _make(project: Project, column: Column, env: dict[str, str], *, sweep: bool) -> _Crate:
    folder = project.environments.resolve() / "rust" / (column.id + ("-sweep" if sweep else ""))
    # Columns share a target folder, where cargo leaves another crate's binary of the same name in place without a word.
    binary = (
        _name(column) + ("-sweep" if sweep else "") + ("" if project.root.resolve() == ROOT else f"-{digest(project.root.resolve())[:6]}")
    )
    found = cargo.checkout(Path(column.local), column.crates, env) if column.local else {}
    try:
        pinned = (project.locks / column.lock).read_text()
    except FileNotFoundError:
        raise CannotBuild("install", f"no {column.lock} in {project.locks}", "the column's lock", "python3 noxfile.py -s lock") from None
    _write(folder / "Cargo.toml", _manifest(column, binary, {crate: path for crate, (path, _) in found.items()}, sweep=sweep))
    # A checkout's lock moves on from the pinned one: it is laid down again only when that one changes.
    if _write(folder / "pinned.lock", pinned) or not column.local:
        _write(folder / "Cargo.lock", pinned)
    versions = {crate: found[crate][1] if found else column.version for crate in column.crates}
    return _Crate(column=column, project=project, folder=folder, binary=binary, versions=versions)


def _manifest(column: Column, binary: str, paths: dict[str, Path], *, sweep: bool = False) -> str:
    own = "".join(f"{json.dumps(feature)} = []\n" for feature in column.features)  # what the glue tells the backends apart by
    features = f", default-features = false, features = {json.dumps(list(column.features))}" if column.features else ""
    sources = {crate: f"path = {_quoted(paths[crate])}" if crate in paths else f'version = "={column.version}"' for crate in column.crates}
    # On wgpu the time is the driver's; optimizing each cell's instances of the backend took rustc ten minutes.
    level = 0 if sweep else 1 if "wgpu" in column.features else None
    quick = f'[profile.release.package."{_name(column)}"]\nopt-level = {level}\n\n' if level is not None else ""
    dependencies = "".join(f"{crate} = {{ {source}{features} }}\n" for crate, source in sources.items())
    return (
        f'[package]\nname = "{_name(column)}"\nversion = "0.0.0"\nedition = "2021"\npublish = false\n\n'
        f'[[bin]]\nname = "{binary}"\npath = "src/main.rs"\n\n[dependencies]\n{dependencies}{OWN_CRATES}\n'
        f"[features]\ndefault = {json.dumps(list(column.features))}\n{own}\n"
        f"[profile.release]\nopt-level = 3\ndebug = false\nincremental = false\n\n{quick}[workspace]\n"
    )


def _main_rs(crate: _Crate, shared: list[Path], files: list[RustFile], sources: str) -> str:
    """The generated root: one line a file and one line a function, so that an error there names its cell; raw, since an item may be named `where`."""
    text = ["// Generated by harness/rust.py.", "#![allow(warnings)]", '#![recursion_limit = "256"]']
    text += [f"#[path = {_quoted(path)}] #[macro_use] mod {_module(path)};" for path in shared]
    table: list[tuple[RustFile, str, str]] = []
    crate.lines, crate.paths = {}, {}
    for number, file in enumerate(files):
        kept = [function for function in file.functions if file.key(function) not in crate.dropped]
        if not kept:
            continue
        module, path = f"case{number}_{re.sub(r'[^a-z0-9]', '_', file.variant)}".rstrip("_"), file.path
        if cut := crate.cut.get(str(file.path)):
            path, original = crate.folder / "src" / "cut" / f"{module}.rs", file.path.read_bytes()
            _write(path, rustc.without(original, cut, rustc.parts(original)).decode())
        text.append(f"#[path = {_quoted(path)}] mod {module};")
        crate.lines[len(text)], crate.paths[str(path)] = (file, ""), file
        table += [(file, function, f'    ("{file.key(function)}", run!({module}::r#{function})),') for function in kept]
    versions = ", ".join(f'("{name}", "{version}")' for name, version in crate.versions.items())
    text += ["", "const PROBE: protocol::Probe = protocol::Probe {", f'    column: "{crate.column.id}",', f"    crates: &[{versions}],"]
    text += [f'    sources: "{sources}",', f"    root: {_quoted(crate.project.root.resolve())},", "    table: TABLE,", "};"]
    text += ["const TABLE: &[(&str, glue::Run)] = &["]
    for file, function, line in table:
        text.append(line)
        crate.lines[len(text)] = (file, function)
    return "\n".join([*text, "];", "", "fn main() {", "    protocol::main(&PROBE)", "}", ""])


def _module(path: Path) -> str:
    """A shared file's module; a sweep's stands in the place of the glue."""
    name = path.stem.partition("@")[0]
    return "glue" if name == "sweep" else name


def _quoted(path: Path) -> str:
    return json.dumps(str(path), ensure_ascii=False)


def _write(path: Path, text: str) -> bool:
    """Write what changed, and only that: cargo rebuilds by date."""
    if path.exists() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return True


def _verify(binary: Path, crate: _Crate, files: list[RustFile], sources: str) -> None:
    """The binary itself says what it holds."""
    said = json.loads(subprocess.run([binary, "list"], capture_output=True, text=True, check=True, timeout=60).stdout)
    want = [file.key(name) for file in files for name in file.functions if file.key(name) not in crate.dropped]
    if (said["cells"], said["crates"], said["sources"]) != (want, crate.versions, sources):
        raise CannotBuild(
            "harness", f"{binary.name} holds other cells, versions or texts than were built", "its own", f"delete {binary} and build again"
        )


# ------------------------------------------------------------------------------------------------------- what does not compile


def _leave_out(crate: _Crate, stdout: str) -> bool:
    """Leave out the cells that the errors of a failed build are in; false where they are in none."""
    before = len(crate.dropped), json.dumps(crate.cut)
    for error in rustc.errors(stdout, crate.binary):
        if (place := _place(crate, error)) is None:
            continue
        file, functions, items = place
        if items:
            crate.cut[str(file.path)] = sorted({*crate.cut.get(str(file.path), []), *items})
        crates = [name.replace("-", "_") for name in crate.column.crates]
        absent = rustc.is_absent(error, file.path.read_text(), crates, lambda name: rustc.declares(name, stdout, crate.column.framework))
        for function in functions:
            crate.dropped.setdefault(file.key(function), Dropped(absent=absent, code=error.code, evidence=_evidence(crate, error)))
    return (len(crate.dropped), json.dumps(crate.cut)) != before


def _place(crate: _Crate, error: rustc.Error) -> tuple[RustFile, list[str], set[str]] | None:
    """The run file an error is in, the functions that fall with it, and the items to cut out for the others' sake."""
    for span in error.spans:
        if span.file == "src/main.rs" and span.line in crate.lines:
            file, function = crate.lines[span.line]
            return file, [function] if function else list(file.functions), set()
        if (found := crate.paths.get(span.file)) is not None:
            parts = rustc.parts(found.path.read_bytes())
            broken = next((part.name for part in parts if part.start <= span.byte < part.end), "")
            items = rustc.standing_on(broken, parts) if broken else set()
            return found, [f for f in found.functions if not items or f in items], items
    return None


def _evidence(crate: _Crate, error: rustc.Error) -> str:
    """The compiler's words, without this machine's folders."""
    text = error.rendered
    for path, file in crate.paths.items():
        text = text.replace(path, str(file.path))
    for root in (crate.project.root.resolve(), ROOT):
        text = text.replace(f"{root}/", "")
    return re.sub(r"[^\s`]*/registry/src/[^/]+/", "", text)[:EVIDENCE]
