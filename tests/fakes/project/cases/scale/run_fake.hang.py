import time


def run(x, w, dy):
    time.sleep(1e6)
