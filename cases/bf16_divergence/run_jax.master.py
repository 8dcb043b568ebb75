import jax
import jax.numpy as jnp
import optax


def update_stall(weight, grad):
    dtype = weight.dtype
    master = weight.astype(jnp.promote_types(dtype, jnp.float32))
    optimizer = optax.sgd(learning_rate=2**-10)
    state = optimizer.init(master)
    for _ in range(100):
        dmaster = jax.grad(lambda w: jnp.sum(w.astype(dtype) * grad))(master)
        update, state = optimizer.update(dmaster, state, master)
        master = optax.apply_updates(master, update)
    weight = master.astype(dtype)
    return {"ones": weight[:1], "random": weight[1:]}
