import jax
import jax.numpy as jnp


def _gradient(f, x, v):
    return jax.grad(lambda x: jnp.sum(f(x) * v))(x)


def softmax(x, v):
    return _gradient(jax.nn.softmax, x, v)


def log_softmax(x, v):
    return _gradient(jax.nn.log_softmax, x, v)


def logsumexp(x, v):
    return _gradient(lambda x: jax.nn.logsumexp(x, axis=-1, keepdims=True), x, v)


def layer_norm(x, v):
    return _gradient(lambda x: jax.nn.standardize(x, axis=-1, epsilon=1e-5), x, v)


def norm(x, v):
    return _gradient(lambda x: jnp.linalg.norm(x, axis=-1, keepdims=True), x, v)


def variance(x, v):
    return _gradient(lambda x: jnp.var(x, axis=-1, keepdims=True), x, v)


def gelu(x, v):
    return _gradient(lambda x: jax.nn.gelu(x, approximate=False), x, v)


def tanh(x, v):
    return _gradient(jnp.tanh, x, v)


def silu(x, v):
    return _gradient(jax.nn.silu, x, v)


def softplus(x, v):
    return _gradient(jax.nn.softplus, x, v)


def exp(x, v):
    return _gradient(jnp.exp, x, v)


def sqrt(x, v):
    return _gradient(jnp.sqrt, x, v)


def divide(x, w, v):
    return _gradient(lambda w: x / w, w, v)


def matmul(x, w, v):
    return _gradient(lambda x: x @ w, x, v)


def cumsum(x, v):
    return _gradient(lambda x: jnp.cumsum(x, axis=-1) ** 2, x, v)


def conv1d(x, w, v):
    return _gradient(lambda x: jax.lax.conv_general_dilated(x, w, (1,), "VALID"), x, v)


def recomputed(x, w, v):
    @jax.checkpoint
    def f(x):
        z = x @ w
        return jnp.tanh(z) * jax.nn.silu(z)

    return _gradient(f, x, v)


def stopped(x, v):
    return _gradient(lambda x: jax.lax.stop_gradient(x) * x, x, v)


def rounded(x, v):
    return _gradient(lambda x: (x + jax.lax.stop_gradient(jnp.round(x) - x)) ** 2, x, v)


def reversed(x, v):
    return _gradient(lambda x: _reverse(x) ** 2, x, v)


@jax.custom_vjp
def _reverse(x):
    return x


_reverse.defvjp(lambda x: (x, None), lambda _, grad: (-0.5 * grad,))
