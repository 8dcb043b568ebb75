def run(x, w, dy):
    if {x.dtype.name, w.dtype.name, dy.dtype.name} != {"float32"}:
        raise TypeError(f"asked in float32, got {x.dtype}")
    return {"y": x * w, "dx": dy * w, "dw": (dy * x).sum((0, 1))}
