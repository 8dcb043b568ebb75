import tensorflow as tf


def bias_grad(dy):
    bias = tf.zeros([4], dy.dtype)
    with tf.GradientTape() as tape:
        tape.watch(bias)
        y = tf.zeros_like(dy) + bias  # its gradient is a reduce_sum
    db = tape.gradient(y, bias, output_gradients=dy)
    return {"ones": db[:2], "random": db[2:]}
