"""tensorflow: gradients of any function of tensors. Its tensors have no strides to see through: a view is a computation."""

import tensorflow as tf

LAYOUTS = ("contiguous",)


def view(buffer, layout, shape):
    return buffer


def gradients(function, floats, upstream):
    with tf.GradientTape() as tape:
        tape.watch(list(floats.values()))
        y = function(**floats)
    found = tape.gradient(y, floats, output_gradients=upstream)
    return {"y": y, **{f"d{name}": None if gradient is None else tf.convert_to_tensor(gradient) for name, gradient in found.items()}}
