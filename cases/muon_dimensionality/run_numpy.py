import numpy as np


def _muon(grad_OI):
    # An odd polynomial of a matrix is that polynomial of its singular values.
    u, s, vt = np.linalg.svd(grad_OI, full_matrices=False)
    s /= np.sqrt(np.sum(s * s))
    for _ in range(5):
        s = s * (3.4445 + s * s * (-4.7750 + s * s * 2.0315))
    out, into = grad_OI.shape
    lr = 0.02 * (out / into) ** 0.5 if out > into else 0.02
    return -lr * (u * s) @ vt


def linear_wide(grad):
    return {"update": _muon(grad)}


def linear_tall(grad):
    return {"update": _muon(grad)}


def stack(grad):
    update = np.empty_like(grad)
    for i in range(len(grad)):
        update[i] = _muon(grad[i])
    return {"update": update}


def kernel(grad):
    return {"update": _muon(grad.reshape(6, 50)).reshape(6, 2, 5, 5)}


def embedding(grad):
    return {"update": np.ascontiguousarray(_muon(grad.T).T)}


def vector(grad):
    return {"update": _muon(grad[:, None])[:, 0]}
