import jax
import jax.numpy as jnp


def _orders(seed, sample, epochs):
    keys = jax.random.split(jax.random.key(seed), epochs)
    return [
        jnp.concatenate([order[i : i + 5] for i in range(0, len(sample), 5)])
        for order in (jax.random.permutation(key, sample) for key in keys)
    ]


def _by_sample(order, label):
    return {"times_seen": jnp.bincount(order, length=len(label)), "label_seen": jnp.zeros_like(label).at[order].set(label[order])}


def epoch(sample, label):
    order, following = _orders(0, sample, 2)
    again, _ = _orders(0, sample, 2)
    return {
        **_by_sample(order, label),
        "same_from_the_seed": (order == again).sum().reshape(1),
        "other_than_storage": (order != sample).any().astype(int).reshape(1),
        "other_next_epoch": (order != following).any().astype(int).reshape(1),
    }


def split(sample, label):
    order = jax.random.permutation(jax.random.key(2), sample)
    kept, rest = order[:4], order[4:]
    seen = jnp.concatenate([kept, kept, *_orders(1, rest, 2)])
    return {**_by_sample(seen, label), "apart": 1 - jnp.isin(kept, rest).any().astype(int).reshape(1), "held_out": jnp.array([len(kept)])}
