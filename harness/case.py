"""What a case is: a claim, inputs, a float64 reference, checks and tolerances; careful that a case which cannot fail is refused when it is loaded."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from gradarbiter.core import Array, Norm, deviation

if TYPE_CHECKING:
    from harness.sweep.op import Op

Arrays = Mapping[str, Array]
SWEPT = "all"  # the dtype of a sweep's cell: one process asks them all

FAILURES = {
    "missing-gradient": "an operation has no backward: the forward is right, the gradient does not exist, the weights below stay frozen",
    "wrong-gradient": "a gradient exists and has wrong values",
    "axis": "an operation works over another axis than the one meant",
    "layout": "a view that is not contiguous gives other numbers than its copy",
    "optimizer": "an optimizer treats a tensor it is not defined for, or scales its update wrongly",
    "low-precision": "a sum, an update or a state saturates or stalls in a low-precision type",
    "speed": "right, and far slower or larger than it needs to be",
    "crash": "the process dies",
    "data": "the text, the order or the tokens are not what was meant",
}

DTYPES: Mapping[str, Any] = {"float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@dataclass(frozen=True, kw_only=True)
class Tol:
    """An allowed error and its derivation."""

    rtol: float
    atol: float
    why: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check found; ``ratio`` is found error / allowed error (or found / limit), and the check holds where it is at most 1."""

    check: str
    holds: bool
    ratio: float
    got: float | str
    want: float | str
    note: str = ""
    trigger: str = ""  # of a sweep: the example that shows it


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question to one output of an answer: close to the reference's, elementwise or as a whole."""

    output: str
    norm: Norm = "elementwise"
    tol: Mapping[str, Tol] | None = None  # where it differs from the case's

    def find(self, got: Array, want: Array, tol: Tol) -> Finding:
        d = deviation(got, want, rtol=tol.rtol, atol=tol.atol, norm=self.norm)
        place = f"[{', '.join(map(str, d.where))}]" if d.where else ""
        note = (
            f"worst at {self.output}{place}; {d.wrong} of {d.size} elements over their limit"
            if self.norm == "elementwise"
            else f"worst at {self.output}{place}"
        )
        return Finding(
            check=f"{self.output} close",
            holds=d.holds,
            ratio=d.ratio,
            got=d.got,
            want=d.want,
            note=f"error {d.error:.3g}, allowed {d.limit:.3g}, {note}",
        )


def close(output: str, norm: Norm = "elementwise", tol: Mapping[str, Tol] | None = None) -> Check:
    return Check(output=output, norm=norm, tol=tol)


@dataclass(frozen=True, kw_only=True)
class Absent:
    """A framework offers nothing to ask. ``names`` are dotted names that would exist if it did: one that resolves makes the cell red."""

    names: tuple[str, ...]
    why: str


@dataclass(frozen=True, kw_only=True)
class Documented:
    """A choice a framework documents. Only an answer that equals this second reference is `differs`; any other wrong answer stays `silent`."""

    reference: Callable[..., Arrays]
    link: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A bound on a quantity of the speed lane: a multiple of the reference framework's in the same run; absolute without a factor, or without it."""

    quantity: str
    absolute: float
    factor: float | None = None
    why: str


@dataclass(frozen=True, kw_only=True)
class Timing:
    """What is timed: ``forward``, ``step`` (forward + backward) and ``gemm``, functions of the run file."""

    shape: str
    flops: Mapping[str, float]  # floating-point operations of one call
    extra_inputs: Mapping[str, Callable[[np.random.Generator], Arrays]] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class Item:
    """A row of a case that is a table; what is None comes from the case."""

    claim: str = ""
    inputs: Callable[[np.random.Generator], Arrays] | None = None
    reference: Callable[..., Arrays] | None = None
    tol: Mapping[str, Tol] | None = None
    checks: Sequence[Check] | None = None
    batch: Sequence[str] | None = None
    explained: Mapping[str, str] | None = None
    absent: Mapping[str, Absent] | None = None
    documented: Mapping[str, Documented] | None = None
    device: str | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One silent failure. Field by field in CONTRIBUTING.md; the design's reasons in its section 3."""

    claim: str
    failure: str
    inputs: Callable[[np.random.Generator], Arrays] | None = None
    reference: Callable[..., Arrays] | None = None
    tol: Mapping[str, Tol]
    checks: Sequence[Check] = ()  # none: every output of the reference, elementwise
    batch: Sequence[str] = ()  # inputs whose first axis is the batch: the mutants reuse and drop its rows
    items: Mapping[str, Item] = field(default_factory=dict)
    explained: Mapping[str, str] = field(default_factory=dict)  # mutant pattern -> why it may survive
    absent: Mapping[str, Absent] = field(default_factory=dict)
    documented: Mapping[str, Documented] = field(default_factory=dict)  # framework -> second reference
    tracker: Mapping[str, str] = field(default_factory=dict)  # framework -> upstream link and note; decides nothing
    compiled: Sequence[str] = ()  # dtypes also asked in compiled mode
    repeat: int = 1
    timing: Timing | None = None
    limit_s: float = 60.0
    limit_gb: float = 4.0
    guards: str = ""
    device: str = ""  # that it is about: asked in a process of its own, since a forked one cannot begin with CUDA
    only: Sequence[str] = ()  # the frameworks that can have it at all; none: every one


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One row of the matrix: a case, or one item of it, with everything decided."""

    case: Case
    id: str
    item: str
    claim: str
    inputs: Callable[[np.random.Generator], Arrays]
    reference: Callable[..., Arrays]
    tol: Mapping[str, Tol]
    checks: Sequence[Check]
    batch: Sequence[str]
    explained: Mapping[str, str]
    absent: Mapping[str, Absent]
    documented: Mapping[str, Documented]
    device: str
    folder: Path
    op: Op | None = None  # of a sweep: what is asked and judged by harness/sweep, in place of all the above

    @property
    def row(self) -> str:
        return f"{self.id}:{self.item}" if self.item else self.id

    def tracker(self, framework: str) -> str:
        """What was found in a framework's tracker, for this very operation where it is one of a sweep; nothing where nobody looked."""
        return self.case.tracker.get(f"{framework} {self.item}" if self.op else framework, "")

    @cached_property
    def tensors(self) -> dict[str, Array]:
        """The inputs in float64 (whole numbers stay int64); the same on every machine and in every run."""
        rng = np.random.default_rng(zlib.crc32(self.row.encode()))
        return {name: np.asarray(value) for name, value in self.inputs(rng).items()}

    @cached_property
    def want(self) -> dict[str, Array]:
        return {name: np.asarray(value) for name, value in self.reference(**self.tensors).items()}

    @cached_property
    def inputs_digest(self) -> str:
        """The inputs' bytes, in sixteen hex digits; a broken case has its own."""
        try:
            parts = [f"{k} {v.dtype.str} {v.shape} {hashlib.sha256(v.tobytes()).hexdigest()}" for k, v in sorted(self.tensors.items())]
        except Exception as broken:  # noqa: BLE001  a case may raise anything; `problem` says it
            parts = [f"broken {broken}"]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]

    @cached_property
    def timing_digest(self) -> str:
        """What is counted and what is made for the timed functions: both end in a number."""
        if self.case.timing is None:
            return ""
        made = {name: make(np.random.default_rng(0)) for name, make in self.case.timing.extra_inputs.items()}
        parts = [
            f"{n} {k} {v.shape} {hashlib.sha256(np.ascontiguousarray(v).tobytes()).hexdigest()}"
            for n, a in made.items()
            for k, v in a.items()
        ]
        return hashlib.sha256(f"{sorted(self.case.timing.flops.items())} {parts}".encode()).hexdigest()[:16]

    def check_list(self) -> Sequence[Check]:
        return self.checks or [close(name) for name in self.want]

    def tolerance(self, check: Check, dtype: str) -> Tol:
        return (check.tol or self.tol).get(dtype) or self.tol[dtype]


def as_dtype(arrays: Arrays, dtype: str) -> dict[str, Array]:
    """The arrays as a cell gets them: floating ones in the asked type, whole numbers as they are, all contiguous (safetensors ignores strides)."""
    return {
        k: np.array(v, dtype=DTYPES.get(dtype, v.dtype) if np.issubdtype(v.dtype, np.floating) else v.dtype, order="C")
        for k, v in arrays.items()
    }
