"""jax: float64 needs its switch, which every jax cell has on; the arrays of a cell carry the asked dtype, so nothing is promoted by it."""

import os

os.environ["JAX_ENABLE_X64"] = "1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file, save_file


def start():
    jnp.asarray(np.zeros(1, np.float32))  # starts the backend and its threads: never in a parent that forks


def load(path, dtype):
    return {name: jnp.asarray(array) for name, array in load_file(path).items()}


def settle(out):
    return jax.block_until_ready(out)


def compiled(function):
    return jax.jit(function)


def save(tensors, path):
    save_file({name: np.ascontiguousarray(t) for name, t in tensors.items()}, path)


def facts():
    return {"jax": jax.__version__, "jaxlib": jax.lib.__version__, "x64": True}
