import sys


def _garbage(tensors, path):
    with open(path, "wb") as out:
        out.write(b"\xff" * 100)


def run(x, w, dy):
    sys.modules["adapter"].save = _garbage
    return {"y": x * w, "dx": dy * w, "dw": (dy * x).sum((0, 1))}
