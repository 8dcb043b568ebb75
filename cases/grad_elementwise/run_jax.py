import jax
import jax.numpy as jnp


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def div(a, b):
    return a / b


def power(a, b):
    return jnp.power(a, b)


def power_number(x, exponent):
    return x**exponent


def remainder(a, b):
    return jnp.remainder(a, b)


def fmod(a, b):
    return jnp.fmod(a, b)


def maximum(a, b):
    return jnp.maximum(a, b)


def minimum(a, b):
    return jnp.minimum(a, b)


def clamp(x, low, high):
    return jnp.clip(x, low, high)


def clamp_between(x, low, high):
    return jnp.clip(x, low, high)


def where(mask, a, b):
    return jnp.where(mask, a, b)


def hypot(a, b):
    return jnp.hypot(a, b)


def atan2(a, b):
    return jnp.arctan2(a, b)


def copysign(a, b):
    return jnp.copysign(a, b)


def logaddexp(a, b):
    return jnp.logaddexp(a, b)


def xlogy(a, b):
    return jax.scipy.special.xlogy(a, b)


def sigmoid(x):
    return jax.nn.sigmoid(x)


def logsigmoid(x):
    return jax.nn.log_sigmoid(x)


def softplus(x):
    return jax.nn.softplus(x)


def relu(x):
    return jax.nn.relu(x)


def relu6(x):
    return jax.nn.relu6(x)


def leaky_relu(x, slope):
    return jax.nn.leaky_relu(x, slope)


def elu(x, alpha):
    return jax.nn.elu(x, alpha)


def celu(x, alpha):
    return jax.nn.celu(x, alpha)


def selu(x):
    return jax.nn.selu(x)


def gelu(x):
    return jax.nn.gelu(x, approximate=False)


def gelu_tanh(x):
    return jax.nn.gelu(x, approximate=True)


def silu(x):
    return jax.nn.silu(x)


def mish(x):
    return jax.nn.mish(x)


def softsign(x):
    return jax.nn.soft_sign(x)


def hardsigmoid(x):
    return jax.nn.hard_sigmoid(x)


def hardswish(x):
    return jax.nn.hard_swish(x)


def glu(x, axis):
    return jax.nn.glu(x, axis)


def swiglu(a, b):
    return jax.nn.silu(a) * b
