def run(x, w, dy):
    return x * w
