"""What candle's templates are told of a question: its literals, how the operation sees each tensor, and where its outputs are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradarbiter.core import Array
from harness.repro import literals
from harness.repro.question import TOTAL, Output, Question


def told(question: Question, _text: str) -> dict[str, Any]:
    """What no other framework is told so."""
    example = question.example
    floats = {name for name, value in question.tensors.items() if value.dtype.kind == "f"}
    leaves = floats if question.gradient or question.watched else set()
    tensors = [_tensor(name, value, question.dtype, leaf=name in leaves) for name, value in question.tensors.items()]
    return {
        "tensors": tensors,
        "seen": {t["name"]: _seen(question, t) for t in tensors} if example else {},
        "upstream": _tensor("upstream", example.upstream, question.dtype, leaf=False) if example else None,
        "reads": "",
        "expressions": {o.name: _expression(o, swept=example is not None) for o in question.outputs},
    }


def _tensor(name: str, value: Array, dtype: str, *, leaf: bool) -> dict[str, Any]:
    floating = value.dtype.kind == "f"
    return {
        "name": name,
        "leaf": leaf,
        "floats": floating,
        "rust": literals.RUST_DTYPES.get(dtype, "F64") if floating else "I64",
        "shape_list": list(value.shape),
        "literal": literals.rust_list(value.astype(np.float64)),
    }


def _seen(question: Question, t: Mapping[str, Any]) -> str:
    """One tensor as the operation sees it."""
    example, name = question.example, t["name"]
    assert example
    shape = list(example.asked.tensors[name].shape)
    buffer = f"{name}.as_tensor()" if t["leaf"] else name
    seen = {
        "transposed": f"{buffer}.transpose(candle_core::D::Minus2, candle_core::D::Minus1)?",
        "strided": f"{buffer}.reshape(&{[*shape, 2]})?.narrow(candle_core::D::Minus1, 0, 1)?.squeeze(candle_core::D::Minus1)?",
        "offset": f"{buffer}.narrow(0, 1, {shape[0] if shape else 1})?",
        "broadcast": f"{buffer}.broadcast_as(&{shape}[..])?",
    }.get(example.layouts[name], f"{buffer}.clone()")
    if example.use == "chain" and t["floats"]:
        return f"{{ let half = {seen}; (&half + &half)? }}"
    return seen


def _expression(output: Output, *, swept: bool) -> str:
    if not swept:
        return f'out.get("{output.name}")'
    if output.name.endswith(" afterwards"):
        return f"Some(&{output.name.partition(' ')[0]})"
    of = output.name.removeprefix(TOTAL)
    return "Some(&y)" if of == "y" else f"grads.get(&{of[1:]})"
