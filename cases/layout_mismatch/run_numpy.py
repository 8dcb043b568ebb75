"""Each operation by hand on a contiguous copy, as products over windows or one-hot rows, in float64, rounded once."""

import numpy as np


def rms_norm(x, w, dy):
    x, w, dy = _wide(x.swapaxes(1, 2), w, dy)
    return _norm(x, w, dy, np.eye(x.shape[-1]))


def layer_norm(x, w, b, dy):
    x, w, b, dy = _wide(x.swapaxes(1, 2), w, b, dy)
    answer = _norm(x, w, dy, np.eye(x.shape[-1]) - 1 / x.shape[-1])
    return answer | {"y": answer["y"] + b.astype(np.float32), "db": dy.reshape(-1, dy.shape[-1]).sum(0).astype(np.float32)}


def softmax(x, dy):
    x, dy = _wide(x.swapaxes(1, 2), dy)
    y = np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))
    jacobian = y[..., :, None] * np.eye(y.shape[-1]) - y[..., :, None] * y[..., None, :]
    return _rounded(y=y, dx=np.einsum("btsr,btr->bts", jacobian, dy).swapaxes(1, 2))


def shared_right(a, b, dy):
    a, b, dy = _wide(a.swapaxes(1, 2), b, dy)
    return _rounded(y=a @ b, da=(dy @ b.T).swapaxes(1, 2), db=(a.swapaxes(1, 2) @ dy).sum(0))


def shared_left(a, b, dy):
    a, b, dy = _wide(a, b, dy)
    return _rounded(y=a @ b, da=(dy @ b.swapaxes(1, 2)).sum(0), db=a.T @ dy)


def heads(q, k, dy):
    q, k, dy = _wide(q.swapaxes(1, 2), k.swapaxes(1, 2), dy)
    return _rounded(y=q @ k.swapaxes(2, 3), dq=(dy @ k).swapaxes(1, 2), dk=(dy.swapaxes(2, 3) @ q).swapaxes(1, 2))


def conv1d(x, w, dy):
    x, w, dy = _wide(x, w, dy)
    y, dx, dw = _conv1d(x.swapaxes(1, 2), w, dy)
    return _rounded(y=y, dx=dx.swapaxes(1, 2), dw=dw)


def conv1d_kernel(x, w, dy):
    x, w, dy = _wide(x, w.transpose(2, 1, 0), dy)
    y, dx, dw = _conv1d(x, w, dy)
    return _rounded(y=y, dx=dx, dw=dw.transpose(2, 1, 0))


def conv2d(x, w, dy):
    x, w, dy = _wide(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), dy)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    around = np.pad(dy, ((0, 0), (0, 0), (1, 1), (2, 2)))
    back = np.lib.stride_tricks.sliding_window_view(around, w.shape[2:], axis=(2, 3))
    dx = np.einsum("bohwij,ocij->bchw", back, w[:, :, ::-1, ::-1])
    y, dw = np.einsum("bchwij,ocij->bohw", windows, w), np.einsum("bchwij,bohw->ocij", windows, dy)
    return _rounded(y=y, dx=dx.transpose(0, 2, 3, 1), dw=dw.transpose(2, 3, 1, 0))


def embedding(ids, w, dy):
    onehot = (ids.T[..., None] == np.arange(len(w))).astype(np.float64)
    return _rounded(y=onehot @ w, dw=np.einsum("btv,btd->vd", onehot, dy))


def _norm(x, w, dy, centre):
    c = x @ centre
    square = (c * c).sum(-1) + x.shape[-1] * 1e-5
    scale = np.sqrt(x.shape[-1] / square)[..., None]
    along = np.einsum("bhtd,d,bhtd->bht", dy, w, c) / square
    dx = scale * ((w * dy) @ centre - c * along[..., None])
    return _rounded(y=w * (scale * c), dx=dx.swapaxes(1, 2), dw=np.einsum("bhtd,bhtd->d", scale * dy, c))


def _conv1d(x, w, dy):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1))), 3, axis=2)
    back = np.lib.stride_tricks.sliding_window_view(np.pad(dy, ((0, 0), (0, 0), (1, 1))), 3, axis=2)
    dx = np.einsum("botk,ock->bct", back, w[:, :, ::-1])
    return np.einsum("bctk,ock->bot", windows, w), dx, np.einsum("bctk,bot->ock", windows, dy)


def _wide(*tensors):
    return [t.astype(np.float64) for t in tensors]


def _rounded(**answer):
    return {name: value.astype(np.float32) for name, value in answer.items()}
