class UnprintableError(Exception):
    def __str__(self):
        raise ValueError("no")


def run(x, w, dy):
    raise UnprintableError
