"""The models of arbiter_lms by framework."""

from arbiter_lms import ROWS, D, T, V, batch, keras_lm, mlx_lm, tinygrad_lm, torch_lm  # noqa: F401
from arbiter_lms_jax import equinox_lm, jax_lm, nnx_lm

LMS = {
    "torch": torch_lm,
    "jax": jax_lm,
    "equinox": equinox_lm,
    "nnx": nnx_lm,
    "keras": keras_lm,
    "mlx": mlx_lm,
    "tinygrad": tinygrad_lm,
}
MIX = {
    "keras": "lm.mix.kernel",
    "jax": "layers.0.mix",
    "equinox": "mix.weight",
    "nnx": "mix.kernel",
    "torch": "mix.weight",
    "mlx": "mix.weight",
    "tinygrad": "mix.weight",
}
PACKAGES = {"equinox": "equinox", "nnx": "flax", "jax": "optax"}  # where the name is not that of the package
NOISY = ("torch", "nnx", "keras", "mlx", "tinygrad")


def always_training(name, arguments):
    """A `predict` that forgets evaluation mode."""
    if name == "keras":
        return lambda model, given: arguments["predict"](model, given, training=True)
    if name == "tinygrad":
        from tinygrad.helpers import Context

        def predict(model, given):
            with Context(TRAINING=1):
                return arguments["predict"](model, given)

        return predict
    return lambda model, given: (model.train(), model(given["tokens"]))[1]


def made(name, fault="", **options):
    import gradarbiter

    return gradarbiter.subject(**{**LMS[name](fault), **options})
