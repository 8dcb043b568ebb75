"""mlx: gradients of any function of arrays, and the views a buffer can be seen through."""

import mlx.core as mx


def view(buffer, layout, shape):
    if layout == "transposed":
        return mx.swapaxes(buffer, -1, -2)
    if layout == "strided":
        return buffer[..., ::2]
    if layout == "offset":
        return buffer[1:]
    return mx.broadcast_to(buffer, shape) if layout == "broadcast" else buffer


def gradients(function, floats, upstream):
    names = list(floats)
    (y,), found = mx.vjp(lambda *given: function(**dict(zip(names, given, strict=True))), list(floats.values()), [upstream])
    return {"y": y, **{f"d{name}": gradient for name, gradient in zip(names, found, strict=True)}}
