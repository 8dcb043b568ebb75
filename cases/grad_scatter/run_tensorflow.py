import tensorflow as tf


def rows_set(x, ids, v):
    return tf.tensor_scatter_nd_update(x, ids[:, None], v)


def rows_add(x, ids, v):
    return tf.tensor_scatter_nd_add(x, ids[:, None], v)


def rows_add_outside(x, ids, v):
    return tf.tensor_scatter_nd_add(x, ids[:, None], v)


def rows_max(x, ids, v):
    return tf.tensor_scatter_nd_max(x, ids[:, None], v)


def segment_sum(x, ids, count):
    return tf.math.unsorted_segment_sum(x, ids, count)


def segment_sum_outside(x, ids, count):
    return tf.math.unsorted_segment_sum(x, ids, count)


def segment_mean(x, ids, count):
    return tf.math.unsorted_segment_mean(x, ids, count)


def segment_max(x, ids, count):
    return tf.math.unsorted_segment_max(x, ids, count)


def segment_prod(x, ids, count):
    return tf.math.unsorted_segment_prod(x, ids, count)
