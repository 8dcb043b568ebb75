def run(x, w, dy):
    return {"y": x * w, "dx": (dy * w).swapaxes(1, 2).reshape(dy.shape), "dw": (dy * x).sum((0, 1))}
