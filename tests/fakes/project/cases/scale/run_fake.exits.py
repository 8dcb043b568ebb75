import os


def run(x, w, dy):
    os._exit(3)
