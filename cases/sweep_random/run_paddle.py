import paddle


def _statistics(draw, seed, least, low, high, beyond):
    paddle.seed(seed)
    x, following = draw(), draw()
    paddle.seed(seed)
    same, other = paddle.equal_all(x, draw()), ~paddle.equal_all(x, following)
    x = x.astype("float64")
    facts = [((x >= low) & (x < high)).all(), paddle.unique(x).shape[0] >= least, same, other]
    shares = [x.mean(), x.var(unbiased=False), beyond(x).astype("float64").mean()]
    return paddle.to_tensor([float(share) for share in [*shares, *facts]], dtype="float64")


def uniform(like, seed, count, least, low, high):
    def draw():
        return paddle.uniform([count], like.dtype, low, high)

    return _statistics(draw, seed, least, low, high, lambda x: x > low + 0.75 * (high - low))


def normal(like, seed, count, least, mean, spread):
    def draw():
        return mean + spread * paddle.randn([count], like.dtype)

    return _statistics(draw, seed, least, -100.0, 100.0, lambda x: (x - mean).abs() > 2 * spread)


def truncated_normal(like, seed, count, least):
    def draw():
        initializer = paddle.nn.initializer.TruncatedNormal(0.0, 1.0)
        return paddle.create_parameter([count], like.dtype, default_initializer=initializer).detach()

    return _statistics(draw, seed, least, -2.0, 2.001, lambda x: x.abs() > 1.5)


def whole(like, seed, count, low, high):
    paddle.seed(seed)
    x = paddle.randint(low, high, [count], like.dtype)
    shares = [(x == n).astype("float64").mean() for n in range(low, high)]
    return paddle.stack([*shares, ((x < low) | (x >= high)).astype("float64").mean()])


def bernoulli(like, seed, count, p):
    paddle.seed(seed)
    x = paddle.bernoulli(paddle.full([count], p, like.dtype))
    return paddle.stack([(x == 1).astype("float64").mean(), ((x != 0) & (x != 1)).astype("float64").mean()])


def dropout(like, seed, count, rate):
    paddle.seed(seed)
    y = paddle.nn.functional.dropout(paddle.ones([count], like.dtype), rate).astype("float64")
    return paddle.stack([y.mean(), (y == 0).astype("float64").mean(), y.max()])


def categorical(weights, seed, count):
    paddle.seed(seed)
    x = paddle.multinomial(weights, count, replacement=True)
    return paddle.bincount(x, minlength=weights.shape[0]).astype("float64") / count


def without_return(weights, seed, count):
    paddle.seed(seed)
    may = int((weights > 0).sum())
    x = paddle.multinomial(paddle.expand(weights, [count, weights.shape[0]]), may, replacement=False)
    once = (paddle.sort(x, axis=1) == paddle.nonzero(weights).flatten()).all(axis=1).astype("float64").mean()
    first = paddle.bincount(x[:, 0], minlength=weights.shape[0]).astype("float64") / count
    return paddle.concat([once.reshape([1]), first])


def permutation(like, seed, count):
    paddle.seed(seed)
    x, ordered = paddle.randperm(count, like.dtype), paddle.arange(count, dtype=like.dtype)
    return paddle.stack([paddle.equal_all(paddle.sort(x), ordered), ~paddle.equal_all(x, ordered)])
