import torch
import torch.nn.functional as F


def rms_norm(x, w, dy):
    return _answer(dy, lambda x, w: F.rms_norm(x.transpose(1, 2), w.shape, w, eps=1e-5), x=x, w=w)


def layer_norm(x, w, b, dy):
    return _answer(dy, lambda x, w, b: F.layer_norm(x.transpose(1, 2), w.shape, w, b, eps=1e-5), x=x, w=w, b=b)


def softmax(x, dy):
    return _answer(dy, lambda x: torch.softmax(x.transpose(1, 2), dim=-1), x=x)


def shared_right(a, b, dy):
    return _answer(dy, lambda a, b: a.transpose(1, 2) @ b.expand(2, -1, -1), a=a, b=b)


def shared_left(a, b, dy):
    return _answer(dy, lambda a, b: a.expand(2, -1, -1) @ b, a=a, b=b)


def heads(q, k, dy):
    return _answer(dy, lambda q, k: q.transpose(1, 2) @ k.permute(0, 2, 3, 1), q=q, k=k)


def conv1d(x, w, dy):
    return _answer(dy, lambda x, w: F.conv1d(x.transpose(1, 2), w, padding=1), x=x, w=w)


def conv1d_kernel(x, w, dy):
    return _answer(dy, lambda x, w: F.conv1d(x, w.permute(2, 1, 0), padding=1), x=x, w=w)


def conv2d(x, w, dy):
    return _answer(dy, lambda x, w: F.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1)), x=x, w=w)


def embedding(ids, w, dy):
    return _answer(dy, lambda w: F.embedding(ids.T, w), w=w)


def _answer(dy, operation, **leaves):
    leaves = {name: leaf.detach().requires_grad_() for name, leaf in leaves.items()}
    y = operation(**leaves)
    y.backward(dy)
    return {"y": y} | {f"d{name}": leaf.grad for name, leaf in leaves.items()}
