"""Numbers, times and links as the page writes them; careful that what was not measured reads as a dash, never as zero."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

NOTHING = "\N{EN DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"
URL = re.compile(r"https?://[^\s<>\"'\])]+[^\s<>\"'\]).,;:!?]")


def value(x: Any) -> str:
    """A got or wanted value: nine digits, so that two values that differ by a tolerance also read differently."""
    if x is None:
        return NOTHING
    return f"{x:.9g}" if isinstance(x, float) else str(x)


def times(x: float) -> str:
    """Error over allowed error; infinite where an output is missing."""
    if math.isnan(x):
        return NOTHING
    return "∞" if math.isinf(x) else (f"{x:,.0f}{TIMES}" if x >= 100 else f"{x:.3g}{TIMES}")


def seconds(x: float | None) -> str:
    if x is None or math.isnan(x):
        return NOTHING
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if x >= scale:
            return f"{x / scale:.3g} {unit}"
    return f"{x / 1e-9:.3g} ns" if x > 0 else "0 s"


def size(x: float | None) -> str:
    if x is None or math.isnan(x):
        return NOTHING
    return f"{x / 2**30:.3g} GiB" if x >= 2**30 else f"{x / 2**20:.3g} MiB"


def rate(x: float | None) -> str:
    """FLOP/s, in units that a CPU reaches."""
    if x is None or math.isnan(x):
        return NOTHING
    return f"{x / 1e12:.3g} T" if x >= 1e12 else f"{x / 1e9:.3g} G"


def ratio(x: float | None) -> str:
    return NOTHING if x is None or math.isnan(x) else f"{x:.2f}"


def share(x: float | None) -> str:
    return NOTHING if x is None or math.isnan(x) else f"{100 * x:.0f} %" if x >= 0.1 else f"{100 * x:.1f} %"


def count(x: float | None) -> str:
    return NOTHING if x is None or math.isnan(x) else f"{x:,.0f}"


def fact(x: Any) -> str:
    """A fact of the run, whatever its type; an absent one was not measured."""
    if x is None or x == "":
        return "not measured"
    return f"{x:.3g}" if isinstance(x, float) else str(x)


def overhead(x: Any) -> str:
    """The harness's own cost, as the run measured it."""
    if isinstance(x, Mapping) and "per_cell_cpu_s" in x:
        return f"{seconds(x['per_cell_cpu_s'])} of CPU a cell" + (f", over {count(x['cells'])} cells" if "cells" in x else "")
    return fact(x)


def links(note: str) -> list[tuple[str, bool]]:
    """The note in pieces, each with whether it is a web address. Only http(s) becomes a link: nothing else in a note can."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for found in URL.finditer(note):
        pieces += [(note[end : found.start()], False), (found[0], True)]
        end = found.end()
    return [p for p in [*pieces, (note[end:], False)] if p[0]]


def breakable(name: str) -> Markup:
    """A name that may wrap after its underscores: rows are longer than a phone's first column."""
    return escape(name).replace("_", Markup("_<wbr>"))
