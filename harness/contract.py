"""Loads case folders and refuses those that break the contract; careful that a case whose checks cannot fail never reaches a column."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import tomllib
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import ml_dtypes
import numpy as np

from gradarbiter.core import Array
from harness.case import DTYPES, FAILURES, SWEPT, Case, Item, Spec, Tol
from harness.errors import BadInput
from harness.sweep.op import Op, Sweep

TRACKERS = "trackers.toml"


def load(folder: Path) -> list[Spec]:
    """The rows of one case folder, validated.

    Raises:
        BadInput: case.py does not load, breaks the contract, or is vacuous.
    """
    module = _module(folder)
    case = getattr(module, "CASE", None)
    if not isinstance(case, Case | Sweep):
        raise BadInput(f"{folder.name}/case.py has no CASE", "CASE = Case(...)", "see CONTRIBUTING.md, 'A new case'")
    if case.failure not in FAILURES:
        raise BadInput(f"{folder.name}: failure={case.failure!r}", f"one of {', '.join(FAILURES)}", "choose the class it belongs to")
    if isinstance(case, Sweep):
        return _swept(case, folder)
    unknown = [d for d in [*case.tol, *case.compiled] if d not in DTYPES]
    if unknown or not case.tol:
        raise BadInput(
            f"{folder.name}: dtypes {unknown or 'none'}", f"tolerances for some of {', '.join(DTYPES)}", "correct tol or compiled"
        )
    inherited = {f.name for f in dataclasses.fields(Item)} - {"claim"}
    specs = []
    for name, item in (case.items or {"": Item()}).items():
        own = {k: getattr(item, k) for k in inherited if getattr(item, k) is not None}
        merged = {**{k: getattr(case, k) for k in inherited}, **own}
        if merged["inputs"] is None or merged["reference"] is None:
            raise BadInput(f"{folder.name}:{name} has no inputs or no reference", "both, in the case or in the item", "add them")
        spec = Spec(case=case, id=folder.name, item=name, claim=item.claim or case.claim, folder=folder, **merged)
        specs.append(spec)
    return specs


def _swept(sweep: Sweep, folder: Path) -> list[Spec]:
    """The rows of a sweep: what they are asked and how they are judged is in their `Op`."""
    tol = {SWEPT: Tol(rtol=0.0, atol=0.0, why="each example's own bound: harness/sweep/reference.py")}
    case = Case(
        claim=sweep.claim,
        failure=sweep.failure,
        tol=tol,
        tracker=_trackers(folder),
        limit_s=sweep.limit_s,
        limit_gb=sweep.limit_gb,
    )
    unset = {k: getattr(case, k) for k in ("checks", "batch", "explained", "absent", "documented", "device")}

    def spec(name: str, op: Op) -> Spec:
        claim = op.claim or f"{name}: its value and the gradient of each input, in every type and layout"
        return Spec(
            case=case, id=folder.name, item=name, claim=claim, folder=folder, op=op, tol=tol, inputs=_none, reference=_none, **unset
        )

    return [spec(name, op) for name, op in sweep.items.items()]


def _trackers(folder: Path) -> dict[str, str]:
    """What was found in the trackers for the operations of one family, by "FRAMEWORK OPERATION": one file has all, framework by framework."""
    return _listed(folder.parent / TRACKERS).get(folder.name, {})


@lru_cache
def _listed(path: Path) -> dict[str, dict[str, str]]:
    """The notes by case: every family of operations asks for its own."""
    by_case: dict[str, dict[str, str]] = {}
    try:
        for framework, rows in (tomllib.loads(path.read_text()) if path.exists() else {}).items():
            for name, text in rows.items():
                case, _, operation = name.partition(":")
                by_case.setdefault(case, {})[f"{framework} {operation}"] = text
    except (tomllib.TOMLDecodeError, AttributeError) as bad:
        raise BadInput(f"{TRACKERS}: {bad}", '[FRAMEWORK] and lines of "CASE:OPERATION" = "link and note"', "correct it") from bad
    return by_case


def _none(*_: object, **__: object) -> dict[str, Array]:
    return {}


def _module(folder: Path) -> ModuleType:
    path = folder / "case.py"
    name = f"silentbench_case_{folder.name}"
    source = importlib.util.spec_from_file_location(name, path)
    assert source
    assert source.loader
    module = importlib.util.module_from_spec(source)
    sys.modules[name] = module  # dataclasses and inspect look it up
    try:
        source.loader.exec_module(module)
    except Exception as broken:
        raise BadInput(
            f"{path}: {type(broken).__name__}: {broken}", "a case that loads", "correct it; the other cases are not affected"
        ) from broken
    return module


def validate(spec: Spec) -> None:
    """Refuse a row whose checks could not notice a defect.

    Raises:
        BadInput: an input that bfloat16 does not hold exactly, a zero or non-finite true gradient, an input that moves no output, a check of nothing.
    """
    if spec.op:
        return  # its examples are held to their own rules, when they are drawn
    try:
        made = spec.tensors, spec.want
    except Exception as broken:
        raise BadInput(
            f"{spec.row}: its {'reference' if 'tensors' in spec.__dict__ else 'inputs'} failed: {type(broken).__name__}: {broken}",
            "float64 arrays",
            "correct case.py",
        ) from broken
    tensors, want = made
    for name, value in tensors.items():
        if np.issubdtype(value.dtype, np.floating) and not np.array_equal(
            value, value.astype(ml_dtypes.bfloat16).astype(np.float64), equal_nan=True
        ):
            raise BadInput(
                f"{spec.row}: input {name} has values bfloat16 cannot hold",
                "inputs that every dtype holds exactly",
                "use harness.inputs.grid",
            )
    if not want:
        raise BadInput(f"{spec.row}: the reference gives nothing", "at least one output", "return the outputs by name")
    for check in spec.check_list():
        if check.output not in want:
            raise BadInput(f"{spec.row}: a check of {check.output!r}", f"one of {', '.join(want)}", "name an output of the reference")
    for name, value in want.items():
        if not np.all(np.isfinite(value)):
            raise BadInput(f"{spec.row}: the reference's {name} is not finite", "finite numbers", "choose other inputs")
        if not np.any(value):
            what = f"the true {name} is zero everywhere" + (": a lost gradient would pass" if name.startswith("d") else "")
            raise BadInput(
                f"{spec.row}: {what}", "a reference that a wrong answer cannot equal by being empty", "use a random upstream gradient dy"
            )
    for framework, documented in spec.documented.items():
        if set(documented.reference(**tensors)) != set(want):
            raise BadInput(
                f"{spec.row}: {framework}'s documented reference gives other outputs", f"all of {', '.join(want)}", "return each of them"
            )
    for name, value in tensors.items():
        if np.issubdtype(value.dtype, np.floating) and not _matters(spec, name, value):
            raise BadInput(
                f"{spec.row}: input {name} changes no output", "inputs that matter", "remove it, or check an output that depends on it"
            )


def _matters(spec: Spec, name: str, value: Array) -> bool:
    moved = spec.reference(**{**spec.tensors, name: np.roll(value, 1) * 1.5 + 0.25})
    return any(not np.array_equal(np.asarray(moved[k]), spec.want[k]) for k in spec.want)


def problem(spec: Spec) -> str:
    """Why this row cannot be asked, or nothing: what `validate` raises, found once per row."""
    if "problem" not in spec.__dict__:
        try:
            validate(spec)
            spec.__dict__["problem"] = ""
        except BadInput as bad:
            spec.__dict__["problem"] = f"{bad.found}; wanted: {bad.wanted}; do: {bad.do}"
    return str(spec.__dict__["problem"])
