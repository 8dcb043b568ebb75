import torch
from torch.func import functional_call


def _names(tensors, suffix):
    return {f"{n}{suffix}": t for n, t in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), tensors, strict=True)}


def _sizes(x, wh):
    return {"input_size": x.shape[-1], "hidden_size": wh.shape[-1], "dtype": x.dtype}


def _cell(kind, x, state, weights):
    layer = kind(**_sizes(x, weights[1]))
    return functional_call(layer, _names(weights, ""), (x, state))


def _layer(kind, x, state, weights, **options):
    layer = kind(**_sizes(x, weights[1]), batch_first=True, bidirectional=len(weights) > 4, **options)
    named = _names(weights[:4], "_l0") | (_names(weights[4:], "_l0_reverse") if len(weights) > 4 else {})
    return functional_call(layer, named, (x, state))


def rnn_cell(x, h, wx, wh, bx, bh):
    return _cell(torch.nn.RNNCell, x, h, (wx, wh, bx, bh))


def gru_cell(x, h, wx, wh, bx, bh):
    return _cell(torch.nn.GRUCell, x, h, (wx, wh, bx, bh))


def lstm_cell(x, h, c, wx, wh, bx, bh):
    return torch.cat(_cell(torch.nn.LSTMCell, x, (h, c), (wx, wh, bx, bh)), dim=-1)


def rnn(x, h, wx, wh, bx, bh):
    y, h = _layer(torch.nn.RNN, x, h[None], (wx, wh, bx, bh))
    return torch.cat([y.flatten(), h.flatten()])


def rnn_relu(x, h, wx, wh, bx, bh):
    y, h = _layer(torch.nn.RNN, x, h[None], (wx, wh, bx, bh), nonlinearity="relu")
    return torch.cat([y.flatten(), h.flatten()])


def gru(x, h, wx, wh, bx, bh):
    y, h = _layer(torch.nn.GRU, x, h[None], (wx, wh, bx, bh))
    return torch.cat([y.flatten(), h.flatten()])


def lstm(x, h, c, wx, wh, bx, bh):
    y, (h, c) = _layer(torch.nn.LSTM, x, (h[None], c[None]), (wx, wh, bx, bh))
    return torch.cat([y.flatten(), h.flatten(), c.flatten()])


def gru_both(x, h, wx, wh, bx, bh, rh, rwx, rwh, rbx, rbh):
    return _layer(torch.nn.GRU, x, torch.stack([h, rh]), (wx, wh, bx, bh, rwx, rwh, rbx, rbh))[0]


def lstm_both(x, h, c, wx, wh, bx, bh, rh, rc, rwx, rwh, rbx, rbh):
    state = torch.stack([h, rh]), torch.stack([c, rc])
    return _layer(torch.nn.LSTM, x, state, (wx, wh, bx, bh, rwx, rwh, rbx, rbh))[0]
