"""Where short runs of tokens (shingles) occur in a corpus; careful that real text repeats itself: only what occurs once there says where a row is from.

A shingle is a 64-bit polynomial hash of its tokens. Two different ones among n collide with probability about n^2 / 2^65: 3e-8 for a million.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradarbiter.core import Array

UInt64s = npt.NDArray[np.uint64]
BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplication loses nothing modulo 2^64


def mixed(ids: Array) -> UInt64s:
    """Ids spread over 64 bits (the finalizer of splitmix64): a polynomial of small numbers would collide."""
    x = np.asarray(ids).astype(np.int64).astype(np.uint64) + BASE
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    spread: UInt64s = x ^ (x >> np.uint64(31))
    return spread


def shingles(ids: Array, size: int) -> UInt64s:
    """The hash of every run of ``size`` tokens along the last axis: (..., n) -> (..., n - size + 1)."""
    x = mixed(ids)
    count = max(x.shape[-1] - size + 1, 0)
    out = np.zeros((*x.shape[:-1], count), dtype=np.uint64)
    for offset in range(size):
        out = out * BASE + x[..., offset : offset + count]
    return out


class Index:
    """The shingles of one stream of tokens: 24 bytes a token, and twice that while it is made."""

    def __init__(self, tokens: Array, size: int) -> None:
        self.size, self.tokens = size, len(tokens)
        self._known, self._first, self._count = np.unique(shingles(tokens, size), return_index=True, return_counts=True)

    @property
    def unique(self) -> npt.NDArray[np.int64]:
        """Positions whose shingle occurs nowhere else."""
        return np.sort(self._first[self._count == 1])

    def has(self, wanted: UInt64s) -> npt.NDArray[np.bool_]:
        if not len(self._known):
            return np.zeros(wanted.shape, dtype=bool)
        found: npt.NDArray[np.bool_] = self._known[self._at(wanted)] == wanted
        return found

    def position(self, wanted: UInt64s) -> npt.NDArray[np.int64]:
        """Where each shingle is; -1 where it is not, or not only once."""
        if not len(self._known):
            return np.full(wanted.shape, -1)
        at = self._at(wanted)
        once = (self._known[at] == wanted) & (self._count[at] == 1)
        return np.where(once, self._first[at], -1)

    def _at(self, wanted: UInt64s) -> npt.NDArray[np.int64]:
        return np.minimum(np.searchsorted(self._known, wanted), len(self._known) - 1)
