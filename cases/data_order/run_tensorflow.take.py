"""Shuffled, then split by take and skip: each pass over either part shuffles anew."""

import tensorflow as tf


def _epoch(data):
    """Samples and labels in the order they came."""
    samples, labels = zip(*data.batch(5), strict=True)
    return tf.concat(samples, 0), tf.concat(labels, 0)


def split(sample, label):
    data = tf.data.Dataset.from_tensor_slices((sample, label)).shuffle(len(sample), seed=0)
    held, trained = ([_epoch(part) for _ in range(2)] for part in (data.take(4), data.skip(4)))
    orders, labels = (tf.concat(parts, 0) for parts in zip(*held, *trained, strict=True))
    both = set(tf.concat([o for o, _ in held], 0).numpy()) & set(tf.concat([o for o, _ in trained], 0).numpy())
    return {
        "times_seen": tf.math.bincount(tf.cast(orders, tf.int32), minlength=len(sample)),
        "label_seen": tf.tensor_scatter_nd_update(tf.zeros(len(sample), label.dtype), orders[:, None], labels),
        "apart": tf.constant([int(not both)]),
        "held_out": tf.constant([len(held[0][0])]),
    }
