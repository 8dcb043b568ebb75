import jax
import jax.numpy as jnp


@jax.jit
def forward(x, causal, window):
    return {"y_causal": jax.nn.softmax(x + causal), "y_window": jax.nn.softmax(x + window)}


@jax.jit
def step(x, causal, window):  # noqa: ARG001  it builds its own
    T = x.shape[-1]
    seen = jnp.tri(T, dtype=bool)
    near = seen & ~jnp.tri(T, k=-64, dtype=bool)
    return forward(x, jnp.where(seen, 0.0, -jnp.inf), jnp.where(near, 0.0, -jnp.inf))
