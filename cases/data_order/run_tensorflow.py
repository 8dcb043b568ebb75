import keras
import tensorflow as tf


def _epoch(data):
    """Samples and labels in the order they came."""
    samples, labels = zip(*data, strict=True)
    return tf.concat(samples, 0), tf.concat(labels, 0)


def _by_sample(order, labels, size):
    found = tf.tensor_scatter_nd_update(tf.zeros(size, labels.dtype), order[:, None], labels)
    return {"times_seen": tf.math.bincount(tf.cast(order, tf.int32), minlength=size), "label_seen": found}


def _any(different):
    return tf.cast(tf.reduce_any(different), tf.int64)[None]


def _shuffled(sample, label, parallel):
    def loader(parallel):
        data = tf.data.Dataset.from_tensor_slices((sample, label)).shuffle(len(sample), seed=0)
        return data.map(lambda s, t: (s, t), num_parallel_calls=parallel).batch(5).prefetch(2)

    data = loader(parallel)
    (order, labels), (following, _) = _epoch(data), _epoch(data)
    again, _ = _epoch(loader(None))  # workers, too, are held against a loader without any
    return {
        **_by_sample(order, labels, len(sample)),
        "same_from_the_seed": tf.math.count_nonzero(order == again)[None],
        "other_than_storage": _any(order != sample),
        "other_next_epoch": _any(order != following),
    }


def epoch(sample, label):
    return _shuffled(sample, label, None)


def workers(sample, label):
    return _shuffled(sample, label, 2)


def split(sample, label):
    data = tf.data.Dataset.from_tensor_slices((sample, label))
    rest, kept = keras.utils.split_dataset(data, right_size=4, shuffle=True, seed=0)
    rest = rest.shuffle(len(sample), seed=1)
    held, trained = ([_epoch(part.batch(5)) for _ in range(2)] for part in (kept, rest))
    orders, labels = (tf.concat(parts, 0) for parts in zip(*held, *trained, strict=True))
    both = set(tf.concat([o for o, _ in held], 0).numpy()) & set(tf.concat([o for o, _ in trained], 0).numpy())
    return {**_by_sample(orders, labels, len(sample)), "apart": tf.constant([int(not both)]), "held_out": tf.constant([len(held[0][0])])}
