def run(x, w, dy):
    held = []
    while True:
        held.append(bytearray(b"x") * (16 << 20))
