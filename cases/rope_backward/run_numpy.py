"""The rotation as a product of complex numbers, its gradient as the product with their conjugates; rounded once."""

import numpy as np


def half_split(q, dy, cos, sin):
    return _both(q, dy, _turn(cos, sin), _pack_halves, _unpack_halves)


def interleaved(q, dy, cos, sin):
    return _both(q, dy, _turn(cos, sin), _pack_neighbours, _unpack_neighbours)


def half_split_time_first(q, dy, cos, sin):
    return _both(q, dy, _turn(cos, sin)[:, None], _pack_halves, _unpack_halves)


def _turn(cos, sin):
    return cos.astype(np.float64) + 1j * sin.astype(np.float64)


def _both(q, dy, turn, pack, unpack):
    y = unpack(pack(q.astype(np.float64)) * turn)
    dq = unpack(pack(dy.astype(np.float64)) * turn.conj())
    return {"y": y.astype(q.dtype), "dq": dq.astype(q.dtype)}


def _pack_halves(x):
    first, second = np.split(x, 2, axis=-1)
    return first + 1j * second


def _unpack_halves(z):
    return np.concatenate([z.real, z.imag], axis=-1)


def _pack_neighbours(x):
    return x[..., 0::2] + 1j * x[..., 1::2]


def _unpack_neighbours(z):
    return np.stack([z.real, z.imag], axis=-1).reshape(*z.shape[:-1], -1)
