"""What an operation's sampler draws from, and the examples of an operation; careful that the simplest choice stands first, since hypothesis shrinks to it.

Samplers are of a kind of operation (elementwise, a reduction, a product, ...), and are shared: none is made from a defect that somebody knows.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample, Unsatisfiable

from gradarbiter.core import Array
from harness.sweep.judge import LONG
from harness.sweep.op import LAYOUTS, USES, Asked, Example, Op

T = TypeVar("T")
SEED = 20261129
LEAST = {"contiguous": 0, "transposed": 2, "broadcast": 2}  # axes of a tensor of a layout; of any other 1
DRAWN = 3  # in each turn: what hypothesis draws depends on how many it may draw
TURNS = 6  # of which one gives a new example
SIMPLEST = 6  # each sixth example is the simplest of its kind
STYLES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    # Multiples of 1/8 up to 2, never 0: every type holds them, and none is at a kink by accident but at 1 and 2.
    "grid": lambda rng, shape: rng.integers(1, 17, shape) * rng.choice([-1.0, 1.0], shape) / 8,
    "positive": lambda rng, shape: rng.integers(1, 17, shape) / 8,
    "apart": lambda rng, shape: (1 + STYLES["positive"](rng, shape)) * rng.choice([-1.0, 1.0], shape),
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


def _rows(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Rows that a reduction may stumble over: of zeros, of equal numbers, of ties, and a usual one."""
    usual, column = STYLES["grid"](rng, shape), (*shape[:-1], 1)
    kinds = [0 * usual, np.broadcast_to(STYLES["grid"](rng, column), shape), STYLES["ties"](rng, shape), usual]
    return np.choose(rng.integers(0, len(kinds), column), kinds)


STYLES["rows"] = _rows


@dataclasses.dataclass(frozen=True)
class Draw:
    """Draws the arguments of one call. ``wide``: its type is float32 or float64, where what cancels or overflows in a narrow one may be asked."""

    draw: Any
    dtype: str
    least: int = 0  # axes that the layout needs

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
        low = max(low, self.least)
        high = max(high, low)
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


@dataclasses.dataclass(frozen=True)
class How:
    """What an example is not free in: each combination of these has its turn, since drawn freely the rare ones never came."""

    dtype: str
    layout: str  # of one of its tensors, where that can have it
    use: str


@cache
def hows(op: Op) -> list[How]:
    """Every combination, in an order whose beginning has some of each."""
    made = [How(*each) for each in itertools.product(op.dtypes, LAYOUTS, USES if op.gradient else ("once",))]
    Random(SEED).shuffle(made)  # noqa: S311  the same order in every run
    return made


@st.composite
def example(draw: Any, op: Op, how: How, turn: int) -> Example:
    """Examples of an operation, asked in one way."""
    d = Draw(draw, how.dtype, least=LEAST.get(how.layout, 1))
    asked = op.takes(d)
    able = [name for name, value in asked.tensors.items() if _can(value, how.layout)]
    chosen = {name: d.choose(*(kind for kind in LAYOUTS if _can(value, kind))) for name, value in asked.tensors.items()}
    if able:  # else, as of whole numbers and vectors, it is asked as it is: hypothesis looks for seconds for what there is not
        chosen[d.choose(*able)] = how.layout
    tensors = {
        name: np.broadcast_to(value[:1], value.shape).copy() if chosen[name] == "broadcast" else value
        for name, value in asked.tensors.items()
    }
    asked = Asked(tensors=tensors, attributes=asked.attributes)
    if op.invalid(asked):
        return Example(asked=asked, dtype=how.dtype, layouts=chosen, use="once", upstream=np.zeros(()), invalid=True, turn=turn)
    with np.errstate(all="ignore"):
        shape = np.shape(op.forward(**tensors, **asked.attributes))
    upstream = np.asarray(STYLES["grid"](np.random.default_rng(1), shape))
    if upstream.ndim and op.terms(asked) > LONG:
        upstream[..., ::2] = 1  # a gradient is a long sum of it, as of a bias or an expanded row: some of ones, some of random numbers
    return Example(asked=asked, dtype=how.dtype, layouts=chosen, use=how.use, upstream=upstream, turn=turn)


def _can(value: Array, layout: str) -> bool:
    if layout == "contiguous":
        return True
    if not value.size or not np.issubdtype(value.dtype, np.floating):
        return False
    return value.ndim >= LEAST.get(layout, 1)


def generated(op: Op, count: int, dtypes: Sequence[str] = ()) -> list[Example]:
    """The first ``count`` examples, different from each other, or those of some types; the same in every run and for every framework."""
    for (other, most, *types), examples in GENERATED.items():
        if other is op and most >= count and types == list(dtypes):
            return examples[:count]
    made: dict[str, Example] = {}
    ways = hows(op)
    for turn in range(TURNS * count):
        how = ways[turn % len(ways)]
        if dtypes and how.dtype not in dtypes:
            continue
        drawn: list[Example] = []
        _search(op, turn, drawn.append, Phase.generate)
        # hypothesis begins with the simplest one, which is wanted now and then; what it draws after that is of all kinds.
        for one in drawn[:1] if turn % SIMPLEST == 0 else drawn[-1:]:
            made.setdefault(one.key, one)
        if len(made) == count:
            break
    GENERATED[op, count, *dtypes] = list(made.values())
    return GENERATED[op, count, *dtypes]


GENERATED: dict[tuple[Any, ...], list[Example]] = {}


def smallest(op: Op, first: Example, fails: Callable[[Example], bool]) -> Example:
    """The simplest example that fails as ``first`` does: its numbers by hypothesis, then its type, use and layouts."""
    found = _search(op, first.turn, fails, Phase.generate, Phase.shrink) or first
    simpler: list[dict[str, Any]] = [{"use": "once"}, *({"layouts": {**found.layouts, name: "contiguous"}} for name in found.layouts)]
    if found.floats:  # whole numbers keep the type they were drawn in
        simpler += [{"dtype": dtype} for dtype in op.dtypes[:2]]
    for change in simpler:
        changed = dataclasses.replace(found, **change)
        if changed.key != found.key and fails(changed):
            found = changed
    return found


def _search(op: Op, turn: int, condition: Callable[[Example], Any], *phases: Phase) -> Example | None:
    quiet = settings(max_examples=DRAWN, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=phases)
    ways = hows(op)
    try:
        return find(example(op, ways[turn % len(ways)], turn), condition, settings=quiet, random=Random(f"{SEED} {turn}"))  # noqa: S311
    except (NoSuchExample, Unsatisfiable):
        return None
