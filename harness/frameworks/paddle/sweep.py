"""paddle: gradients of any function of tensors, and the views a buffer can be seen through."""

from pathlib import Path

import numpy as np
import paddle
from safetensors import deserialize

# bfloat16 is read as its bits: paddle's numpy form of it is uint16.
DTYPES = {
    "BOOL": np.bool_,
    "I8": np.int8,
    "U8": np.uint8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "F16": np.float16,
    "BF16": np.uint16,
    "F32": np.float32,
    "F64": np.float64,
}


def load(path, dtype):
    """Tensors of every type that paddle has; the adapter's knows those of the cases."""
    paddle.set_device("cpu")
    return {name: _tensor(**stored) for name, stored in deserialize(Path(path).read_bytes())}


def _tensor(data, dtype, shape):
    return paddle.to_tensor(np.frombuffer(data, DTYPES[dtype]).reshape(shape))


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


def unasked(raised):
    """On the CPU most operations have kernels of float32 and float64 alone. One that has a forward and no backward of a type is asked."""
    return "is not registered" in str(raised) and "_grad`" not in str(raised)
