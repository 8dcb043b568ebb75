"""The order of the windows; careful to be a pure function of seed, epoch and index: there is nothing to save, so nothing to forget in a resume.

A permutation is computed per index, in constant memory, by a Feistel network over the next even power of two; an index that lands outside is sent
through again (cycle walking), which keeps the map one to one. It uses integers only, so no release of numpy's generators can change an order.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]
ROUNDS = 8


def windows(step: int, *, seed: int, rows: slice, batch: int, count: int) -> Int64s:
    """Which windows are rows ``rows`` of the ``batch`` rows of a step, where ``count`` windows make an epoch.

    Row r of step s is draw s * batch + r of an endless sequence in which every epoch is a new permutation: a step may end one epoch and begin the next.
    """
    draw = step * batch + np.arange(batch, dtype=np.int64)[rows]
    epoch, index = np.divmod(draw, count)
    out = np.empty_like(draw)
    for e in np.unique(epoch):
        mine = epoch == e
        out[mine] = permute(index[mine], count, key=f"{seed}/{e}")
    return out


def permute(index: Int64s, count: int, *, key: str) -> Int64s:
    """Where a permutation of range(count), named by ``key``, sends each index."""
    assert count > 0
    assert ((index >= 0) & (index < count)).all()
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    keys = np.frombuffer(hashlib.blake2b(key.encode(), digest_size=8 * ROUNDS).digest(), dtype="<u8")
    x = index.astype(np.uint64)
    outside = np.ones(x.shape, dtype=bool)
    while outside.any():  # the domain is under four times count, so a walk ends after four turns on average at most
        x[outside] = _feistel(x[outside], half, keys)
        outside = x >= np.uint64(count)
    return x.astype(np.int64)


def _feistel(x: UInt64s, half: int, keys: UInt64s) -> UInt64s:
    shift, mask = np.uint64(half), np.uint64((1 << half) - 1)
    left, right = x >> shift, x & mask
    for key in keys:
        left, right = right, left ^ (_mix(right ^ key) & mask)
    return (left << shift) | right


def _mix(x: UInt64s) -> UInt64s:
    """Spread every input bit over the low bits: two xor-shift-multiply rounds, modulo 2**64."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))
