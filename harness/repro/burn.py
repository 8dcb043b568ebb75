"""What Burn's templates are told of a question: its literals, how the operation sees each tensor, and the ranks, which Burn has in its types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from packaging.version import Version

from gradarbiter.core import Array
from harness.repro import literals
from harness.repro.question import TOTAL, Output, Question

ELEMENTS = {"float64": "f64", "float32": "f32", "float16": "burn::tensor::f16", "bfloat16": "burn::tensor::bf16"}
RANKS = (1, 2, 3, 4, 5)  # of the glue's tensors: harness/frameworks/burn/sweep.rs
STAND_ON = {"rank": "dims", "mask": "int", "sizes": "numbers"}  # of the stand-ins one on another
ONE_TYPE = Version("0.23.0.dev0")  # from here on no backend is in a tensor's type


def told(question: Question, text: str) -> dict[str, Any]:
    """``text`` is the function and its imports."""
    example, column = question.example, question.cell.column
    tensors = [_tensor(question, name, value) for name, value in question.tensors.items()]
    one_type = Version(column.version) >= ONE_TYPE
    backend = "Wgpu" if "wgpu" in column.features else "NdArray"
    element = ELEMENTS.get(question.dtype, "f64")
    imported = _with(set(re.findall(r"\w+", " ".join(re.findall(r"^use [^;]*;", text, re.MULTILINE)))))
    return {
        "one_type": one_type,
        "b": "" if one_type else "B, ",  # of a tensor's type
        "of_b": "" if one_type else "<B>",
        "any_b": "" if one_type else "<B: Backend>",
        "backend": f"burn::backend::Autodiff<burn::backend::{backend}<{element}>>",
        "float": literals.RUST_DTYPES.get(question.dtype, "F64"),
        "element": element,
        "fused": "wgpu" in column.features,
        "generic": bool(re.search(rf"fn {question.cell.function}<", text)),
        "tensors": tensors,
        "whole": any(not t["floats"] for t in tensors),
        "upstream": _literal(question, example.upstream) if example else None,
        "expressions": {o.name: _expression(o, swept=example is not None) for o in question.outputs},
        "imported": imported,
        "reads": "as_i64 as_array" if imported & {"axis", "numbers", "sizes"} else "",  # of the stand-ins for probe_rs/swept.rs
        "asked_any": _any_ranks(text, tensors),
        "asked_at": _at_ranks(text, tensors),
        "ranks": sorted({t["rank"] for t in tensors if t["floats"]}),
        "back": ").into()" in text,
        "calls": _with({name for name in ("rank", "has", "dims", "int", "mask") if f".{name}(" in text or f".{name}::<" in text}),
    }


def _with(names: set[str]) -> set[str]:
    return names | {STAND_ON[name] for name in names & STAND_ON.keys()}


def _literal(question: Question, value: Array) -> dict[str, Any]:
    floating = value.dtype.kind == "f"
    return {
        "element": ELEMENTS.get(question.dtype, "f64"),  # of floats
        "shape": list(value.shape) or [1],
        "size": value.size,
        "rank": max(value.ndim, 1),
        "literal": literals.rust_list(value.astype(np.float64 if floating else np.int64)),
    }


def _tensor(question: Question, name: str, value: Array) -> dict[str, Any]:
    floating = value.dtype.kind == "f"
    made = {"name": name, "floats": floating, "leaf": floating and question.gradient, **_literal(question, value)}
    return {**made, "seen": _seen(question, name, made)} if question.example else made


def _seen(question: Question, name: str, t: Mapping[str, Any]) -> str:
    """One tensor as the operation sees it: as harness/frameworks/burn/sweep.rs makes it."""
    example = question.example
    assert example
    if not t["floats"]:
        return name
    shape, last = list(example.asked.tensors[name].shape) or [1], t["rank"] - 1
    every = ", ".join(str(2 * i) for i in range(shape[-1]))
    of = "" if Version(question.cell.column.version) >= ONE_TYPE else "B, "
    seen = {
        "transposed": f"{name}.clone().swap_dims({last - 1}, {last})",
        "strided": f"{name}.clone().select({last}, burn::tensor::Tensor::<{of}1, burn::tensor::Int>::from_ints([{every}], &device))",
        "offset": f"{name}.clone().narrow(0, 1, {shape[0]})",
        "broadcast": f"{name}.clone().expand({shape})",
    }.get(example.layouts[name], f"{name}.clone()")
    return f"{seen} + {seen}" if example.use == "chain" else seen


def _expression(output: Output, *, swept: bool) -> str:
    name = output.name.removeprefix(TOTAL)
    if not swept:
        return f'out.get("{name}").cloned()'
    if name.endswith(" afterwards"):
        return f"Some({name.partition(' ')[0]}.to_data())"
    return "Some(y.data)" if name == "y" else f"{name[1:]}.grad(&grads).map(|g| g.into_data())"


def _any_ranks(text: str, tensors: list[dict[str, Any]]) -> list[int]:
    """The ranks of what the function takes as it comes."""
    ranks = {t["name"]: t["rank"] for t in tensors if t["floats"]}
    return sorted({ranks[name] for name in re.findall(r'\.any\("(\w+)"\)', text) if name in ranks} or set(ranks.values()) or {1})


def _at_ranks(text: str, tensors: list[dict[str, Any]]) -> list[int]:
    """The ranks that the function asks to be told; one that it works out itself may be any."""
    found = set()
    for asked in re.findall(r"at_rank!\((.+?), [A-Z] =>", text):
        named = re.fullmatch(r't\.dims\("(\w+)"\)\.len\(\)', asked)
        if asked == "t.rank()":
            found.add(max(t["rank"] for t in tensors))
        elif named:
            found.add(next(t["rank"] for t in tensors if t["name"] == named[1]))
        else:
            found.update(RANKS)
    return sorted(found) or sorted({t["rank"] for t in tensors})
