import jax
import jax.numpy as jnp


def embedding_grad(ids, dy):
    def lookup(table):
        wide = table.astype(jnp.promote_types(table.dtype, jnp.float32))  # the gradients meet in float32
        return jnp.take(wide, ids, axis=0).astype(table.dtype)

    _, backward = jax.vjp(lookup, jnp.zeros((8, 4), dy.dtype))
    (dtable,) = backward(dy)
    return {"ones": dtable[:, :2], "random": dtable[:, 2:]}
