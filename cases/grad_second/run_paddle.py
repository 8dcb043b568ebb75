import paddle
from paddle.nn import functional as F


def _gradient(f, x, v):
    return paddle.grad((f(x) * v).sum(), x, create_graph=True)[0]


def _leaf(x):
    x = x.detach()
    x.stop_gradient = False
    return x


def softmax(x, v):
    return _gradient(lambda x: F.softmax(x, axis=-1), x, v)


def log_softmax(x, v):
    return _gradient(lambda x: F.log_softmax(x, axis=-1), x, v)


def logsumexp(x, v):
    return _gradient(lambda x: paddle.logsumexp(x, axis=-1, keepdim=True), x, v)


def layer_norm(x, v):
    return _gradient(lambda x: F.layer_norm(x, x.shape[-1:]), x, v)


def norm(x, v):
    return _gradient(lambda x: paddle.linalg.norm(x, axis=-1, keepdim=True), x, v)


def variance(x, v):
    return _gradient(lambda x: paddle.var(x, axis=-1, unbiased=False, keepdim=True), x, v)


def gelu(x, v):
    return _gradient(F.gelu, x, v)


def tanh(x, v):
    return _gradient(paddle.tanh, x, v)


def silu(x, v):
    return _gradient(F.silu, x, v)


def softplus(x, v):
    return _gradient(F.softplus, x, v)


def exp(x, v):
    return _gradient(paddle.exp, x, v)


def sqrt(x, v):
    return _gradient(paddle.sqrt, x, v)


def divide(x, w, v):
    return _gradient(lambda w: x / w, w, v)


def matmul(x, w, v):
    return _gradient(lambda x: x @ w, x, v)


def cumsum(x, v):
    return _gradient(lambda x: paddle.square(paddle.cumsum(x, axis=-1)), x, v)


def conv1d(x, w, v):
    return _gradient(lambda x: F.conv1d(x, w), x, v)


def stopped(x, v):
    return _gradient(lambda x: x.detach() * x, _leaf(x), v).detach()


def rounded(x, v):
    return _gradient(lambda x: (x + (paddle.round(x) - x).detach()) ** 2, _leaf(x), v).detach()


def reversed(x, v):
    return _gradient(lambda x: _Reverse.apply(x) ** 2, _leaf(x), v).detach()


class _Reverse(paddle.autograd.PyLayer):
    @staticmethod
    def forward(_, x):
        return x.clone()

    @staticmethod
    def backward(_, grad):
        return -0.5 * grad
