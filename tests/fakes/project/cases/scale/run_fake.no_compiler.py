class WrappedError(Exception):
    pass


def run(x, w, dy):
    raise WrappedError("NoCompiler: g++ not found\n\nSet SOMETHING=1 for more")
