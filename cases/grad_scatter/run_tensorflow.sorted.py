import tensorflow as tf


def segment_sum(x, ids, count):  # noqa: ARG001  it is one more than the last id
    return tf.math.segment_sum(x, ids)


def segment_mean(x, ids, count):  # noqa: ARG001  it is one more than the last id
    return tf.math.segment_mean(x, ids)


def segment_max(x, ids, count):  # noqa: ARG001  it is one more than the last id
    return tf.math.segment_max(x, ids)


def segment_prod(x, ids, count):  # noqa: ARG001  it is one more than the last id
    return tf.math.segment_prod(x, ids)
