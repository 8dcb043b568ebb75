"""numpy as a framework: the control column. Its run files are written by hand and re-ordered, so that a fault of the reference shows."""

import ml_dtypes  # noqa: F401  gives numpy its bfloat16
import numpy as np
from safetensors.numpy import load_file, save_file


def load(path, dtype):
    return load_file(path)


def settle(out):
    return out


def compiled(function):
    raise NotImplementedError("numpy has no compiled mode")


def save(tensors, path):
    save_file({name: np.ascontiguousarray(t) for name, t in tensors.items()}, path)


def facts():
    return {"numpy": np.__version__}
