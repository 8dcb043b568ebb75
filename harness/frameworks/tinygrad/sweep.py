"""tinygrad: gradients of any function of tensors, and the views a buffer can be seen through."""

WHOLE = True  # a TinyJit replays what it recorded: a gradient asked outside of it would find no graph


def view(buffer, layout, shape):
    if layout == "transposed":
        return buffer.transpose(-1, -2)
    if layout == "strided":
        return buffer[..., ::2]
    if layout == "offset":
        return buffer[1:]
    return buffer.expand(*shape) if layout == "broadcast" else buffer


def gradients(function, floats, upstream):
    y = function(**floats)
    found = y.gradient(*floats.values(), gradient=upstream)
    return {"y": y, **{f"d{name}": gradient for name, gradient in zip(floats, found, strict=True)}}
