"""Where the marks of the page's plots go; careful that a scale is the same for every row it is drawn in, and says where a mark leaves it."""

from __future__ import annotations

import math
from collections.abc import Sequence

WIDTH = 160.0  # of a plot in a row, in CSS pixels
RATIO = (0.25, 32.0)  # step time by torch's, and backward by forward time beside their arithmetic; logarithmic


def ratio(x: float) -> float:
    """A ratio's place on the logarithmic scale; outside of it, its edge."""
    low, high = (math.log(edge) for edge in RATIO)
    return WIDTH * min(1.0, max(0.0, (math.log(x) - low) / (high - low))) if x > 0 else 0.0


def leaves(x: float) -> bool:
    """Whether a ratio is outside of the scale: then the mark is an arrow, not a dot."""
    return not RATIO[0] <= x <= RATIO[1]


def share(x: float) -> float:
    return WIDTH * min(1.0, max(0.0, x))


def spark(values: Sequence[float], height: float = 20.0) -> str:
    """A line over runs as SVG path data, logarithmic, over its own range or a factor of 1.2, whichever is more; cut where a run has no number."""
    known = [math.log(v) for v in values if v > 0]
    if len(known) < 2:
        return ""
    middle, half = (max(known) + min(known)) / 2, max((max(known) - min(known)) / 2, math.log(1.2) / 2)
    step, parts, down = 100.0 / (len(values) - 1), [], False
    for at, v in enumerate(values):
        if v > 0:
            y = height * (0.5 - 0.45 * (math.log(v) - middle) / half)
            parts.append(f"{'L' if down else 'M'}{at * step:.1f},{y:.1f}")
        down = v > 0
    return "".join(parts)
