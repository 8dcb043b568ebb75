import keras
import tensorflow as tf


def sum(ones, random):
    return {"ones": tf.reduce_sum(ones, axis=1), "random": tf.reduce_sum(random, axis=1)}


def mean(ones, random):
    return {"ones": tf.reduce_mean(ones, axis=1), "random": tf.reduce_mean(random, axis=1)}


def softmax(logits):
    y = tf.nn.softmax(logits, axis=1)
    return {"uniform": y[:1], "random": y[1:]}


def _cross_entropy(logits, target):
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits))
    return tf.reshape(loss, [1]), tape.gradient(loss, logits)


def cross_entropy(logits, target):
    loss_uniform, dlogits_uniform = _cross_entropy(logits[:1], target[:1])
    loss_random, dlogits_random = _cross_entropy(logits[1:], target[1:])
    return {
        "loss_uniform": loss_uniform,
        "loss_random": loss_random,
        "dlogits_uniform": dlogits_uniform,
        "dlogits_random": dlogits_random,
    }


def bias_grad(dy):
    bias = tf.zeros([4], dy.dtype)
    with tf.GradientTape() as tape:
        tape.watch(bias)
        y = tf.nn.bias_add(tf.zeros_like(dy), bias)
    db = tape.gradient(y, bias, output_gradients=dy)
    return {"ones": db[:2], "random": db[2:]}


def embedding_grad(ids, dy):
    table = tf.zeros([8, 4], dy.dtype)
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = tf.nn.embedding_lookup(table, ids)
    dtable = tf.convert_to_tensor(tape.gradient(y, table, output_gradients=dy))  # from rows and their ids, repeated
    return {"ones": dtable[:, :2], "random": dtable[:, 2:]}


def cumsum(ones, random):
    return {"ones": tf.cumsum(ones, axis=1), "random": tf.cumsum(random, axis=1)}


def clip_norm(ones, random):
    return {"ones": tf.clip_by_global_norm([ones], 1.0)[0][0], "random": tf.clip_by_global_norm([random], 1.0)[0][0]}


def update_stall(weight, grad):
    variable = keras.Variable(weight, dtype=weight.dtype.name)
    optimizer = keras.optimizers.SGD(learning_rate=2**-10)
    for _ in range(100):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable.value * grad)
        optimizer.apply([tape.gradient(loss, variable.value)], [variable])
    weight = tf.convert_to_tensor(variable.value)
    return {"ones": weight[:1], "random": weight[1:]}
