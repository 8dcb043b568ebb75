import tensorflow as tf


def index_select(x, ids, axis):
    return tf.gather(x, ids, axis=axis)


def index_select_outside(x, ids, axis):
    return tf.gather(x, ids, axis=axis)


def getitem_mask(x, mask):
    return tf.boolean_mask(x, mask)


def masked_select(x, mask):
    return tf.boolean_mask(x, tf.broadcast_to(mask, x.shape))


def select(x, axis, index):
    return x[(slice(None),) * (axis % len(x.shape)) + (index,)]


def take_along_axis(x, ids, axis):
    return tf.experimental.numpy.take_along_axis(x, ids, axis)


def embedding(table, ids):
    return tf.nn.embedding_lookup(table, ids)


def embedding_outside(table, ids):
    return tf.nn.embedding_lookup(table, ids)


def masked_fill(x, mask, value):
    return tf.where(mask, tf.cast(value, x.dtype), x)


def where(a, b, mask):
    return tf.where(mask, a, b)


def one_hot(ids, count):
    return tf.one_hot(ids, count)


def one_hot_outside(ids, count):
    return tf.one_hot(ids, count)


def searchsorted(x, v, right):
    found = tf.searchsorted(x, tf.reshape(v, [-1]), side="right" if right else "left")
    return tf.reshape(found, v.shape)


def bincount(ids, count):
    return tf.math.bincount(ids, minlength=count)
