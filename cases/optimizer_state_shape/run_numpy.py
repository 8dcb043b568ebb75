"""Forward, backward and AdamW by hand; weight decay first, the moments as running differences."""

import numpy as np

LENGTHS = (16, 24, 17, 33, 16, 8, 40, 17, 1, 29)
LR, BETA1, BETA2, EPS, DECAY = 2.0**-5, 0.9, 0.999, 1e-8, 2.0**-4


def run(x, target, w, position):
    weights, losses = [w.copy(), position.copy()], []
    first, second = ([np.zeros_like(p) for p in weights] for _ in range(2))
    for step, length in enumerate(LENGTHS, 1):
        w, position = weights
        h = x[step - 1, :length] + position[:length]
        y = np.tanh(h @ w.T)
        error = y - target[step - 1, :length]
        losses.append(np.mean(error * error))
        dz = error * (1 - y * y) * w.dtype.type(2 / error.size)
        dposition = np.zeros_like(position)
        dposition[:length] = dz @ w
        for i, g in enumerate((dz.T @ h, dposition)):
            first[i] += (1 - BETA1) * (g - first[i])
            second[i] += (1 - BETA2) * (g * g - second[i])
            weights[i] *= 1 - LR * DECAY
            weights[i] -= LR / (1 - BETA1**step) * first[i] / (np.sqrt(second[i] / (1 - BETA2**step)) + EPS)
    return {"losses": np.array(losses), "w": weights[0], "position": weights[1]}
