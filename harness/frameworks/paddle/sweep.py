"""paddle: gradients of any function of tensors, and the views a buffer can be seen through."""

import paddle


def view(buffer, layout, shape):
    if layout == "transposed":
        return buffer.transpose([*range(buffer.ndim - 2), buffer.ndim - 1, buffer.ndim - 2])
    if layout == "strided":
        return buffer[..., ::2]
    if layout == "offset":
        return buffer[1:]
    return paddle.expand(buffer, list(shape)) if layout == "broadcast" else buffer


def gradients(function, floats, upstream):
    leaves = {name: tensor.detach() for name, tensor in floats.items()}
    for leaf in leaves.values():
        leaf.stop_gradient = False
    y = function(**leaves)
    y.backward(upstream)
    return {"y": y, **{f"d{name}": leaf.grad for name, leaf in leaves.items()}}
