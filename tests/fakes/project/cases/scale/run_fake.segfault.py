import ctypes


def run(x, w, dy):
    ctypes.string_at(0)
