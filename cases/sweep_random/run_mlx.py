import mlx.core as mx
from mlx import nn


def _statistics(draw, seed, least, low, high, beyond):
    mx.random.seed(seed)
    x, following = draw(), draw()
    mx.random.seed(seed)
    same, other = mx.array_equal(x, draw()), mx.logical_not(mx.array_equal(x, following))
    ordered = mx.sort(x)
    distinct = 1 + mx.sum(ordered[1:] != ordered[:-1])
    x = x.astype(mx.float32)
    facts = [mx.all((x >= low) & (x < high)), distinct >= least, same, other]
    return mx.stack([x.mean(), x.var(), beyond(x).astype(mx.float32).mean(), *(fact.astype(mx.float32) for fact in facts)])


def uniform(like, seed, count, least, low, high):
    def draw():
        return mx.random.uniform(low, high, (count,), like.dtype)

    return _statistics(draw, seed, least, low, high, lambda x: x > low + 0.75 * (high - low))


def normal(like, seed, count, least, mean, spread):
    def draw():
        return mx.random.normal((count,), like.dtype, mean, spread)

    return _statistics(draw, seed, least, -100.0, 100.0, lambda x: mx.abs(x - mean) > 2 * spread)


def truncated_normal(like, seed, count, least):
    def draw():
        return mx.random.truncated_normal(-2.0, 2.0, (count,), like.dtype)

    return _statistics(draw, seed, least, -2.0, 2.001, lambda x: mx.abs(x) > 1.5)


def whole(like, seed, count, low, high):
    mx.random.seed(seed)
    x = mx.random.randint(low, high, (count,), like.dtype)
    return mx.stack([*((x == n).mean() for n in range(low, high)), ((x < low) | (x >= high)).mean()])


def bernoulli(like, seed, count, p):
    mx.random.seed(seed)
    x = mx.random.bernoulli(mx.full((count,), p, like.dtype)).astype(mx.float32)
    return mx.stack([(x == 1).mean(), ((x != 0) & (x != 1)).mean()])


def dropout(like, seed, count, rate):
    mx.random.seed(seed)
    y = nn.Dropout(rate)(mx.ones(count, like.dtype)).astype(mx.float64)
    return mx.stack([y.mean(), (y == 0).astype(mx.float64).mean(), y.max()])


def categorical(weights, seed, count):
    mx.random.seed(seed)
    x = mx.random.categorical(mx.log(weights), num_samples=count)
    return mx.stack([(x == n).mean() for n in range(weights.size)])


def permutation(like, seed, count):
    mx.random.seed(seed)
    ordered = mx.arange(count, dtype=like.dtype)
    x = mx.random.permutation(ordered)
    return mx.stack([mx.array_equal(mx.sort(x), ordered), mx.logical_not(mx.array_equal(x, ordered))])
