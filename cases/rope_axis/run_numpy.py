"""Rotary embedding as a product of complex numbers, in double precision, rounded once."""

import numpy as np


def half_split(q, dy):
    return _both(q, dy, _turn(q, -2), _pack_halves, _unpack_halves)


def interleaved(q, dy):
    return _both(q, dy, _turn(q, -2), _pack_neighbours, _unpack_neighbours)


def half_split_time_first(q, dy):
    return _both(q, dy, _turn(q, -3), _pack_halves, _unpack_halves)


def interleaved_time_first(q, dy):
    return _both(q, dy, _turn(q, -3), _pack_neighbours, _unpack_neighbours)


def _both(q, dy, turn, pack, unpack):
    y = unpack(pack(q.astype(np.float64)) * turn)
    dq = unpack(pack(dy.astype(np.float64)) * turn.conj())
    return {"y": y.astype(q.dtype), "dq": dq.astype(q.dtype)}


def _turn(q, time_axis):
    d, length = q.shape[-1], q.shape[time_axis]
    step = np.exp(1j * 10_000.0 ** (-np.arange(d // 2) / (d // 2)))
    turn = step ** np.arange(length)[:, None]
    return turn if time_axis == -2 else turn[:, None, :]


def _pack_halves(x):
    first, second = np.split(x, 2, axis=-1)
    return first + 1j * second


def _unpack_halves(z):
    return np.concatenate([z.real, z.imag], axis=-1)


def _pack_neighbours(x):
    return x[..., 0::2] + 1j * x[..., 1::2]


def _unpack_neighbours(z):
    return np.stack([z.real, z.imag], axis=-1).reshape(*z.shape[:-1], -1)
