from numpy.optim import Muon


def run(x, w, dy):
    return {"y": Muon(x)}
