"""tensorflow with keras 3 on it, one thread. A parent may import and set threads; one tensor there hangs a forked child."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # notes about the processor say nothing of a cell
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf
from safetensors.numpy import load_file, save_file

tf.config.threading.set_intra_op_parallelism_threads(1)  # it does not read OMP_NUM_THREADS
tf.config.threading.set_inter_op_parallelism_threads(1)


def start():
    tf.constant(0.0)  # starts the runtime and its threads: never in a parent that forks


def load(path, dtype):
    return {name: tf.constant(array) for name, array in load_file(path).items()}


def settle(out):
    return out  # its CPU kernels end before the call does


def compiled(function):
    return tf.function(function)


def save(tensors, path):
    # By numpy(): of one bfloat16 without axes, __array__ makes no array.
    save_file({name: np.ascontiguousarray(tf.convert_to_tensor(t).numpy()) for name, t in tensors.items()}, path)


def facts():
    return {"tensorflow": tf.__version__, "keras": keras.__version__, "threads": tf.config.threading.get_intra_op_parallelism_threads()}
