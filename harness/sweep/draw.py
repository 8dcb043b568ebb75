"""What an operation's sampler draws from, and the examples of an operation; careful that the simplest choice stands first, since hypothesis shrinks to it.

Samplers are of a kind of operation (elementwise, a reduction, a product, ...), and are shared: none is made from a defect that somebody knows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from gradarbiter.core import Array
from harness.sweep.judge import LONG
from harness.sweep.op import LAYOUTS, USES, Asked, Example, Op

T = TypeVar("T")
SEED = 20261129
STYLES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    # Multiples of 1/8 up to 2, never 0: every type holds them, and none is at a kink by accident but at 1 and 2.
    "grid": lambda rng, shape: rng.integers(1, 17, shape) * rng.choice([-1.0, 1.0], shape) / 8,
    "positive": lambda rng, shape: rng.integers(1, 17, shape) / 8,
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "distinct": lambda rng, shape: (rng.permutation(int(np.prod(shape, dtype=int))).reshape(shape) - 3.0) / 4,
    "ties": lambda rng, shape: rng.integers(0, 2, shape) * 1.0,
    "ones": lambda _, shape: np.ones(shape),
    "zero": lambda rng, shape: _with(STYLES["positive"](rng, shape), rng, 0.0),
    "large": lambda rng, shape: STYLES["grid"](rng, shape) * 64,
    "small": lambda rng, shape: STYLES["grid"](rng, shape) / 4096,
    "nan": lambda rng, shape: _with(STYLES["grid"](rng, shape), rng, np.nan),
    "inf": lambda rng, shape: _with(STYLES["grid"](rng, shape), rng, rng.choice([np.inf, -np.inf])),
    "whole": lambda rng, shape: rng.integers(-2, 4, shape) * 1.0,
    "masked": lambda rng, shape: np.where(rng.integers(0, 2, shape), STYLES["grid"](rng, shape), -np.inf),
}


def _with(values: Array, rng: np.random.Generator, number: float) -> Array:
    """One number of the array replaced, where it has any."""
    if values.size:
        values.flat[int(rng.integers(values.size))] = number
    return values


@dataclasses.dataclass(frozen=True)
class Draw:
    """Draws the arguments of one call. ``wide``: its type is float32 or float64, where what cancels or overflows in a narrow one may be asked."""

    draw: Any
    dtype: str

    @property
    def wide(self) -> bool:
        return self.dtype in ("float64", "float32")

    def choose(self, *options: T) -> T:
        """One of the options, the simplest first."""
        chosen: T = self.draw(st.sampled_from(options))
        return chosen

    def whole(self, low: int, high: int) -> int:
        drawn: int = self.draw(st.integers(low, high))
        return drawn

    def shape(self, low: int = 1, high: int = 3, size: int = 4) -> tuple[int, ...]:
        """Of ``low`` to ``high`` axes, each of 2 to ``size`` or, more rarely, 1: an axis of 1 hides what a longer one shows."""
        sizes = st.sampled_from([*range(2, size + 1), 1])
        return tuple(self.draw(st.lists(sizes, min_size=low, max_size=high)))

    def floats(self, *shape: int, styles: tuple[str, ...] = ("grid", "normal")) -> Array:
        """Numbers that bfloat16 holds, so that each type is asked the same; float64."""
        style, seed = self.choose(*styles), self.whole(0, 7)
        values: Array = np.asarray(STYLES[style](np.random.default_rng(seed), shape)).astype(ml_dtypes.bfloat16).astype(np.float64)
        return values

    def ids(self, *shape: int, high: int, low: int = 0) -> Array:
        """Whole numbers in [low, high), repeated ones among them; int64."""
        return np.random.default_rng(self.whole(0, 7)).integers(low, high, shape)

    def whole_numbers(self, *shape: int, low: int = -9, high: int = 10) -> Array:
        """Of the asked type, where that is one of whole numbers; none below 0 in an unsigned one."""
        low = max(low, 0) if self.dtype.startswith("u") else low
        return np.random.default_rng(self.whole(0, 7)).integers(low, high, shape).astype(self.dtype)

    def mask(self, *shape: int) -> Array:
        return np.random.default_rng(self.whole(0, 7)).integers(0, 2, shape).astype(bool)

    def axis(self, rank: int) -> int:
        """From the end or from the start."""
        chosen: int = self.choose(*range(-1, -rank - 1, -1), *range(rank))
        return chosen

    def axes(self, rank: int) -> list[int] | None:
        """Some axes to reduce over; None: all."""
        chosen: list[int] | None = self.draw(
            st.one_of(st.none(), st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank, unique=True))
        )
        return chosen


def strategy(op: Op) -> st.SearchStrategy[Example]:
    """Examples of an operation, the same for every framework."""

    @st.composite
    def example(draw: Any) -> Example:
        dtype = draw(st.sampled_from(op.dtypes))
        d = Draw(draw, dtype)
        asked = op.takes(d)
        use = d.choose(*(USES if op.gradient else ("once",)))
        tensors, chosen = {}, {}
        for name, value in asked.tensors.items():
            chosen[name] = d.choose(*(kind for kind in LAYOUTS if _can(value, kind)))
            tensors[name] = np.broadcast_to(value[:1], value.shape).copy() if chosen[name] == "broadcast" else value
        asked = Asked(tensors=tensors, attributes=asked.attributes)
        if op.invalid(asked):
            return Example(asked=asked, dtype=dtype, layouts=chosen, use="once", upstream=np.zeros(()), invalid=True)
        with np.errstate(all="ignore"):
            shape = np.shape(op.forward(**tensors, **asked.attributes))
        style = (
            d.choose("grid", "ones") if op.terms(asked) > LONG else "grid"
        )  # a gradient is a long sum of it, as of a bias or an expanded row
        upstream = np.asarray(STYLES[style](np.random.default_rng(1), shape))
        return Example(asked=asked, dtype=dtype, layouts=chosen, use=use, upstream=upstream)

    return example()


def _can(value: Array, layout: str) -> bool:
    if layout == "contiguous":
        return True
    if not value.size or not np.issubdtype(value.dtype, np.floating):
        return False
    return value.ndim >= (2 if layout in ("transposed", "broadcast") else 1)


def generated(of: st.SearchStrategy[Example], count: int) -> list[Example]:
    """The first examples, different from each other; the same in every run."""
    made: dict[str, Example] = {}

    def keep(example: Example) -> bool:
        made.setdefault(example.key, example)
        return False

    _search(of, keep, count)
    return list(made.values())


def smallest(of: st.SearchStrategy[Example], count: int, fails: Callable[[Example], bool]) -> Example | None:
    """The simplest example that fails, looked for from the first one of `generated` that does."""
    return _search(of, fails, count)


def _search(of: st.SearchStrategy[Example], condition: Callable[[Example], bool], count: int) -> Example | None:
    quiet = settings(
        max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink)
    )
    try:
        return find(of, condition, settings=quiet, random=Random(SEED))  # noqa: S311  the same examples in every run
    except NoSuchExample:
        return None
