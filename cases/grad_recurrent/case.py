"""Recurrent cells, and layers of them over a sequence, given their weights: wx [G H, D] and wh [G H, H], gate after gate, with a bias each.

Gates of an lstm: input, forget, cell, output; of a gru: reset, update, new, where the reset gate multiplies the product with wh and its bias, as cuDNN has it.
A layer answers the hidden states [B, T, H], then what is left in its state, all flattened into one.
"""

import numpy as np

from harness.sweep.attention import recurrent
from harness.sweep.op import Op, Sweep


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn_cell(x, h, wx, wh, bx, bh):
    return np.tanh(x @ wx.T + bx + h @ wh.T + bh)


def rnn_relu_cell(x, h, wx, wh, bx, bh):
    return np.maximum(x @ wx.T + bx + h @ wh.T + bh, 0)


def gru_cell(x, h, wx, wh, bx, bh):
    n = h.shape[-1]
    from_x, from_h = x @ wx.T + bx, h @ wh.T + bh
    xr, xz, xn = from_x[:, :n], from_x[:, n : 2 * n], from_x[:, 2 * n :]
    hr, hz, hn = from_h[:, :n], from_h[:, n : 2 * n], from_h[:, 2 * n :]
    r, z = sigmoid(xr + hr), sigmoid(xz + hz)
    return (1 - z) * np.tanh(xn + r * hn) + z * h


def lstm_step(x, h, c, wx, wh, bx, bh):
    n, gates = h.shape[-1], x @ wx.T + bx + h @ wh.T + bh
    i, f, g, o = gates[:, :n], gates[:, n : 2 * n], gates[:, 2 * n : 3 * n], gates[:, 3 * n :]
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def lstm_cell(x, h, c, wx, wh, bx, bh):
    return np.concatenate(lstm_step(x, h, c, wx, wh, bx, bh), axis=-1)


def over(cell, x, h, wx, wh, bx, bh):
    seen = []
    for t in range(x.shape[1]):
        h = cell(x[:, t], h, wx, wh, bx, bh)
        seen.append(h)
    return np.stack(seen, axis=1), h


def flat(*parts):
    return np.concatenate([part.ravel() for part in parts])


def rnn(x, h, wx, wh, bx, bh):
    return flat(*over(rnn_cell, x, h, wx, wh, bx, bh))


def rnn_relu(x, h, wx, wh, bx, bh):
    return flat(*over(rnn_relu_cell, x, h, wx, wh, bx, bh))


def gru(x, h, wx, wh, bx, bh):
    return flat(*over(gru_cell, x, h, wx, wh, bx, bh))


def lstm_over(x, h, c, wx, wh, bx, bh):
    seen = []
    for t in range(x.shape[1]):
        h, c = lstm_step(x[:, t], h, c, wx, wh, bx, bh)
        seen.append(h)
    return np.stack(seen, axis=1), h, c


def lstm(x, h, c, wx, wh, bx, bh):
    return flat(*lstm_over(x, h, c, wx, wh, bx, bh))


def backwards(x):
    return x[:, ::-1]


def gru_both(x, h, wx, wh, bx, bh, rh, rwx, rwh, rbx, rbh):
    there, _ = over(gru_cell, x, h, wx, wh, bx, bh)
    back, _ = over(gru_cell, backwards(x), rh, rwx, rwh, rbx, rbh)
    return np.concatenate([there, backwards(back)], axis=-1)


def lstm_both(x, h, c, wx, wh, bx, bh, rh, rc, rwx, rwh, rbx, rbh):
    there = lstm_over(x, h, c, wx, wh, bx, bh)[0]
    back = lstm_over(backwards(x), rh, rc, rwx, rwh, rbx, rbh)[0]
    return np.concatenate([there, backwards(back)], axis=-1)


def sized(asked, upstream):
    """A gate is off by u of the terms of its sum, whatever their signs leave, and each gradient sums over batch and steps terms of any sign.

    A slope of a gate is at most 1; through a step, a gradient grows at most by the sum of the sizes of wh (a gru and an lstm keep their state beside it).
    """
    sizes = {}
    for side in ("", "r") if "rh" in asked.tensors else ("",):
        t = {n: np.nan_to_num(np.abs(asked.tensors[side + n])) for n in ("h", "wx", "wh", "bx", "bh")}
        x, c = np.nan_to_num(np.abs(asked.tensors["x"])), np.abs(asked.tensors.get(side + "c", np.zeros(1)))
        steps = x.shape[1] if x.ndim == 3 else 1
        state = max(1.0, float(t["h"].max()), float(c.max())) + steps  # of an lstm's memory: it gains at most 1 a step
        term = float(x.max() * t["wx"].sum(axis=1).max() + state * t["wh"].sum(axis=1).max() + t["bx"].max() + t["bh"].max())
        grows = (1.0 + float(t["wh"].sum(axis=0).max())) ** steps
        inner = float(upstream.sum()) * grows * (1 + term)
        for name in ("h", "c", "bx", "bh"):
            sizes[side + name] = inner * state
        sizes[side + "wx"], sizes[side + "wh"] = inner * max(1.0, float(x.max())), inner * state
        sizes["x"] = sizes.get("x", 0.0) + inner * max(1.0, float(t["wx"].sum(axis=0).max()))
        sizes["y"] = max(sizes.get("y", 0.0), term * grows)
    return {n: size for n, size in sizes.items() if n in asked.tensors or n == "y"}


# A step: two products, three sums, a gate, and three products with it.
CELL, LAYER = 10, 14

CASE = Sweep(
    claim="A recurrent cell, and a layer of them over a sequence, has the value of its definition and the gradient of each weight.",
    failure="wrong-gradient",
    items={
        "rnn_cell": Op(forward=rnn_cell, takes=recurrent(1, cell=True), roundings=CELL, cancels=sized),
        "gru_cell": Op(forward=gru_cell, takes=recurrent(3, cell=True), roundings=CELL, cancels=sized),
        "lstm_cell": Op(forward=lstm_cell, takes=recurrent(4, cell=True, memory=True), roundings=CELL, cancels=sized),
        "rnn": Op(forward=rnn, takes=recurrent(1), roundings=LAYER, cancels=sized),
        "rnn_relu": Op(forward=rnn_relu, takes=recurrent(1), roundings=LAYER, cancels=sized),
        "gru": Op(forward=gru, takes=recurrent(3), roundings=LAYER, cancels=sized),
        "lstm": Op(forward=lstm, takes=recurrent(4, memory=True), roundings=LAYER, cancels=sized),
        "gru_both": Op(forward=gru_both, takes=recurrent(3, both=True), roundings=LAYER, cancels=sized),
        "lstm_both": Op(forward=lstm_both, takes=recurrent(4, memory=True, both=True), roundings=LAYER, cancels=sized),
    },
)
