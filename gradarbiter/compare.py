"""Gradients in one safetensors file against those in another, for code in any language; careful that a gradient which is not there is a finding.

Tolerances are normwise, for each tensor. A sum of n terms, each product and sum rounded with unit u, is off by no more than about 4 sqrt(n) u of their size
(Higham and Mary 2019: with a probability of 0.999); between the loss and a gradient `depth` such sums stand in series, forward and backward, and their errors
add up, with one rounding of each result: rtol = depth (4 sqrt(terms) a + u) + v. Here u is the unit of the gradients' dtype, a that of its sums (float32 for
a narrower type), v the reference's own. A gradient that vanishes is a difference of terms that do not: so beside it u sqrt(terms) times the root mean square of
all gradients, for an element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from safetensors import SafetensorError, deserialize

from gradarbiter.core import Array, Deviation, deviation
from gradarbiter.result import Finding, Report, Result

UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
STORED = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
Dtype = Literal["float64", "float32", "float16", "bfloat16"]
TERMS, DEPTH = 4096, 16  # of a model with rows of some thousand tokens, and two blocks of four products each way


@dataclass(frozen=True, kw_only=True)
class Tensor:
    values: Array  # float32 or wider
    dtype: str  # as stored


def read(path: Path) -> dict[str, Tensor]:
    """Every tensor of a safetensors file.

    Raises:
        ValueError: it is none, or holds other than floating-point numbers of 16 to 64 bits.
    """
    try:
        stored = deserialize(path.read_bytes())  # type: ignore[no-untyped-call]
    except (SafetensorError, OSError) as failed:
        raise ValueError(f"found:   {path}: {failed}\nwanted:  a safetensors file\ndo this: write one (docs/gradarbiter_rust.md)") from None
    named = sorted(stored, key=lambda pair: str(pair[0]))  # the file's own order is lost
    return {name: _tensor(f"{path}: {name}", facts["dtype"], facts["shape"], bytes(facts["data"])) for name, facts in named}


def files(
    got: Path, want: Path, *, rtol: float | None = None, dtype: Dtype | None = None, terms: int = TERMS, depth: int = DEPTH
) -> Report:
    """Compare two files: what the code under examination wrote, and what is right.

    ``dtype``: what the gradients were computed in, if it is narrower than how they are stored.

    Raises:
        ValueError: a file cannot be read, or the reference is no reference.
    """
    findings = tuple(compare(read(got), read(want), rtol=rtol, dtype=dtype, terms=terms, depth=depth))
    return Report(subject=f"{got} against {want}", results=(Result(check="compare", findings=findings),))


def compare(
    got: Mapping[str, Tensor],
    want: Mapping[str, Tensor],
    *,
    rtol: float | None = None,
    dtype: Dtype | None = None,
    terms: int = TERMS,
    depth: int = DEPTH,
) -> Iterator[Finding]:
    for name, tensor in want.items():
        if not np.isfinite(tensor.values).all():
            raise ValueError(f"found:   {name} of the reference is not finite\nwanted:  a reference\ndo this: compute it in float64")
    if not want:
        raise ValueError("found:   no tensor in the reference\nwanted:  one for each parameter\ndo this: write the reference's gradients")
    typical = math.sqrt(
        sum(float(np.sum(np.square(t.values, dtype=np.float64))) for t in want.values()) / sum(t.values.size for t in want.values())
    )
    said = set()
    for name, wanted in want.items():
        found = got.get(name)
        kind = dtype or (found.dtype if found else wanted.dtype)
        allowed = tolerance(kind, wanted.dtype, terms=terms, depth=depth) if rtol is None else rtol
        floor = UNITS[kind] * math.sqrt(terms) * typical
        if found is not None:
            said.add(f"{kind}: {allowed:.2g}" if rtol is None else f"{allowed:.2g}, as given")
        yield from _one(name, found, wanted, allowed, floor)
    for name in sorted(set(got) - set(want)):
        yield Finding(kind="extra", parameter=name, text="the reference has none of this name: not compared", accuses=False)
    text = f"relative to each tensor's norm: {', '.join(sorted(said)) or 'nothing compared'}" + (
        f" (at most {depth} sums of {terms} terms in series)" if rtol is None else ""
    )
    yield Finding(kind="tolerance", parameter="allowed", text=text, accuses=False)


def tolerance(dtype: str, reference: str, *, terms: int, depth: int) -> float:
    """See the module's docstring."""
    unit = UNITS[dtype]
    return depth * (4 * math.sqrt(terms) * min(unit, UNITS["float32"]) + unit) + UNITS[reference]


def _one(name: str, found: Tensor | None, wanted: Tensor, rtol: float, floor: float) -> Iterator[Finding]:
    want, size = wanted.values, float(np.linalg.norm(wanted.values.astype(np.float64)))
    vanishes = size <= floor * math.sqrt(want.size)
    if found is None:
        text = "no gradient" + ("; the reference's is zero, too" if vanishes else f"; the reference has one of norm {size:.3g}")
        yield Finding(kind="missing", parameter=name, text=text, numbers={"norm": size}, accuses=not vanishes)
        return
    got = found.values
    if got.shape != want.shape:
        turned = ", transposed" if got.shape == want.shape[::-1] else ""
        yield Finding(kind="shape", parameter=name, text=f"shape {got.shape}, the reference has {want.shape}{turned}")
        return
    if bad := int(np.count_nonzero(~np.isfinite(got))):
        yield Finding(kind="non-finite", parameter=name, text=f"{bad} of {got.size} elements are not finite", numbers={"elements": bad})
        return
    if not got.any() and not vanishes:
        yield Finding(kind="zero", parameter=name, text=f"all zeros; the reference has a norm of {size:.3g}", numbers={"norm": size})
        return
    at = deviation(got, want, rtol=rtol, atol=floor, norm="normwise")
    if not at.holds:
        yield Finding(kind="deviation", parameter=name, text=_differs(got, want, at, size), numbers={"ratio": at.ratio, "error": at.error})


def _differs(got: Array, want: Array, at: Deviation, size: float) -> str:
    text = f"differs by {at.error / size:.2g} of its norm" if size else f"has a norm of {at.error:.3g} where the reference is zero"
    text += f", {at.ratio:.3g} times what is allowed; most at {at.where}: {at.got:.6g} for {at.want:.6g}"
    g, w = got.astype(np.float64), want.astype(np.float64)
    factor = float(np.vdot(w, g) / np.vdot(w, w)) if size else 0.0
    # A lost or doubled factor leaves a gradient that is the reference's but for it: the rest is a hundredth of the difference at most.
    same = factor and np.linalg.norm(g - factor * w) <= 0.01 * at.error
    return text + (f"; it is {factor:.4g} times the reference" if same else "")


def _tensor(where: str, dtype: str, shape: list[int], data: bytes) -> Tensor:
    if dtype not in STORED:
        raise ValueError(
            f"found:   {where} is {dtype}\nwanted:  one of {', '.join(STORED)}\ndo this: write gradients as floating-point numbers"
        )
    if dtype == "BF16":  # the upper half of a float32
        values = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        values = np.frombuffer(data, {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[dtype])
    return Tensor(values=(values.astype(np.float32) if dtype == "F16" else values).reshape(shape), dtype=STORED[dtype])
