"""Samplers of sums of products and of linear equations; careful that every axis can be 1, and that a matrix which is inverted is far from singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.sweep.draw import Draw
from harness.sweep.kinds import LONG, Sampler
from harness.sweep.op import Asked


def lettered(
    *, sizes: tuple[int, ...] = (2, 3, 4, 1), long: str = "", attributes: dict[str, tuple[Any, ...]] | None = None, **names: str
) -> Sampler:
    """Tensors whose axes are letters, the same letter of the same size: ``a="ij", b="jk"``. A capital may be 1 where the small letter is not; ``.``
    stands for up to three leading axes. One of the letters in ``long`` is sometimes an axis over which a low sum is long.
    """

    def takes(d: Draw) -> Asked:
        many = d.choose("", *long) if long else ""
        size = {letter: LONG if letter == many else d.choose(*sizes) for letter in sorted(set("".join(names.values()).lower()) - {"."})}
        lead = d.choose((2,), (), (3, 2), (2, 1, 3))
        tensors = {}
        for name, letters in names.items():
            shape = [s for x in letters for s in (lead if x == "." else (d.choose(size[x.lower()], 1),) if x.isupper() else (size[x],))]
            tensors[name] = d.floats(*shape, styles=("ones", "positive", "grid") if many else ("grid", "normal"))
        return Asked(tensors=tensors, attributes={name: d.choose(*of) for name, of in (attributes or {}).items()})

    return takes


def batched(*ranks: tuple[int, int]) -> Sampler:
    """Two tensors of some of these ranks whose last axes fit a matrix product, with leading axes that broadcast."""

    def takes(d: Draw) -> Asked:
        m, k, n = d.choose(2, 3, 1), d.choose(2, 3, 4, 1), d.choose(3, 2, 1)
        rank_a, rank_b = d.choose(*ranks)
        lead = [d.choose(2, 3, 1) for _ in range(max(rank_a, rank_b) - 2)]
        a, b = ([d.choose(size, 1) for size in lead[len(lead) - (rank - 2) :]] if rank > 2 else [] for rank in (rank_a, rank_b))
        shapes = {"a": [*a, m, k] if rank_a > 1 else [k], "b": [*b, k, n] if rank_b > 1 else [k]}
        return Asked(tensors={name: d.floats(*shape) for name, shape in shapes.items()})

    return takes


def longest(asked: Asked) -> int:
    """An upper bound of the numbers in a sum of products, of the value or of a gradient."""
    return int(max(size for tensor in asked.tensors.values() for size in (*tensor.shape, 1)))


def empty(d: Draw) -> Asked:
    """A matrix product with an axis of no numbers: a sum of none is 0."""
    m, k, n = d.choose((2, 0, 3), (0, 2, 3), (2, 3, 0), (1, 0, 1))
    lead = d.choose((), (2,))
    return Asked(tensors={"a": d.floats(*lead, m, k), "b": d.floats(*lead, k, n)})


def whole_matrices(d: Draw) -> Asked:
    """Of the asked type, with sums that it holds."""
    m, k, n = d.choose(2, 3, 1), d.choose(3, 2, 5, 1), d.choose(2, 4, 1)
    lead = d.choose((), (2,))
    return Asked(tensors={"a": d.whole_numbers(*lead, m, k), "b": d.whole_numbers(*lead, k, n)})


def square(right: str = "", attributes: dict[str, tuple[Any, ...]] | None = None) -> Sampler:
    """``a``: square matrices whose diagonal outweighs the rest of each row; ``right``: names of other matrices with as many rows.

    The rest of a row sums to at most (n - 1) / 2 and the diagonal is at least n: each eigenvalue is n / 2 or more from 0. The first axis is a batch's,
    so that one seen again in each row of the buffer is a matrix seen again.
    """

    def takes(d: Draw) -> Asked:
        n, before = d.choose(2, 3, 1, 4), d.choose((1,), (2,), (3, 1))
        a = np.round(d.floats(*before, n, n).clip(-2, 2) * 8) / 32
        a[..., range(n), range(n)] = n + np.abs(a[..., range(n), range(n)])
        others = {name: d.floats(*before, n, d.choose(2, 1, 3)) for name in right}
        return Asked(tensors={"a": a, **others}, attributes={name: d.choose(*of) for name, of in (attributes or {}).items()})

    return takes
