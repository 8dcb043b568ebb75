import tensorflow as tf


def _statistics(draw, seed, least, low, high, beyond):
    tf.random.set_seed(seed)
    x, following = draw(), draw()
    tf.random.set_seed(seed)
    same, other = tf.reduce_all(x == draw()), tf.reduce_any(x != following)
    x = tf.cast(x, tf.float64)
    facts = [tf.reduce_all((x >= low) & (x < high)), tf.size(tf.unique(x).y) >= least, same, other]
    shares = [tf.reduce_mean(x), tf.math.reduce_variance(x), _share(beyond(x))]
    return tf.stack([*shares, *(tf.cast(fact, tf.float64) for fact in facts)])


def _share(which):
    return tf.reduce_mean(tf.cast(which, tf.float64))


def uniform(like, seed, count, least, low, high):
    def draw():
        return tf.random.uniform([count], low, high, like.dtype)

    return _statistics(draw, seed, least, low, high, lambda x: x > low + 0.75 * (high - low))


def normal(like, seed, count, least, mean, spread):
    def draw():
        return tf.random.normal([count], mean, spread, like.dtype)

    return _statistics(draw, seed, least, -100.0, 100.0, lambda x: tf.abs(x - mean) > 2 * spread)


def truncated_normal(like, seed, count, least):
    def draw():
        return tf.random.truncated_normal([count], dtype=like.dtype)

    return _statistics(draw, seed, least, -2.0, 2.001, lambda x: tf.abs(x) > 1.5)


def whole(like, seed, count, low, high):
    tf.random.set_seed(seed)
    x = tf.random.uniform([count], low, high, like.dtype)
    return tf.stack([*(_share(x == n) for n in range(low, high)), _share((x < low) | (x >= high))])


def dropout(like, seed, count, rate):
    tf.random.set_seed(seed)
    y = tf.cast(tf.nn.dropout(tf.ones([count], like.dtype), rate), tf.float64)
    return tf.stack([tf.reduce_mean(y), _share(y == 0), tf.reduce_max(y)])


def categorical(weights, seed, count):
    tf.random.set_seed(seed)
    x = tf.random.categorical(tf.math.log(weights)[None], count)
    return tf.stack([_share(x == n) for n in range(weights.shape[0])])


def permutation(like, seed, count):
    tf.random.set_seed(seed)
    ordered = tf.range(count, dtype=like.dtype)
    x = tf.random.shuffle(ordered)
    return tf.stack([tf.reduce_all(tf.sort(x) == ordered), tf.reduce_any(x != ordered)])
