import jax.numpy as jnp
from optax.contrib import MuonDimensionNumbers, muon


def _step(grad, axes):
    weight = jnp.zeros_like(grad)
    optimizer = muon(learning_rate=0.02, muon_weight_dimension_numbers=axes)
    update, _ = optimizer.update(grad, optimizer.init(weight), weight)
    return update


def stack(grad):
    return {"update": _step(grad, MuonDimensionNumbers(reduction_axis=2, output_axis=1))}


def kernel(grad):
    grad_HWIO = grad.transpose(2, 3, 1, 0)
    update_HWIO = _step(grad_HWIO, MuonDimensionNumbers(reduction_axis=(0, 1, 2), output_axis=3))
    return {"update": update_HWIO.transpose(3, 2, 0, 1)}
