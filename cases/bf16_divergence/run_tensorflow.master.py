import keras
import tensorflow as tf


def update_stall(weight, grad):
    master = keras.Variable(weight, dtype="float32" if weight.dtype == tf.bfloat16 else weight.dtype.name)
    optimizer = keras.optimizers.SGD(learning_rate=2**-10)
    for _ in range(100):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.cast(master.value, weight.dtype) * grad)
        optimizer.apply([tape.gradient(loss, master.value)], [master])
    weight = tf.cast(master.value, weight.dtype)
    return {"ones": weight[:1], "random": weight[1:]}
