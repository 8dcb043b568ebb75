import jax


def relu(x):
    return jax.nn.relu(x)


def gelu_tanh(x):
    return jax.nn.gelu(x, approximate=True)


def mul(a, b):
    return a * b
