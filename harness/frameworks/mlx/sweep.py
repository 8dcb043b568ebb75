"""mlx: gradients of any function of arrays, and the views a buffer can be seen through."""

import ml_dtypes
import mlx.core as mx
import numpy as np
from safetensors.numpy import load_file


def load(path, dtype):
    """Arrays of every type that mlx has; the adapter's knows those of the cases."""
    mx.set_default_device(mx.cpu)  # float64 exists there only
    return {name: _array(array) for name, array in load_file(path).items()}


def _array(array):
    # numpy's float64 would arrive as float32 unless it is asked for; bfloat16 travels as its bits.
    if array.dtype == ml_dtypes.bfloat16:
        return mx.array(array.view(np.uint16)).view(mx.bfloat16)
    return mx.array(array, dtype=mx.float64) if array.dtype == np.float64 else mx.array(array)


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
