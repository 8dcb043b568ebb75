import mlx.core as mx
from mlx import nn


def _sizes(x, wh):
    return x.shape[-1], wh.shape[-1]


def _gru(x, wx, wh, bx, bh):
    layer = nn.GRU(*_sizes(x, wh))
    size = wh.shape[-1]
    left = mx.concatenate([bx[: 2 * size] + bh[: 2 * size], bx[2 * size :]])  # it has one bias but in the new gate
    layer.update({"Wx": wx, "Wh": wh, "b": left, "bhn": bh[2 * size :]})
    return layer


def _lstm(x, wx, wh, bx, bh):
    layer = nn.LSTM(*_sizes(x, wh))
    layer.update({"Wx": wx, "Wh": wh, "bias": bx + bh})
    return layer


def _rnn(x, wx, wh, bx, bh, **options):
    layer = nn.RNN(*_sizes(x, wh), **options)
    layer.update({"Wxh": wx, "Whh": wh, "bias": bx + bh})
    return layer


def _flat(*parts):
    return mx.concatenate([part.flatten() for part in parts])


def rnn(x, h, wx, wh, bx, bh):
    y = _rnn(x, wx, wh, bx, bh)(x, h)
    return _flat(y, y[:, -1])


def rnn_relu(x, h, wx, wh, bx, bh):
    y = _rnn(x, wx, wh, bx, bh, nonlinearity=nn.relu)(x, h)
    return _flat(y, y[:, -1])


def gru(x, h, wx, wh, bx, bh):
    y = _gru(x, wx, wh, bx, bh)(x, h)
    return _flat(y, y[:, -1])


def lstm(x, h, c, wx, wh, bx, bh):
    y, memory = _lstm(x, wx, wh, bx, bh)(x, h, c)
    return _flat(y, y[:, -1], memory[:, -1])
