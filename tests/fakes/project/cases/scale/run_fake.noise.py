import sys


def run(x, w, dy):
    for _ in range(10_000):
        sys.stdout.write("noise " * 171 + "\n")
    sys.stdout.write('{"end": "answer"}\n')
    return {"y": x * w, "dx": dy * w, "dw": (dy * x).sum((0, 1))}
