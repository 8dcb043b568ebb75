"""paddle on its CPU. bfloat16 is read as its bits: paddle's numpy form of it is uint16, and it refuses an array of ml_dtypes'."""

from pathlib import Path

import numpy as np
import paddle
from safetensors import deserialize
from safetensors.numpy import save_file

DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": np.uint16,
    "I64": np.int64,
}


def load(path, dtype):
    paddle.set_device("cpu")
    return {name: _tensor(**stored) for name, stored in deserialize(Path(path).read_bytes())}


def _tensor(data, dtype, shape):
    return paddle.to_tensor(np.frombuffer(data, DTYPES[dtype]).reshape(shape))


def settle(out):
    return out  # its CPU kernels end before the call does


def compiled(function):
    return paddle.jit.to_static(function)


def save(tensors, path):
    # float32 holds all of bfloat16.
    save_file({n: np.ascontiguousarray(t.astype("float32") if t.dtype == paddle.bfloat16 else t) for n, t in tensors.items()}, path)


def facts():
    return {"paddle": paddle.__version__, "device": paddle.get_device()}
