"""mlx on its CPU device: lazy, so an answer is evaluated inside the cell, where its errors belong. Its own safetensors reader has no float64."""

import ml_dtypes
import mlx.core as mx
import numpy as np
from safetensors.numpy import load_file, save_file

DTYPES = {"float64": mx.float64, "float32": mx.float32, "float16": mx.float16, "bfloat16": mx.bfloat16, "int64": mx.int64}


def load(path, dtype):
    mx.set_default_device(mx.cpu)  # float64 exists there only
    return {name: _tensor(array) for name, array in load_file(path).items()}


def _tensor(array):
    # numpy's float64 would arrive as float32 unless it is asked for; bfloat16 travels as its bits.
    if array.dtype == ml_dtypes.bfloat16:
        return mx.array(array.view(np.uint16)).view(mx.bfloat16)
    return mx.array(array, dtype=DTYPES[array.dtype.name])


def settle(out):
    mx.eval(out)
    return out


def release():
    mx.clear_cache()


def compiled(function):
    return mx.compile(function)


def save(tensors, path):
    # bfloat16 has no numpy form in mlx; float32 holds all of it. A transposed array keeps its strides, which safetensors would write as if they were not there.
    save_file({n: np.ascontiguousarray(t.astype(mx.float32) if t.dtype == mx.bfloat16 else t) for n, t in tensors.items()}, path)


def facts():
    return {"mlx": mx.__version__, "device": str(mx.default_device())}
