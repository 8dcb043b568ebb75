"""Arithmetic of single numbers, of several tensors that broadcast, and the activations."""

import math

import numpy as np

from harness.sweep.kinds import channelwise, elementwise, halves, reduction
from harness.sweep.op import Asked, Op, Sweep

TORCH_SOFTPLUS = "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softplus.html"
PADDLE_SOFTPLUS = "https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/nn/functional/softplus_en.html"
PADDLE_HARDSIGMOID = "https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/nn/functional/hardsigmoid_en.html"
MLX_SELU = "https://ml-explore.github.io/mlx/build/html/python/nn/_autosummary_functions/mlx.nn.selu.html"
TINYGRAD_SELU = "https://docs.tinygrad.org/tensor/elementwise/#tinygrad.Tensor.selu"
LINEAR = "the identity where beta x is above 20"
SIX = "constants of six digits"
SATURATED = 40  # beyond it a sigmoid and a tanh are 1 in every type, and nothing is left to cancel


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def div(a, b):
    return a / b


def power(a, b):
    return a**b


def power_number(x, exponent):
    return x**exponent


def powers(d):
    """Bases of which two in three examples have zeros: there a power has a limit or none. 0 and 0.0 may be two functions."""
    asked = elementwise("base", exponent=(2, 0.0, 3, 0.5, 0, -1, 0.0, 1.5))(d)
    x = asked.tensors["x"]
    return Asked(tensors={"x": np.where(d.mask(*x.shape), x, 0.0) if d.choose(False, True, True) else x}, attributes=asked.attributes)


def remainder(a, b):
    return np.remainder(a, b)


def fmod(a, b):
    return np.fmod(a, b)


def maximum(a, b):
    return np.maximum(a, b)


def minimum(a, b):
    return np.minimum(a, b)


def clamp(x, low, high):
    return np.minimum(np.maximum(x, low), high)


def where(mask, a, b):
    return np.where(mask, a, b)


def lerp(a, b, weight):
    return a + weight * (b - a)


def hypot(a, b):
    return np.hypot(a, b)


def atan2(a, b):
    return np.arctan2(a, b)


def copysign(a, b):
    return np.copysign(a, b)


def logaddexp(a, b):
    return np.logaddexp(a, b)


def xlogy(a, b):
    return np.where((a == 0) & ~np.isnan(b), 0.0, a * np.log(b))


def sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def logsigmoid(x):
    return -np.logaddexp(0, -x)


def softplus(x):
    return np.logaddexp(0, x)


def softplus_beta(x, beta=1, threshold=20):
    return np.where(x * beta > threshold, x, np.logaddexp(0, beta * x) / beta)


def relu(x):
    return np.maximum(x, 0)


def relu6(x):
    return np.minimum(np.maximum(x, 0), 6)


def leaky_relu(x, slope):
    return np.where(x < 0, slope * x, x)


def prelu(x, weight):
    return np.where(x < 0, x * weight.reshape(-1, *[1] * (x.ndim - 2)), x)


def elu(x, alpha):
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


def celu(x, alpha):
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0) / alpha), x)


def selu(x):
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def selu_of_six_digits(x):
    return 1.0507 * elu(x, 1.67326)


def gelu(x):
    return x * np.vectorize(math.erfc, otypes=[float])(-x / np.sqrt(2)) / 2


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x * sigmoid(x)


def mish(x):
    return x * np.tanh(softplus(x))


def softsign(x):
    return x / (1 + np.abs(x))


def tanhshrink(x):
    return x - np.tanh(x)


def softshrink(x, threshold):
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0)


def hardshrink(x, threshold):
    return np.where(np.abs(x) <= threshold, 0, x)


def hardsigmoid(x):
    return np.minimum(np.maximum(x + 3, 0), 6) / 6


def hardsigmoid_of_seven_digits(x):
    return np.minimum(np.maximum(0.1666667 * x + 0.5, 0), 1)


def hardswish(x):
    return x * hardsigmoid(x)


def glu(x, axis):
    a, b = np.split(x, 2, axis=axis)
    return a * sigmoid(b)


def swiglu(a, b):
    return silu(a) * b


def _of_log_of_one_more(_, dy):
    """The logarithm of 1 + exp(x), where exp(x) is small."""
    return {"y": np.ones(dy.shape)}


def _of_sigmoid(asked, dy):
    """Of y (1 - y)."""
    return {"x": dy * sigmoid(asked.tensors["x"])}


def _of_silu(asked, dy):
    """Of s (1 + x (1 - s))."""
    return {"x": dy * _silu_slope(asked.tensors["x"])}


def _silu_slope(x):
    return sigmoid(x) * (1 + np.abs(x) * (np.abs(x) < SATURATED))


def _of_swiglu(asked, dy):
    return {"a": dy * np.abs(asked.tensors["b"]) * _silu_slope(asked.tensors["a"])}


def _of_glu(asked, dy):
    """Of a s (1 - s), the slope in the half that gates."""
    axis = asked.attributes["axis"]
    a, b = np.split(asked.tensors["x"], 2, axis=axis)
    return {"x": np.concatenate([0 * dy, dy * np.abs(a) * sigmoid(b)], axis=axis)}


def _of_mish(asked, dy):
    """Of t + x s (1 - t**2), t the tanh of softplus: of log(1 + exp(x))."""
    x = asked.tensors["x"]
    return {"y": np.abs(x), "x": dy * (np.tanh(softplus(x)) + 2 * np.abs(x) * (np.abs(x) < SATURATED) * sigmoid(x))}


def _of_gelu(asked, dy):
    """Of x (1 + erf(x / sqrt 2)) / 2, and of x - tanh(x)."""
    return {"y": np.abs(asked.tensors["x"]), "x": dy}


def _of_gelu_tanh(asked, dy):
    """Of x (1 + t) / 2, and in its slope x u' (1 - t**2) / 2, u what the tanh is taken of; beyond 8, t is 1 in every type."""
    x = np.abs(asked.tensors["x"])
    return {"y": x, "x": dy * (1 + np.where(x < 8, x, 0) * 0.8 * (1 + 0.134145 * np.where(x < 8, x, 0) ** 2))}


def _of_elu(asked, dy):
    """Of alpha (exp(x) - 1), and of y + alpha in its slope, of celu's (y + alpha) / alpha; 1.76 is selu's alpha."""
    below = max(1.0, asked.attributes.get("alpha", 1.76)) * (asked.tensors["x"] < 0)
    return {"y": below, "x": dy * below}


def _of_softsign(asked, dy):
    """Of 1 / n - |x| / n**2, n = 1 + |x|."""
    return {"x": dy / (1 + np.abs(asked.tensors["x"]))}


def _of_a(asked, _):
    """Of a - floor(a / b) b, and of a + weight (b - a)."""
    return {"y": np.abs(asked.tensors["a"])}


CASE = Sweep(
    claim="Each operation on single numbers has the value and the gradients of its definition, at kinks a subgradient.",
    failure="wrong-gradient",
    items={
        "add": Op(forward=add, takes=elementwise(names="ab")),
        "sub": Op(forward=sub, takes=elementwise(names="ab")),
        "mul": Op(forward=mul, takes=elementwise(names="ab")),
        "div": Op(forward=div, takes=elementwise(("line", "nonzero"), names="ab")),
        "power": Op(forward=power, takes=elementwise(("finite nonzero", "exponent"), names="ab"), roundings=6),
        "power_number": Op(forward=power_number, takes=powers),
        "remainder": Op(forward=remainder, takes=elementwise(("moderate", "divisor"), names="ab"), cancels=_of_a),
        "fmod": Op(forward=fmod, takes=elementwise(("moderate", "divisor"), names="ab"), cancels=_of_a),
        "maximum": Op(forward=maximum, takes=elementwise(names="ab")),
        "minimum": Op(forward=minimum, takes=elementwise(names="ab")),
        "clamp": Op(forward=clamp, takes=elementwise(low=(-1.0, -0.5, 0.0), high=(1.0, 0.5, 2.0))),
        "clamp_between": Op(forward=clamp, takes=elementwise(("line", "negative", "above one"), names=("x", "low", "high"))),
        "where": Op(forward=where, takes=elementwise(("mask", "line", "line"), names=("mask", "a", "b"))),
        "lerp": Op(forward=lerp, takes=elementwise(("moderate", "moderate", "share"), names=("a", "b", "weight")), cancels=_of_a),
        "hypot": Op(forward=hypot, takes=elementwise("nonzero", names="ab")),
        "atan2": Op(forward=atan2, takes=elementwise("finite nonzero", names="ab")),
        "copysign": Op(forward=copysign, takes=elementwise("nonzero", names="ab")),
        "logaddexp": Op(forward=logaddexp, takes=elementwise(names="ab"), cancels=_of_log_of_one_more),
        "xlogy": Op(forward=xlogy, takes=elementwise(("line", "positive"), names="ab")),
        "sigmoid": Op(forward=sigmoid, takes=elementwise(), cancels=_of_sigmoid),
        "logsigmoid": Op(forward=logsigmoid, takes=elementwise(), cancels=_of_log_of_one_more),
        "softplus": Op(
            forward=softplus,
            takes=elementwise(),
            cancels=_of_log_of_one_more,
            documented={"torch": (TORCH_SOFTPLUS, LINEAR, softplus_beta), "paddle": (PADDLE_SOFTPLUS, LINEAR, softplus_beta)},
        ),
        "softplus_beta": Op(
            forward=softplus_beta, takes=elementwise(beta=(1.0, 2.0, 0.5), threshold=(20.0, 2.0)), cancels=_of_log_of_one_more
        ),
        "relu": Op(forward=relu, takes=elementwise()),
        "relu6": Op(forward=relu6, takes=elementwise()),
        "leaky_relu": Op(forward=leaky_relu, takes=elementwise(slope=(0.01, 0.25, 0.0))),
        "prelu": Op(forward=prelu, takes=channelwise()),
        "elu": Op(forward=elu, takes=elementwise("spread", alpha=(1.0, 0.5, 2.0)), cancels=_of_elu),
        "celu": Op(forward=celu, takes=elementwise("spread", alpha=(1.0, 0.5, 2.0)), cancels=_of_elu),
        "selu": Op(
            forward=selu,
            takes=elementwise("spread"),
            cancels=_of_elu,
            documented={"mlx": (MLX_SELU, SIX, selu_of_six_digits), "tinygrad": (TINYGRAD_SELU, SIX, selu_of_six_digits)},
        ),
        "gelu": Op(forward=gelu, takes=elementwise("finite"), cancels=_of_gelu),
        "gelu_tanh": Op(forward=gelu_tanh, takes=elementwise("finite"), roundings=12, cancels=_of_gelu_tanh),
        "silu": Op(forward=silu, takes=elementwise("finite"), cancels=_of_silu),
        "mish": Op(forward=mish, takes=elementwise("finite"), roundings=6, cancels=_of_mish),
        "softsign": Op(forward=softsign, takes=elementwise("finite"), cancels=_of_softsign),
        "tanhshrink": Op(forward=tanhshrink, takes=elementwise(), cancels=_of_gelu),
        "softshrink": Op(forward=softshrink, takes=elementwise(threshold=(0.5, 0.25, 1.0))),
        "hardshrink": Op(forward=hardshrink, takes=elementwise(threshold=(0.5, 0.25, 1.0))),
        "hardtanh": Op(forward=clamp, takes=elementwise(low=(-1.0, -0.5), high=(1.0, 0.5))),
        "hardsigmoid": Op(
            forward=hardsigmoid,
            takes=elementwise(),
            documented={"paddle": (PADDLE_HARDSIGMOID, "a slope of 0.1666667", hardsigmoid_of_seven_digits)},
        ),
        "hardswish": Op(forward=hardswish, takes=elementwise("finite")),
        "glu": Op(forward=glu, takes=halves(), cancels=_of_glu),
        "swiglu": Op(forward=swiglu, takes=reduction("finite", names="ab", over="last"), cancels=_of_swiglu),
    },
)
