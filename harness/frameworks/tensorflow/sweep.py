"""tensorflow: gradients of any function of tensors. Its tensors have no strides to see through: a view is a computation, and is asked as one."""

import tensorflow as tf


def view(buffer, layout, shape):
    if layout == "transposed":
        return tf.linalg.matrix_transpose(buffer)
    if layout == "strided":
        return buffer[..., ::2]
    if layout == "offset":
        return buffer[1:]
    return tf.broadcast_to(buffer, shape) if layout == "broadcast" else buffer


def gradients(function, floats, upstream):
    with tf.GradientTape() as tape:
        tape.watch(list(floats.values()))
        y = function(**floats)
    found = tape.gradient(y, floats, output_gradients=upstream)
    return {"y": y, **{f"d{name}": None if gradient is None else tf.convert_to_tensor(gradient) for name, gradient in found.items()}}
