import mlx.core as mx
from mlx.optimizers import Adam


def rms_norm(x, w, dy):
    (y,), (dx, dw) = mx.vjp(lambda x, w: mx.fast.rms_norm(x, w, 2**-26), [x, w], [dy])
    return {"y": y, "dx": dx, "dw": dw}


def layer_norm(x, w, b, dy):
    (y,), (dx, dw, db) = mx.vjp(lambda x, w, b: mx.fast.layer_norm(x, w, b, 2**-26), [x, w, b], [dy])
    return {"y": y, "dx": dx, "dw": dw, "db": db}


def adam(w, g):
    params = {"w": w}
    optimizer = Adam(learning_rate=2**-4, betas=[0.9, 0.999], eps=1e-8, bias_correction=True)
    for grad in g:
        grads = mx.grad(lambda p, grad: (p["w"] * grad).sum())(params, grad)
        params = optimizer.apply_gradients(grads, params)
        mx.eval(params)
    return {"after": params["w"]}
