import jax


def run(x, w, b, dy):
    y, backward = jax.vjp(lambda x, w, b: jax.nn.standardize(x, epsilon=1e-5) * w + b, x, w, b)
    dx, dw, db = backward(dy)
    return {"y": y, "dx": dx, "dw": dw, "db": db}
