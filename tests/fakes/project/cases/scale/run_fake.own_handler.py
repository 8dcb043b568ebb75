import os
import signal


def run(x, w, dy):
    os.kill(os.getpid(), signal.SIGBUS)
    return {"y": x * w, "dx": dy * w, "dw": (dy * x).sum((0, 1))}
