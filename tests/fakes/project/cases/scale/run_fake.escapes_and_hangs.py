import os
import time


def run(x, w, dy):
    if os.fork() == 0:
        os.setsid()
    time.sleep(1e6)
