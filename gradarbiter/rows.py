"""What data_order knows of drawn rows: which are alike, where in the corpus they are; careful that a statement about a corpus rests on text that is unique."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from gradarbiter.core import Array
from gradarbiter.shingles import Index, UInt64s, shingles

Ints = npt.NDArray[np.int64]


class Drawn:
    """The rows of the first steps, in order. ``epoch`` is the number of rows in one, where it is known."""

    def __init__(self, batch: Callable[[int, int], Array], *, seed: int, steps: int, epoch: int | None) -> None:
        self._batch, self.seed, self.steps, self.epoch = batch, seed, steps, epoch
        self.batches = [np.asarray(batch(step, seed)).copy() for step in range(steps)]
        self.rows = np.concatenate(self.batches)
        self.width = len(self.batches[0])

    @property
    def one_epoch(self) -> Array:
        """Those rows of the first epoch that were drawn."""
        return self.rows[: self.epoch]

    @property
    def ends(self) -> bool:
        """The whole first epoch was drawn."""
        return self.epoch is not None and len(self.rows) >= self.epoch

    def second_epoch(self, most: int) -> Array | None:
        """Its first rows: it may begin within a step."""
        if self.epoch is None:
            return None
        step, skip = divmod(self.epoch, self.width)
        steps = -(-(skip + min(most, self.epoch)) // self.width)
        rows: Array = np.concatenate([self._batch(step + i, self.seed) for i in range(steps)])[skip : skip + min(most, self.epoch)]
        return rows[: len(self.rows)]

    @staticmethod
    def keys(rows: Array) -> UInt64s:
        """One number a row. Rows of one repeated token (padding) are left out: they say nothing."""
        rows = rows[(rows != rows[:, :1]).any(1)]
        return shingles(rows, rows.shape[1])[:, 0]


class Located:
    """A corpus in which rows are found. ``least``: the runs by which a row is judged to be in it at all, short since rows may be packed of many texts."""

    least = 4

    def __init__(
        self, corpus: Mapping[str, Array], held_out: Mapping[str, Array] | None, *, length: int, overlap: int, padding: int | None = None
    ) -> None:
        self.size = max(self.least, overlap + 1, min(16, length // 4))
        self.length, self.overlap, self._padding = length, overlap, padding
        self.names = list(corpus)
        self.ends = np.cumsum([len(part) for part in corpus.values()])
        stream = np.concatenate(list(corpus.values()))
        self._index, self._runs = Index(stream, self.size), Index(stream, min(self.least, length))
        self.held_out = Index(np.concatenate(list(held_out.values())), self.size) if held_out else None

    def _share(self, of: npt.NDArray[np.bool_], rows: Array, size: int) -> npt.NDArray[np.float64]:
        """Of a row's shingles those that ``of`` says, padding aside; 0 where a row is nothing else."""
        filled = (rows < 0) | (rows == self._padding)
        count = np.concatenate([np.zeros((len(rows), 1), dtype=np.int64), np.cumsum(filled, axis=1)], axis=1)
        text = count[:, size:] == count[:, :-size]
        share: npt.NDArray[np.float64] = (of & text).sum(1) / np.maximum(text.sum(1), 1)
        return share

    def unknown(self, rows: Array) -> Ints:
        """Rows of which more than half is nowhere in the corpus."""
        size = self._runs.size
        return np.flatnonzero(self._share(~self._runs.has(shingles(rows, size)), rows, size) > 0.5)

    def leaked(self, rows: Array) -> Ints:
        """Training rows of which more than half is in the held-out corpus and not in the training corpus."""
        if self.held_out is None:
            return np.array([], dtype=np.int64)
        of = shingles(rows, self.size)
        return np.flatnonzero(self._share(self.held_out.has(of) & ~self._index.has(of), rows, self.size) > 0.5)

    def trained_on(self, rows: Array) -> Ints:
        """Held-out rows of which more than half is in the training corpus and not in the held-out corpus."""
        assert self.held_out is not None
        of = shingles(rows, self.size)
        return np.flatnonzero(self._share(self._index.has(of) & ~self.held_out.has(of), rows, self.size) > 0.5)

    def visits(self, rows: Array) -> Ints:
        """How often each position was read whose shingle is unique."""
        at = self._index.position(shingles(rows, self.size))
        return np.bincount(at[at >= 0], minlength=self._index.tokens)

    def coverage(self, visits: Ints) -> dict[str, float]:
        """The share of each subset that was read: of the tokens that some unique shingle covers, those that one which was read covers. Shingles that cross
        the end of a window or of a text are never read, and the tokens under them are, by their neighbours.
        """
        able, read = np.zeros(len(visits), dtype=bool), visits > 0
        able[self._index.unique] = True
        able, read = _widened(able, self.size), _widened(read, self.size)
        found, begin = dict[str, float](), 0
        for name, end in zip(self.names, self.ends, strict=True):
            if able[begin:end].sum() >= self.length:
                found[name] = float(read[begin:end].sum() / able[begin:end].sum())
            begin = int(end)
        return found

    def starts(self, rows: Array) -> Ints:
        """Where each row begins in the corpus: what most of its unique shingles say. Rows without any are left out."""
        at = self._index.position(shingles(rows, self.size))
        begins = np.where(at >= 0, at - np.arange(at.shape[1]), -1)
        known = [row[row >= 0] for row in begins]
        return np.array([int(np.median(row)) for row in known if len(row)], dtype=np.int64)

    def proportions(self, starts: Ints, epoch: int | None) -> Iterator[tuple[str, float, float, float]]:
        """Subset, its share of ``starts``, its share of the corpus, and the sigmas between them if rows were drawn without replacement from an epoch."""
        of, n = np.searchsorted(self.ends, starts, side="right"), len(starts)
        left = (epoch - n) / max(epoch - 1, 1) if epoch else 1.0
        for i, size in enumerate(np.diff([0, *self.ends])):
            share, found = float(size) / float(self.ends[-1]), float((of == i).mean()) if n else 0.0
            sigma = math.sqrt(max(share * (1 - share) * left / max(n, 1), 1e-300))
            yield self.names[i], found, share, (found - share) / sigma if left > 0 and 0 < share < 1 else 0.0

    def order(self, starts: Ints) -> float:
        """Spearman's correlation of place and time, in its own sigmas under a random order, 1 / sqrt(n - 1)."""
        n = len(starts)
        if n < 8:
            return 0.0
        rank = np.argsort(np.argsort(starts)).astype(np.float64)
        return float(np.corrcoef(rank, np.arange(n))[0, 1]) * math.sqrt(n - 1)


def _widened(begins: npt.NDArray[np.bool_], size: int) -> npt.NDArray[np.bool_]:
    """The tokens under the shingles that begin where ``begins`` says."""
    total = np.concatenate([[0], np.cumsum(begins)])
    at = np.arange(1, len(begins) + 1)
    under: npt.NDArray[np.bool_] = total[at] > total[np.maximum(at - size, 0)]
    return under


def alike(one: Array, other: Array, epoch: int | None) -> tuple[int, float]:
    """Rows that are equal at equal places, and the chance of so many if one order is random: 1 / epoch each (a half, to be certain, where unknown)."""
    n = min(len(one), len(other))
    same = int((one[:n] == other[:n]).all(1).sum())
    return same, chance(same, n, 1 / epoch if epoch else 0.5)


def chance(hits: int, tries: int, p: float) -> float:
    """P(at least ``hits``) of a binomial distribution."""
    if hits <= 0:
        return 1.0
    if p >= 1:
        return 1.0
    logs = [
        math.lgamma(tries + 1) - math.lgamma(k + 1) - math.lgamma(tries - k + 1) + k * math.log(p) + (tries - k) * math.log1p(-p)
        for k in range(hits, tries + 1)
    ]
    return math.fsum(math.exp(one) for one in logs)


def overlapping(rows: Array, overlap: int) -> tuple[int, float]:
    """The distance at which most rows go on from another one (the end of one is the beginning of the other), and the share of rows that do."""
    n, length = rows.shape
    best = (0, 0.0)
    for stride in range(1, length - max(overlap, 3)):
        ends, starts = shingles(rows[:, stride:], length - stride)[:, 0], shingles(rows[:, : length - stride], length - stride)[:, 0]
        order = np.argsort(starts)
        at = np.minimum(np.searchsorted(starts[order], ends), n - 1)
        # a row of one token, or of a short period, goes on from itself
        partner = (starts[order][at] == ends) & (order[at] != np.arange(n))
        best = max(best, (stride, float(partner.mean())), key=lambda found: found[1])
    return best


def shared(rows: Array, others: Array) -> float:
    """The share of ``rows`` of which more than half of the shingles (a quarter of a row, 16 at most) occur in ``others``."""
    size = max(4, min(16, rows.shape[1] // 4))
    return float(np.isin(shingles(rows, size), np.unique(shingles(others, size))).mean(1).__gt__(0.5).mean())
