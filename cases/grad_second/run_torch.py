import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


def _gradient(f, x, v):
    return torch.autograd.grad((f(x) * v).sum(), x, create_graph=True)[0]


def softmax(x, v):
    return _gradient(lambda x: F.softmax(x, dim=-1), x, v)


def log_softmax(x, v):
    return _gradient(lambda x: F.log_softmax(x, dim=-1), x, v)


def logsumexp(x, v):
    return _gradient(lambda x: torch.logsumexp(x, dim=-1, keepdim=True), x, v)


def layer_norm(x, v):
    return _gradient(lambda x: F.layer_norm(x, x.shape[-1:]), x, v)


def norm(x, v):
    return _gradient(lambda x: torch.linalg.vector_norm(x, dim=-1, keepdim=True), x, v)


def variance(x, v):
    return _gradient(lambda x: torch.var(x, dim=-1, correction=0, keepdim=True), x, v)


def gelu(x, v):
    return _gradient(F.gelu, x, v)


def tanh(x, v):
    return _gradient(torch.tanh, x, v)


def silu(x, v):
    return _gradient(F.silu, x, v)


def softplus(x, v):
    return _gradient(F.softplus, x, v)


def exp(x, v):
    return _gradient(torch.exp, x, v)


def sqrt(x, v):
    return _gradient(torch.sqrt, x, v)


def divide(x, w, v):
    return _gradient(lambda w: x / w, w, v)


def matmul(x, w, v):
    return _gradient(lambda x: x @ w, x, v)


def cumsum(x, v):
    return _gradient(lambda x: torch.cumsum(x, dim=-1) ** 2, x, v)


def conv1d(x, w, v):
    return _gradient(lambda x: F.conv1d(x, w), x, v)


def recomputed(x, w, v):
    def f(x):
        z = x @ w
        return torch.tanh(z) * F.silu(z)

    return _gradient(lambda x: checkpoint(f, x, use_reentrant=False), x, v)


def stopped(x, v):
    return _gradient(lambda x: x.detach() * x, x.detach().requires_grad_(), v).detach()


def rounded(x, v):
    return _gradient(lambda x: (x + (x.round() - x).detach()) ** 2, x.detach().requires_grad_(), v).detach()


def reversed(x, v):
    return _gradient(lambda x: _Reverse.apply(x) ** 2, x.detach().requires_grad_(), v).detach()


class _Reverse(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x.view_as(x)

    @staticmethod
    def backward(_, grad):
        return -0.5 * grad
