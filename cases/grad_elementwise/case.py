"""Operations on each number by itself, alone and of several tensors that broadcast."""

import numpy as np

from harness.sweep.kinds import elementwise
from harness.sweep.op import Op, Sweep


def relu(x):
    return np.maximum(x, 0)


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def mul(a, b):
    return a * b


CASE = Sweep(
    claim="Each operation on single numbers has the value and the gradients of its definition, at kinks a subgradient.",
    failure="wrong-gradient",
    items={
        "relu": Op(forward=relu, takes=elementwise()),
        "gelu_tanh": Op(forward=gelu_tanh, takes=elementwise(), roundings=12),
        "mul": Op(forward=mul, takes=elementwise(names="ab")),
    },
)
