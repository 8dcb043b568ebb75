import mlx.core as mx
from mlx.optimizers import AdamW


def step(w, g):
    params = {"w": w}
    optimizer = AdamW(learning_rate=2**-10, betas=[0.9, 0.999], eps=1e-8, weight_decay=0.125, bias_correction=True)
    for _ in range(40):
        grads = mx.grad(lambda p: (p["w"] * g).sum())(params)
        params = optimizer.apply_gradients(grads, params)
        mx.eval(params, optimizer.state)
    return {"after": params["w"]}
