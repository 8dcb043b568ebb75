import paddle


def _given(cell, wx, wh, bx, bh):
    """A cell of the given tensors: a parameter is deleted before a tensor takes its name."""
    for name, t in {"weight_ih": wx, "weight_hh": wh, "bias_ih": bx, "bias_hh": bh}.items():
        delattr(cell, name)
        setattr(cell, name, t)
    return cell


def _sizes(x, wh):
    return x.shape[-1], wh.shape[-1]


def _flat(*parts):
    return paddle.concat([part.flatten() for part in parts])


def rnn_cell(x, h, wx, wh, bx, bh):
    return _given(paddle.nn.SimpleRNNCell(*_sizes(x, wh)), wx, wh, bx, bh)(x, h)[0]


def gru_cell(x, h, wx, wh, bx, bh):
    return _given(paddle.nn.GRUCell(*_sizes(x, wh)), wx, wh, bx, bh)(x, h)[0]


def lstm_cell(x, h, c, wx, wh, bx, bh):
    _, state = _given(paddle.nn.LSTMCell(*_sizes(x, wh)), wx, wh, bx, bh)(x, (h, c))
    return paddle.concat(state, axis=-1)


def rnn(x, h, wx, wh, bx, bh):
    return _flat(*paddle.nn.RNN(_given(paddle.nn.SimpleRNNCell(*_sizes(x, wh)), wx, wh, bx, bh))(x, h))


def rnn_relu(x, h, wx, wh, bx, bh):
    return _flat(*paddle.nn.RNN(_given(paddle.nn.SimpleRNNCell(*_sizes(x, wh), activation="relu"), wx, wh, bx, bh))(x, h))


def gru(x, h, wx, wh, bx, bh):
    return _flat(*paddle.nn.RNN(_given(paddle.nn.GRUCell(*_sizes(x, wh)), wx, wh, bx, bh))(x, h))


def lstm(x, h, c, wx, wh, bx, bh):
    y, state = paddle.nn.RNN(_given(paddle.nn.LSTMCell(*_sizes(x, wh)), wx, wh, bx, bh))(x, (h, c))
    return _flat(y, *state)


def gru_both(x, h, wx, wh, bx, bh, rh, rwx, rwh, rbx, rbh):
    there, back = (_given(paddle.nn.GRUCell(*_sizes(x, wh)), *weights) for weights in ((wx, wh, bx, bh), (rwx, rwh, rbx, rbh)))
    return paddle.nn.BiRNN(there, back)(x, (h, rh))[0]


def lstm_both(x, h, c, wx, wh, bx, bh, rh, rc, rwx, rwh, rbx, rbh):
    there, back = (_given(paddle.nn.LSTMCell(*_sizes(x, wh)), *weights) for weights in ((wx, wh, bx, bh), (rwx, rwh, rbx, rbh)))
    return paddle.nn.BiRNN(there, back)(x, ((h, c), (rh, rc)))[0]
