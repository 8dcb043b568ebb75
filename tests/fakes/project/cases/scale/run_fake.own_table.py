AXES = {"x": 0}


def run(x, w, dy):
    return {"y": x.sum(AXES["y"])}
