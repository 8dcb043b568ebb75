import jax


@jax.jit
def forward(x, dy):  # noqa: ARG001  only the step needs dy
    return {"y": jax.nn.softmax(x)}


@jax.jit
def step(x, dy):
    y, backward = jax.vjp(jax.nn.softmax, x)
    (dx,) = backward(dy)
    return {"y": y, "dx": dx}
