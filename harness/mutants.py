"""Proves the oracles: machine-made wrong answers that every row's checks must object to, and healthy twins that they must not accuse."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from gradarbiter.core import Array
from harness import verdict
from harness.case import DTYPES, SWEPT, Arrays, Spec, as_dtype
from harness.sweep import kept


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One mutant of one row and dtype. ``explained`` is the case's reason why it may survive; a survivor without one fails the build."""

    row: str
    dtype: str
    mutant: str
    killed: bool
    explained: str = ""


def healthy(spec: Spec, dtype: str) -> dict[str, Array]:
    """The answer of a perfect framework: the reference, rounded once to the asked type."""
    return {k: v.astype(DTYPES[dtype]).astype(np.float64) for k, v in spec.want.items()}


def kill_all(spec: Spec) -> Iterator[Outcome]:
    """Judge every mutant of a row, in every dtype. A mutant equal to the healthy answer (a transposed scalar) is none and is not made."""
    if spec.op:
        for name, survives in kept.proof(spec)[0].items():
            why = _explained(spec.op.explained, name)
            yield Outcome(row=spec.row, dtype=SWEPT, mutant=name, killed=not survives, explained=why if survives else "")
        return
    for dtype in spec.tol:
        right = healthy(spec, dtype)
        for name, wrong in mutants(spec, dtype, right):
            if _same(wrong, right):
                continue
            survives = verdict.judge(spec, dtype, wrong, framework="").status == "ok"
            why = _explained(spec.explained, f"{name}@{dtype}")
            yield Outcome(row=spec.row, dtype=dtype, mutant=name, killed=not survives, explained=why if survives else "")


def _explained(reasons: Mapping[str, str], mutant: str) -> str:
    return next((reason for pattern, reason in reasons.items() if fnmatch.fnmatchcase(mutant, pattern)), "")


def accused(spec: Spec) -> list[str]:
    """Healthy twins that the checks accuse: the rounded reference itself, and the reference computed in the asked type where that is float32 or float64."""
    if spec.op:
        return [f"{spec.row}: {what}" for what in kept.proof(spec)[1]]
    wrongly = []
    for dtype in spec.tol:
        twins = {"rounded reference": healthy(spec, dtype)}
        if dtype in ("float32", "float64"):
            twins["reference in the asked type"] = _run(spec, as_dtype(spec.tensors, dtype))
        for name, answer in twins.items():
            decided = verdict.judge(spec, dtype, answer, framework="")
            if decided.status != "ok":
                wrongly.append(f"{spec.row}@{dtype}: {name}: {decided.message}")
    return wrongly


def mutants(spec: Spec, dtype: str, right: dict[str, Array]) -> Iterator[tuple[str, dict[str, Array]]]:
    """Wrong answers by name: of each output alone, then of the whole computation."""
    for output, value in right.items():
        yield f"{output} dropped", {k: v for k, v in right.items() if k != output}
        for name, wrong in _of_array(spec, dtype, output, value):
            yield f"{output} {name}", {**right, output: wrong}
    yield from _of_computation(spec, dtype)


def _of_array(spec: Spec, dtype: str, output: str, value: Array) -> Iterator[tuple[str, Array]]:
    for check in [c for c in spec.check_list() if c.output == output]:
        tol = spec.tolerance(check, dtype)
        # 3x what the check allows, on one element in the middle: elementwise its own limit, normwise the whole array's.
        place = np.unravel_index(value.size // 2, value.shape)
        if check.norm == "elementwise":
            step = 3 * (tol.atol + tol.rtol * abs(float(spec.want[output][place])))
        else:
            step = 3 * (tol.atol * np.sqrt(value.size) + tol.rtol * float(np.linalg.norm(spec.want[output])))
        off = value.copy()
        off[place] += step
        yield "one element off by 3x its tolerance", off
    yield "sign", -value
    yield "factor 2", value * 2
    yield "accumulated once instead of twice", value / 2
    if value.ndim >= 2:
        yield "transposed buffer read as contiguous", np.ascontiguousarray(value.swapaxes(-1, -2)).reshape(value.shape)
        yield "first row reused", np.broadcast_to(value[:1], value.shape).copy()


def _of_computation(spec: Spec, dtype: str) -> Iterator[tuple[str, dict[str, Array]]]:
    """Wrong answers that need the reference run again: on one batch row, on a misread input, in a narrow accumulator."""
    tensors = spec.tensors
    for name, value in tensors.items():
        if value.ndim >= 2 and np.issubdtype(value.dtype, np.floating):
            misread = np.ascontiguousarray(value.swapaxes(-1, -2)).reshape(value.shape)
            yield f"input {name} transposed, read as contiguous", _rounded(_run(spec, {**tensors, name: misread}), dtype)
    if spec.batch:
        one_row = {**tensors, **{name: tensors[name][:1] for name in spec.batch}}
        answer = _run(spec, one_row)
        # A sum over the batch that was left out: outputs without a batch axis keep one row's share.
        short = {k: np.broadcast_to(v, spec.want[k].shape).copy() if v.ndim == spec.want[k].ndim else v for k, v in answer.items()}
        if any(v.shape == spec.want[k].shape and k.startswith("d") for k, v in answer.items()):
            yield (
                "broadcast sum missing",
                _rounded({k: answer[k] if answer[k].shape == spec.want[k].shape else spec.want[k] for k in answer}, dtype),
            )
        yield "first batch row reused", _rounded(short, dtype)
    narrow = _narrow(spec)
    if narrow:
        yield "bfloat16 accumulator", narrow


def _narrow(spec: Spec) -> dict[str, Array] | None:
    """The reference with every intermediate and every sum in bfloat16; None where numpy has no such operation for it."""
    try:
        answer = _run(spec, as_dtype(spec.tensors, "bfloat16"))
    except (TypeError, ValueError, np.linalg.LinAlgError):
        return None
    return answer


def _run(spec: Spec, tensors: Arrays) -> dict[str, Array]:
    with np.errstate(all="ignore"):
        return {k: np.asarray(v).astype(np.float64) for k, v in spec.reference(**tensors).items()}


def _rounded(answer: Arrays, dtype: str) -> dict[str, Array]:
    kind: Any = DTYPES[dtype] if dtype != "bfloat16" else ml_dtypes.bfloat16
    return {k: v.astype(kind).astype(np.float64) for k, v in answer.items()}


def _same(wrong: Arrays, right: Arrays) -> bool:
    return set(wrong) == set(right) and all(
        wrong[k].shape == right[k].shape and np.array_equal(wrong[k], right[k], equal_nan=True) for k in right
    )
