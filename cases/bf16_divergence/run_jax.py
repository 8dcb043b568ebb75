import jax
import jax.numpy as jnp
import optax


def sum(ones, random):
    return {"ones": jnp.sum(ones, axis=1), "random": jnp.sum(random, axis=1)}


def mean(ones, random):
    return {"ones": jnp.mean(ones, axis=1), "random": jnp.mean(random, axis=1)}


def softmax(logits):
    y = jax.nn.softmax(logits, axis=1)
    return {"uniform": y[:1], "random": y[1:]}


def _cross_entropy(logits, target):
    def loss(logits):
        return optax.softmax_cross_entropy_with_integer_labels(logits, target).mean()

    return jax.value_and_grad(loss)(logits)


def cross_entropy(logits, target):
    loss_uniform, dlogits_uniform = _cross_entropy(logits[:1], target[:1])
    loss_random, dlogits_random = _cross_entropy(logits[1:], target[1:])
    return {
        "loss_uniform": loss_uniform.reshape(1),
        "loss_random": loss_random.reshape(1),
        "dlogits_uniform": dlogits_uniform,
        "dlogits_random": dlogits_random,
    }


def bias_grad(dy):
    bias = jnp.zeros(4, dy.dtype)
    _, backward = jax.vjp(lambda b: jnp.zeros_like(dy) + b, bias)
    (db,) = backward(dy)
    return {"ones": db[:2], "random": db[2:]}


def embedding_grad(ids, dy):
    table = jnp.zeros((8, 4), dy.dtype)
    _, backward = jax.vjp(lambda t: jnp.take(t, ids, axis=0), table)
    (dtable,) = backward(dy)
    return {"ones": dtable[:, :2], "random": dtable[:, 2:]}


def cumsum(ones, random):
    return {"ones": jnp.cumsum(ones, axis=1), "random": jnp.cumsum(random, axis=1)}


def _clipped(grad):
    update, _ = optax.clip_by_global_norm(1.0).update(grad, optax.EmptyState())
    return update


def clip_norm(ones, random):
    return {"ones": _clipped(ones), "random": _clipped(random)}


def update_stall(weight, grad):
    optimizer = optax.sgd(learning_rate=2**-10)
    state = optimizer.init(weight)
    for _ in range(100):
        dweight = jax.grad(lambda w: jnp.sum(w * grad))(weight)
        update, state = optimizer.update(dweight, state, weight)
        weight = optax.apply_updates(weight, update)
    return {"ones": weight[:1], "random": weight[1:]}
