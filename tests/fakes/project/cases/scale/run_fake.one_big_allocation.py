def run(x, w, dy):
    return {"y": bytearray(1 << 30)}
