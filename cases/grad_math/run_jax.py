import jax
import jax.numpy as jnp


def square(x):
    return jnp.square(x)


def reciprocal(x):
    return jnp.reciprocal(x)


def sqrt(x):
    return jnp.sqrt(x)


def rsqrt(x):
    return jax.lax.rsqrt(x)


def exp(x):
    return jnp.exp(x)


def exp2(x):
    return jnp.exp2(x)


def expm1(x):
    return jnp.expm1(x)


def log(x):
    return jnp.log(x)


def log2(x):
    return jnp.log2(x)


def log10(x):
    return jnp.log10(x)


def log1p(x):
    return jnp.log1p(x)


def sin(x):
    return jnp.sin(x)


def cos(x):
    return jnp.cos(x)


def tan(x):
    return jnp.tan(x)


def asin(x):
    return jnp.arcsin(x)


def acos(x):
    return jnp.arccos(x)


def atan(x):
    return jnp.arctan(x)


def sinh(x):
    return jnp.sinh(x)


def cosh(x):
    return jnp.cosh(x)


def tanh(x):
    return jnp.tanh(x)


def asinh(x):
    return jnp.arcsinh(x)


def acosh(x):
    return jnp.arccosh(x)


def atanh(x):
    return jnp.arctanh(x)


def erf(x):
    return jax.scipy.special.erf(x)


def erfc(x):
    return jax.scipy.special.erfc(x)


def lgamma(x):
    return jax.scipy.special.gammaln(x)


def sinc(x):
    return jnp.sinc(x)


def sign(x):
    return jnp.sign(x)


def floor(x):
    return jnp.floor(x)


def ceil(x):
    return jnp.ceil(x)


def trunc(x):
    return jnp.trunc(x)


def cbrt(x):
    return jnp.cbrt(x)


def absolute(x):
    return jnp.abs(x)


def neg(x):
    return -x


def round_half_even(x):
    return jnp.round(x)
