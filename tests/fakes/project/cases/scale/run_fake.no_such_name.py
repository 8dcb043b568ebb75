import numpy as np


def run(x, w, dy):
    return {"y": np.rms_norm(x, w)}
