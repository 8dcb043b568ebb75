import tensorflow as tf


def run(x, w, dy):
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        wide = x if x.dtype == tf.float64 else tf.cast(x, tf.float32)
        normed = wide * tf.math.rsqrt(tf.reduce_mean(tf.square(wide), axis=-1, keepdims=True) + 1e-5)
        y = tf.cast(normed, x.dtype) * w
    dx, dw = tape.gradient(y, [x, w], output_gradients=dy)
    return {"y": y, "dx": dx, "dw": dw}
