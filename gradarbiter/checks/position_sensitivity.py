"""The order of earlier tokens matters to the last output, in an untrained model; careful that a causal mask alone makes some order matter.

Two ways in for a position, each with a probe of its own; an accusation needs both to see nothing.

*Added to the embeddings* (learned, sinusoidal). All tokens the same: then attention averages equal values whatever its weights, and all positions have the
same output, mask or no mask, rotated or not. Outputs that differ by position (by more than rounding) show that positions enter here.

*In the attention scores* (RoPE, ALiBi, relative biases). The three tokens before the last one are permuted, and replaced by others. R is the change of the last
output by the first over that by the second. A model of one layer without positions has R = 0. A causal one of several layers has not: what the lower layers
say of a token depends on what came before it, and R is 0.01 to 0.5, where RoPE's is 0.06 to 1: no margin. So the embeddings are made *loud*: scaled to a root
mean square of 1000. Each branch of a pre-norm model adds about 1 to a stream of 1000, and after its norm sees the bare embeddings: what lower layers said is
left at 1/1000, and so is R, times a constant: the ratio of the effects of lower layers and embeddings. Positions in the scores do not care how loud the stream
is. Measured over 1 to 8 layers and 8 seeds (own models, the trainer's, transformers'): R is at most 0.0017 without positions, at least 0.058 with (NeoX, which
turns a quarter of the channels). Below 10/1000: no positions. Above 30/1000: positions. Between them, or where loudness did not quiet the branches (norms after
the sum, a norm on the embeddings): not told, unless R is 0 to rounding anyhow.

Matrices are first scaled to gain 1 (an initialisation of 0.02 gives scores near 0, which no position can change), and what is all zero is given values.

What this cannot tell is whether the positions are right (half of the frequencies, an offset, a restart): that is for parity with a second implementation.
Where a float64 copy is asked, which is slow, it is given the last NEAREST positions of one row: the order of the three before the last is what is asked, and
rows of 16 to 20 tokens are what was measured. A model that does not take shorter rows is given the whole one.
A window of fewer than 4 tokens makes any order matter, since permuted tokens enter and leave it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradarbiter import probe
from gradarbiter.batch import leaves, mapped
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Expect, Subject

LOUD = 1000.0
BLIND, SEEING = 10 / LOUD, 30 / LOUD
SOFT = 0.1  # where a large stream is not quieted by a norm, it would make one key take all of the attention, wherever that stands
# Change of the last output when all earlier tokens are others: measured below 3 / LOUD where branches are quiet, above 40 / LOUD where they are not.
QUIET = 10 / LOUD
PERMUTED = 3
NEAREST = 64
ORDERS = ([0, 2, 1], [1, 2, 0])
OTHERS = [3, 4, 5]
ENTRIES = 4  # a normal number is below a tenth of its standard deviation once in 13; four for each of two orders, once in 10^9
RESOLVED = 50  # units of rounding that other tokens must change: an R below BLIND is then less than one unit


def position_sensitivity(subject: Subject, expect: Expect) -> list[Finding]:
    if not expect.position:
        raise NotAsked("declared that the order of tokens does not matter")
    outputs = probe.defined(subject.outputs())
    seen = min(probe.positions(subject, outputs).shape[1], expect.reach or outputs.shape[1])
    if seen <= PERMUTED:
        raise NotAsked(f"an output depends on {seen} tokens at most: at least {PERMUTED + 1} are needed")
    known = probe.alphabet(subject.tokens(), expect)
    targets = subject.tokens().shape[1] - outputs.shape[1]  # the last tokens, which are nothing else
    if probe.unit(outputs) > probe.FLOAT32:
        subject = _wide(subject, NEAREST + targets)
    length = subject.tokens().shape[1] - targets
    _level(subject)
    added, limit = _added(subject, known)
    if added > limit:
        return []
    _scale_tables(subject, LOUD)
    loud = _effects(subject, length, known)
    ratio = loud.ratio
    numbers = {"R": ratio, "added": added, "others": loud.others, "all others": loud.all_others, "rounding": limit}
    if loud.all_others < QUIET and loud.others > RESOLVED * probe.FLOAT32:
        if ratio < BLIND and loud.entries < ENTRIES:
            raise NotAsked(f"other tokens change {loud.entries:.1f} entries of the output: too few to tell order from chance (a soft cap?)")
        if ratio < BLIND:
            return [_blind(f"{ratio:.1e} of what other tokens there do, where positions leave more than {SEEING:g}", numbers)]
        if ratio > SEEING:
            return []
        raise NotAsked(
            f"order has {ratio:.3f} of the effect of other tokens, between models without positions (< {BLIND:g}) and with (> {SEEING:g})"
        )
    _scale_tables(subject, SOFT)
    raw = _effects(subject, length, known)
    if raw.others > RESOLVED * limit and raw.order <= limit:
        return [_blind("nothing but rounding", {**numbers, "R": raw.ratio, "others": raw.others, "all others": raw.all_others})]
    raise NotAsked(
        f"order has {raw.ratio:.3f} of the effect of other tokens, which a causal mask alone can give; loud embeddings do not quiet this model's branches, "
        "so no more can be told: say position=False, or hold it against a second implementation"
    )


@dataclass(frozen=True, kw_only=True)
class _Effects:
    """Changes of the last output as shares of its size, by: another order of the three tokens before the last, other tokens there, others everywhere before."""

    order: float
    others: float
    all_others: float
    entries: float  # how many of the output's entries the effect of others is in: of n equal ones, n

    @property
    def ratio(self) -> float:
        return self.order / self.others if self.others else np.inf


def _blind(effect: str, numbers: Mapping[str, float]) -> Finding:
    text = f"permuting the three tokens before the last position changes its output by {effect}; tokens that are all equal give the same output at "
    text += "every position: positions are neither in the attention scores nor added to the embeddings"
    return Finding(kind="no positions", parameter="outputs", text=text, numbers=numbers)


def _wide(subject: Subject, nearest: int) -> Subject:
    """A change of 1/LOUD of the outputs is below bfloat16's rounding. Of one row the nearest tokens."""
    wide = subject.wide()
    if wide is None:
        raise NotAsked("outputs are computed in low precision, and there is no float64 copy: ask it of the same model in float32")
    wide.batch = row = wide.with_rows([0])  # a copy is nothing that was compiled for one shape
    whole = wide.tokens().shape
    shapes = [tuple(leaf.shape) for _, leaf in leaves(row) if whole[1] in leaf.shape]
    if nearest < whole[1] and all(shape[:2] == whole and whole[1] not in shape[2:] for shape in shapes):
        wide.batch = mapped(row, lambda _, leaf: leaf[:, -nearest:] if whole[1] in leaf.shape else leaf)
        try:
            probe.positions(wide, wide.outputs())
        except Exception:  # noqa: BLE001  code that knows the length of its rows
            wide.batch = row
    return wide


def _level(subject: Subject) -> None:
    """Nothing is zero and every matrix has gain 1: scores are not so near 0 that no position changes them, nor so large that one token takes all."""
    probe.wake(subject)
    values = subject.read()
    matrices = [parameter.name for parameter in subject.parameters() if len(parameter.shape) > 1 and not parameter.table]
    gains = {key: float(np.sqrt(np.mean(values[key].astype(np.float64) ** 2))) / probe.size(values[key]) for key in matrices}
    subject.write({key: values[key] / gain for key, gain in gains.items() if gain})


def _scale_tables(subject: Subject, size: float) -> None:
    """All tables by the one factor that gives the largest of them this root mean square."""
    values = subject.read()
    tables = {parameter.name: values[parameter.name] for parameter in subject.parameters() if parameter.table}
    if not tables:
        raise NotAsked("no embedding is known: the adapter's tables= names it")
    largest = max(tables.values(), key=lambda value: value.size)
    factor = size / float(np.sqrt(np.mean(largest.astype(np.float64) ** 2)))
    subject.write({key: value * factor for key, value in tables.items()})


def _added(subject: Subject, known: Array) -> tuple[float, float]:
    """How far outputs differ by position where all tokens of a row are the same, and how far rounding would take them."""
    ids = subject.tokens().copy()
    ids[:] = np.resize(known, len(ids))[:, None]
    got = subject.outputs(subject.with_tokens(ids))
    return float(probe.change(got, np.broadcast_to(got[:, -1:], got.shape)).max()), probe.rounding(subject, got)


def _effects(subject: Subject, length: int, known: Array) -> _Effects:
    """A variant a row, so that two forward passes do if the batch has four."""
    ids = subject.tokens().copy()
    rows, last = len(ids), length - 1
    drawn = np.stack([np.resize(np.roll(known, -row), 2 * PERMUTED) for row in range(rows)])
    near = slice(last - PERMUTED, last)
    ids[:, near] = drawn[:, :PERMUTED]
    base = probe.defined(subject.outputs(subject.with_tokens(ids)))[:, last].astype(np.float64)
    orders: list[list[int]] = [*ORDERS, OTHERS, OTHERS]
    effects: list[list[float]] = [[] for _ in orders]
    entries = []
    for start in range(0, len(orders), rows):
        changed, chosen = ids.copy(), [(start + row) % len(orders) for row in range(rows)]
        for row, which in enumerate(chosen):
            changed[row, near] = drawn[row, orders[which]]
            if which == len(orders) - 1:
                changed[row, : last - PERMUTED] = probe.others(changed[row, : last - PERMUTED], known)
        got = probe.defined(subject.outputs(subject.with_tokens(changed)))[:, last].astype(np.float64)
        for row, which in enumerate(chosen):
            finite = np.isfinite(base[row]) & np.isfinite(got[row])
            size = float(np.linalg.norm(base[row][finite] - base[row][finite].mean()))
            moved = (got[row] - base[row])[finite]
            effects[which].append(float(np.linalg.norm(moved)) / max(size, 1e-300))
            if which == len(ORDERS):
                entries.append(float((moved**2).sum() ** 2 / max((moved**4).sum(), 1e-300)))
    *order, others, all_others = [float(np.sqrt(np.mean(np.square(each)))) for each in effects]
    return _Effects(order=float(np.sqrt(np.mean(np.square(order)))), others=others, all_others=all_others, entries=sum(entries))
