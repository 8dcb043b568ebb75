"""Numbers as source text, in Python and in Rust; careful that what is read back is the same number, and that a constant tensor stays one number."""

from __future__ import annotations

import math
import re

import numpy as np

from gradarbiter.core import Array

MOST_LINES = 60  # that a maintainer reads
BLANK = ("", "//!")  # between two paragraphs
RUST_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}  # as candle and Burn name them
NUMBER = r"-?(?:[\d.]+(?:e-?\d+)?|nan|inf|None|f64::\w+)"
DATA = re.compile(rf"{NUMBER}(?:[\],\[ ]+{NUMBER}){{3,}}")  # a line that carries a tensor's numbers


def lines(text: str) -> int:
    """Lines of a file that a person reads: neither blank ones nor those that carry data."""
    return sum(line.strip() not in BLANK and not DATA.search(line) for line in text.splitlines())


def constant(values: Array) -> bool:
    """Whether a tensor of several numbers holds one number only."""
    flat = values.ravel()
    return flat.size > 1 and bool(np.array_equal(flat, np.full_like(flat, flat[0]), equal_nan=values.dtype.kind == "f"))


def python(value: object) -> str:
    """Nested lists of numbers as Python; NaN and infinity by the names that `math` has for them."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(python(v) for v in value) + "]"
    if isinstance(value, float):
        return _special(value, "nan", "inf") or repr(value)
    return repr(value)


def rust(value: float) -> str:
    """One number as Rust."""
    if isinstance(value, float):
        return _special(value, "f64::NAN", "f64::INFINITY") or repr(value)
    return str(int(value))


def rust_list(values: Array) -> str:
    """All numbers of a tensor as the elements of a `vec!`."""
    flat = values.ravel().tolist()
    if constant(values):
        return f"{rust(flat[0])}{'' if values.dtype.kind == 'f' else '_i64'}; {len(flat)}"
    return ", ".join(rust(v) for v in flat)


def _special(value: float, nan: str, infinity: str) -> str:
    if math.isnan(value):
        return nan
    return "" if math.isfinite(value) else infinity if value > 0 else f"-{infinity}"


def rounded_up(value: float) -> float:
    """Two digits, never less than ``value``: an allowed error that can be read."""
    if not math.isfinite(value) or value <= 0:
        return max(value, 0.0)
    short = float(f"{value:.1e}")
    return short if short >= value else float(f"{value * 1.05:.1e}")
