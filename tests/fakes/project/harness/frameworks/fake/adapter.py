"""A framework that is numpy, so that a test needs no environment."""

import os
import signal

import numpy as np
from safetensors.numpy import load_file, save_file

TOOLCHAIN_ERRORS = ("NoCompiler",)
signal.signal(signal.SIGBUS, signal.SIG_IGN)  # some frameworks have handlers of their own


def load(path, dtype):
    return load_file(path)


def settle(out):
    return out


def compiled(function):
    return function


def save(tensors, path):
    save_file({name: np.ascontiguousarray(t) for name, t in tensors.items()}, path)


def facts():
    threads = {v: os.environ[v] for v in os.environ if v.endswith("_NUM_THREADS")}
    return {
        "cores": len(os.sched_getaffinity(0)),
        "malloc": os.environ.get("MALLOC_MMAP_THRESHOLD_", ""),
        "leaked": os.environ.get("SECRET", ""),
        "threads": sorted(set(threads.values())),
        "hash_seed": os.environ.get("PYTHONHASHSEED", ""),
    }
