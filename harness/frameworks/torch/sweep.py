"""torch: gradients of any function of tensors, and the views a buffer can be seen through."""

import torch


def reset():
    torch._dynamo.reset()  # noqa: SLF001  the ninth example through one code object would hit its limit on recompiling


def view(buffer, layout, shape):
    if layout == "transposed":
        return buffer.transpose(-1, -2)
    if layout == "strided":
        return buffer[..., ::2]
    if layout == "offset":
        return buffer[1:]
    return buffer.expand(shape) if layout == "broadcast" else buffer


def gradients(function, floats, upstream):
    leaves = {name: tensor.detach().requires_grad_() for name, tensor in floats.items()}
    y = function(**leaves)
    y.backward(upstream)
    return {"y": y, **{f"d{name}": leaf.grad for name, leaf in leaves.items()}}
