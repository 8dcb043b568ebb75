"""Whether a trained model uses the order of its tokens; careful that a loss which rises on shuffled text does not show it.

Shuffling everything also parts each token from the one before it, which a causal model knows whatever its position code does: with a rotation over the
wrong axis our trainer's loss still rises by 40 to 120 %, hardly less than a healthy one's. So the last token and its target are kept, and the three tokens
before them change places with three earlier ones of the row (``order``), or are replaced by three of another row (``context``). To a model without
positions the first is no change at all; one that knows its place reads the wrong token either way. Measured, nats of order / nats of context, 2 layers,
real text: 0.6 to 0.85 healthy from step 50 on, -0.01 to 0.10 (0 to the bit with one layer) broken. No theory says where between them a model is broken, so
SHARE stands on this measurement alone: the geometric mean of its inner ends, sqrt(0.10 x 0.6), is as many times above the one as below the other.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gradarbiter import runs
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.runs import accusation, note

Score = Callable[[Array], Array]  # ids (N, T) -> nats a token of each row (N,), or of each target (N, T - 1)

SHARE = 0.25  # of what the near tokens give: less, at the upper end of the interval, says that hardly any of it depends on where they stand
NEAR = 3  # tokens: one alone gives so little that the interval is three times as wide
NOTHING = 0.01  # of the loss, that shuffling costs: a model that reads any order at all pays ten times as much
CUTS = 8  # targets a row, from a quarter of its length on
ROWS = 16  # an interval over fewer is worth nothing


def position_effect(
    score: Score,
    rows: Array | Mapping[str, Array],
    *,
    vocabulary: int | None = None,
    keep: int = 0,
    resamples: int = 2000,
    seed: int = 0,
    say: runs.Say = runs.say,
) -> Result:
    """Ask a trained model, as its ``score`` of held-out ``rows`` (ids, N x T; several subsets by name).

    ``score`` returns nats a token: of each row, as the mean over its T - 1 targets, or (cheaper) of each target. ``vocabulary``: its size; a loss not
    below its logarithm is a model that cannot be asked. ``keep``: tokens at the start of each row that stay (a begin-of-text mark). Intervals are 95 %,
    bootstrapped over rows. It cannot see a position code that is broken where a causal mask with a short window tells positions anyway: ask
    position_sensitivity of the untrained model too.
    """

    def ask() -> Iterator[Finding]:
        parts = rows if isinstance(rows, Mapping) else {"rows": rows}
        for ids in parts.values():
            if ids.ndim != 2 or ids.shape[0] < ROWS or ids.shape[1] < keep + 3 * NEAR:
                raise NotAsked(f"rows {ids.shape}: give at least {ROWS} held-out rows of at least {keep + 3 * NEAR} tokens")
        size = {name: ids.shape for name, ids in parts.items()}
        say(f"position_effect: scores {size} about {2 + 2 * CUTS} times, twice as often where score gives one number a row")
        reasons = []
        for name, ids in parts.items():
            try:
                yield from _one(name, Measure(score, ids, keep, resamples, seed), vocabulary)
            except NotAsked as reason:
                reasons.append(f"{name}: {reason}")
        if reasons:
            raise NotAsked("; ".join(reasons))

    return runs.answered("position_effect", ask)


@dataclass(frozen=True)
class Measure:
    score: Score
    ids: Array
    keep: int
    resamples: int
    seed: int

    def shuffled(self) -> Array:
        """All tokens of each row in another order."""
        out = self.ids.copy()
        out[:, self.keep :] = np.random.default_rng(self.seed).permuted(out[:, self.keep :], axis=1)
        return out

    def exchanged(self, upto: int) -> tuple[Array, Array]:
        """The ``NEAR`` tokens before ``upto`` and as many earlier ones of the row in each other's place; and tokens of another row in theirs.

        The other row is half of the rows away: a neighbour may be of the same document.
        """
        random, (count, _) = np.random.default_rng([self.seed, upto]), self.ids.shape
        near = np.arange(upto - NEAR, upto)
        early = np.stack([random.choice(np.arange(self.keep, upto - NEAR), NEAR, replace=False) for _ in range(count)])
        row = np.arange(count)[:, None]
        ordered, replaced = self.ids.copy(), self.ids.copy()
        ordered[row, near], ordered[row, early] = self.ids[row, early], self.ids[row, near]
        replaced[row, near] = np.roll(self.ids, count // 2, axis=0)[row, early]
        return ordered, replaced

    def rowwise(self, ids: Array) -> Array:
        found = np.asarray(self.score(ids), dtype=np.float64)
        if len(found) != len(ids) or not np.isfinite(found).all():
            raise NotAsked(
                f"score gives {found.shape} for {ids.shape} with {np.count_nonzero(~np.isfinite(found))} not finite: give finite nats a row"
            )
        return found if found.ndim == 1 else found.mean(1)

    def last(self, ids: Array) -> Array:
        """Nats of the last token of each row."""
        found = np.asarray(self.score(ids), dtype=np.float64)
        count = ids.shape[1] - 1
        nats: Array = (
            found[:, -1] if found.ndim == 2 else found * count - np.asarray(self.score(ids[:, :-1]), dtype=np.float64) * (count - 1)
        )
        return nats

    def context(self) -> tuple[Array, Array]:
        """Rise in nats of a target when the tokens near it stand elsewhere, and when they are others; the mean over a row's cuts."""
        width = self.ids.shape[1]
        cuts = np.unique(np.linspace(max(self.keep + 2 * NEAR, width // 4), width - 2, CUTS).astype(int))
        order, context = [], []
        for cut in cuts:
            plain = self.last(self.ids[:, : cut + 2])
            ordered, replaced = self.exchanged(cut)
            order.append(self.last(ordered[:, : cut + 2]) - plain)
            context.append(self.last(replaced[:, : cut + 2]) - plain)
        return np.mean(order, 0), np.mean(context, 0)

    def interval(self, value: Callable[[Array], Array]) -> tuple[float, float, float]:
        """The value of all rows, and the 95 % interval of it under resampling; ``value`` takes indices (..., N)."""
        count = len(self.ids)
        drawn = np.random.default_rng(self.seed).integers(0, count, (self.resamples, count))
        low, high = np.quantile(value(drawn), (0.025, 0.975))
        return float(value(np.arange(count))), float(low), float(high)


def _one(name: str, of: Measure, vocabulary: int | None) -> Iterator[Finding]:
    plain, shuffled = of.rowwise(of.ids), of.rowwise(of.shuffled())
    loss, level = float(plain.mean()), frequency_level(of.ids[:, of.keep :])
    if vocabulary and loss >= math.log(vocabulary):
        raise NotAsked(f"loss {loss:.3f} is not below ln {vocabulary} = {math.log(vocabulary):.3f}: give a trained checkpoint")
    effect, low, high = of.interval(lambda at: shuffled[at].mean(-1) / plain[at].mean(-1) - 1)
    numbers = {"loss": loss, "shuffled": float(shuffled.mean()), "effect": effect, "low": low, "high": high, "frequencies": level}
    yield note("shuffled", name, f"shuffled: {effect:+.1%} loss (95 % {low:+.1%} to {high:+.1%}); {loss:.3f} nats a token", **numbers)
    if loss >= level:
        raise NotAsked(
            f"loss {loss:.3f} is not below these rows' own token frequencies, {level:.3f}: it uses no context, ordered or not; train on"
        )
    if high < NOTHING:
        text = f"the order of the tokens is not used: {level - loss:.3f} nats are learned beyond frequencies, and shuffling costs {effect * loss:.3f}"
        yield accusation("order ignored", name, text, **numbers)
        return
    order, context = of.context()
    gain, gain_low, _ = of.interval(lambda at: context[at].mean(-1))
    if gain_low <= 0:
        raise NotAsked(
            f"other tokens before the last one cost {gain:.4f} nats, within the noise: it uses the last token only, or give more rows; train on"
        )
    share, low, high = of.interval(lambda at: order[at].mean(-1) / context[at].mean(-1))
    text = f"of {gain:.4f} nats that the {NEAR} tokens before the last give, {share:.0%} depend on where they stand (95 % {low:.0%} to {high:.0%})"
    found = {"context": gain, "share": share, "low": low, "high": high}
    if high < SHARE:
        yield accusation("positions broken", name, f"{text}: earlier tokens are used as a bag of words", **found)
    else:
        yield note("context", name, text, **found)
    if low < SHARE < high:
        raise NotAsked(f"{text}: too wide to tell, give more rows or train on")


def frequency_level(ids: Array) -> float:
    """Nats a token of the rows' own frequencies: no model without context is below it on these rows."""
    count = np.unique(ids, return_counts=True)[1] / ids.size
    return float(-(count * np.log(count)).sum())


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("factory", help="module:function that returns a dict with score and rows (and vocabulary, keep)")
    parser.add_argument("--seed", type=int, default=0, help="of the shuffles and of the bootstrap")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    given = runs.from_factory(options.factory, default="score")
    return runs.finished(options.factory, position_effect(**{"seed": options.seed, **given}), options)
