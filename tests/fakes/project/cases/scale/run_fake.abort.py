import os


def run(x, w, dy):
    os.abort()
