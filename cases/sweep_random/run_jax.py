import jax
import jax.numpy as jnp


def _statistics(draw, seed, least, low, high, beyond):
    key = jax.random.key(seed)
    x, following, again = draw(key), draw(jax.random.fold_in(key, 1)), draw(key)
    same, other = jnp.array_equal(x, again), ~jnp.array_equal(x, following)
    x = x.astype(jnp.float64)
    facts = [jnp.all((x >= low) & (x < high)), jnp.unique(x).size >= least, same, other]
    return jnp.stack([x.mean(), x.var(), beyond(x).mean(), *(jnp.float64(fact) for fact in facts)])


def uniform(like, seed, count, least, low, high):
    def draw(key):
        return jax.random.uniform(key, (count,), like.dtype, low, high)

    return _statistics(draw, seed, least, low, high, lambda x: x > low + 0.75 * (high - low))


def normal(like, seed, count, least, mean, spread):
    def draw(key):
        return mean + spread * jax.random.normal(key, (count,), like.dtype)

    return _statistics(draw, seed, least, -100.0, 100.0, lambda x: jnp.abs(x - mean) > 2 * spread)


def truncated_normal(like, seed, count, least):
    def draw(key):
        return jax.random.truncated_normal(key, -2.0, 2.0, (count,), like.dtype)

    return _statistics(draw, seed, least, -2.0, 2.001, lambda x: jnp.abs(x) > 1.5)


def whole(like, seed, count, low, high):
    x = jax.random.randint(jax.random.key(seed), (count,), low, high, like.dtype)
    return jnp.stack([*((x == n).mean() for n in range(low, high)), ((x < low) | (x >= high)).mean()])


def bernoulli(like, seed, count, p):
    x = jax.random.bernoulli(jax.random.key(seed), jnp.full(count, p, like.dtype))
    return jnp.stack([x.mean(), ((x != 0) & (x != 1)).mean()])


def categorical(weights, seed, count):
    x = jax.random.categorical(jax.random.key(seed), jnp.log(weights), shape=(count,))
    return jnp.bincount(x, length=weights.size) / count


def permutation(like, seed, count):
    x = jax.random.permutation(jax.random.key(seed), jnp.arange(count, dtype=like.dtype))
    return jnp.stack([jnp.array_equal(jnp.sort(x), jnp.arange(count)), ~jnp.array_equal(x, jnp.arange(count))])
