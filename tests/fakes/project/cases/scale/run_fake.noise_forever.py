import os


def run(x, w, dy):
    while True:
        os.write(1, b"noise " * 10_000)
