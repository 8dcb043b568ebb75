def run(x, w):
    return {"y": x * w}
