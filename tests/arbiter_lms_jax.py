"""The model of arbiter_lms in JAX: a dict and a function, an equinox module, a flax nnx module."""

from arbiter_lms import MEAN, RATE, D, T, V, batch, start


def _jax_parts(fault, seed):
    import jax
    import jax.numpy as jnp
    import optax

    @jax.custom_vjp
    def zero(x):
        return x

    zero.defvjp(lambda x: (x, None), lambda _, gradient: (jnp.zeros_like(gradient),))
    spoil = {"cut": jax.lax.stop_gradient, "zero": zero}.get(fault, lambda x: x)

    def score(out, given):
        return optax.softmax_cross_entropy_with_integer_labels(out, given["targets"]).mean()

    optimizer = optax.adamw(RATE)
    if fault == "forgotten":

        def labels(tree):
            return jax.tree_util.tree_map_with_path(
                lambda path, _: "none" if "mix" in jax.tree_util.keystr(path, simple=True, separator=".") else "adamw", tree
            )

        optimizer = optax.multi_transform({"adamw": optimizer, "none": optax.set_to_zero()}, labels)
    given = {key: jnp.asarray(value) for key, value in batch(seed=seed + 2).items()}
    return spoil, score, optimizer, given


def jax_lm(fault="", seed=3):
    """A dict of arrays and a function."""
    import jax.numpy as jnp

    spoil, score, optimizer, given = _jax_parts(fault, seed)

    def predict(model, given):
        x = model["embedding"][given["tokens"]] + model["position"]
        return (x + spoil(jnp.tanh(MEAN @ x @ model["layers"][0]["mix"]))) @ model["head"]

    values = {name: jnp.asarray(value) for name, value in start(seed).items()}
    values["layers"] = [{"mix": values.pop("mix")}]
    return {
        "model": values,
        "batch": given,
        "loss_fn": lambda model, given: score(predict(model, given), given),
        "optimizer": optimizer,
        "predict": predict,
        "score": score,
    }


def equinox_lm(fault="", seed=3):
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    spoil, score, optimizer, given = _jax_parts(fault, seed)

    class LM(eqx.Module):
        embedding: eqx.nn.Embedding
        position: jax.Array
        mix: eqx.nn.Linear
        head: eqx.nn.Linear
        name: str = "LM"

        def __call__(self, ids):
            x = jax.vmap(self.embedding)(ids) + self.position
            return jax.vmap(self.head)(x + spoil(jnp.tanh(jax.vmap(self.mix)(MEAN @ x))))

    values, key = start(seed), jax.random.key(0)
    model = LM(
        embedding=eqx.nn.Embedding(weight=jnp.asarray(values["embedding"])),
        position=jnp.asarray(values["position"]),
        mix=eqx.tree_at(lambda m: m.weight, eqx.nn.Linear(D, D, use_bias=False, key=key), jnp.asarray(values["mix"].T)),
        head=eqx.tree_at(lambda m: m.weight, eqx.nn.Linear(D, V, use_bias=False, key=key), jnp.asarray(values["head"].T)),
    )

    def predict(model, given):
        return jax.vmap(model)(given["tokens"])

    return {
        "model": model,
        "batch": given,
        "loss_fn": lambda model, given: score(predict(model, given), given),
        "optimizer": optimizer,
        "predict": predict,
        "score": score,
    }


def nnx_lm(fault="", noisy=False, seed=3):
    import jax.numpy as jnp
    from flax import nnx

    spoil, score, optimizer, given = _jax_parts(fault, seed)

    class LM(nnx.Module):
        def __init__(self, rngs):
            self.embedding = nnx.Embed(V, D, rngs=rngs)
            self.position = nnx.Param(jnp.zeros((T, D)))
            self.mix, self.head = nnx.Linear(D, D, use_bias=False, rngs=rngs), nnx.Linear(D, V, use_bias=False, rngs=rngs)
            self.norm = nnx.BatchNorm(D, rngs=rngs) if noisy else None
            self.drop = nnx.Dropout(0.5, rngs=rngs) if noisy else None

        def __call__(self, ids):
            x = self.embedding(ids) + self.position
            h = jnp.tanh(self.mix(MEAN @ x))
            return self.head(x + spoil(self.drop(self.norm(h)) if noisy else h))

    model, values = LM(nnx.Rngs(0)), start(seed)
    model.embedding.embedding[...], model.position[...] = jnp.asarray(values["embedding"]), jnp.asarray(values["position"])
    model.mix.kernel[...], model.head.kernel[...] = jnp.asarray(values["mix"]), jnp.asarray(values["head"])

    def predict(model, given):
        return model(given["tokens"])

    return {
        "model": model,
        "batch": given,
        "loss_fn": lambda model, given: score(predict(model, given), given),
        "optimizer": nnx.Optimizer(model, optimizer, wrt=nnx.Param),
        "predict": predict,
        "score": score,
    }
