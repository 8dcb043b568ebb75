"""What each framework has of its own: its kinds of optimizers, steps, accumulation, float64."""

import numpy as np
import pytest

pytest.importorskip("torch")

import arbiter_frameworks as lms

import gradarbiter

pytestmark = [pytest.mark.arbiter, pytest.mark.filterwarnings("default")]  # the frameworks' own warnings are not ours


@pytest.mark.parametrize("name", lms.LMS)
def test_a_float64_copy(name):
    pytest.importorskip(lms.PACKAGES.get(name, name))
    healthy = lms.made(name)
    wide = healthy.wide()
    if name in ("keras", "mlx"):
        assert wide is None
        return
    assert {p.dtype for p in wide.parameters()} == {"float64"}
    assert {v.dtype for v in wide.read().values()} == {np.dtype(np.float64)}
    # float32 against float64: sums of at most 264 terms, 264 * 2^-24 = 2e-5 of the loss at worst; the same parameters twice as exactly to 1e-9.
    assert wide.loss() == pytest.approx(healthy.loss(), rel=2e-5)
    assert wide.loss() != healthy.loss()
    _, gradients = wide.gradients()
    for key, gradient in healthy.gradients()[1].items():
        assert gradients[key].dtype == np.float64
        assert np.linalg.norm(gradients[key] - gradient) <= 2e-5 * np.linalg.norm(gradient)
    values, step = wide.read(), 1e-5
    key = lms.MIX[name]
    wide.write({key: values[key] + step * gradients[key]})
    above = wide.loss()
    wide.write({key: values[key] - step * gradients[key]})
    assert (above - wide.loss()) / (2 * step) == pytest.approx(float((gradients[key] ** 2).sum()), rel=1e-7)
    assert {p.dtype for p in healthy.parameters()} == {"float32"}


def test_mlx_has_no_float64_to_compare_with():
    """The reason why its adapter gives no copy: once this fails, it may."""
    mx = pytest.importorskip("mlx.core")
    x = np.linspace(-1, 1, 1001)
    assert np.abs(np.array(mx.exp(mx.array(x, dtype=mx.float64))) - np.exp(x)).max() > 1e-9


def muon_and_adamw(name, hidden):
    """An optimizer of two kinds; ``hidden(name)`` says whose parameter goes to Muon."""
    arguments = lms.LMS[name]()
    if name == "jax":
        import jax
        import optax

        def labels(tree):
            named = jax.tree_util.tree_map_with_path(lambda path, _: jax.tree_util.keystr(path, simple=True, separator="."), tree)
            return jax.tree.map(lambda n: "muon" if hidden(n) else "adamw", named)

        optimizer = optax.multi_transform({"muon": optax.contrib.muon(0.02), "adamw": optax.adamw(0.02)}, labels)
    elif name == "mlx":
        from mlx import optimizers

        optimizer = optimizers.MultiOptimizer([optimizers.Muon(0.02), optimizers.AdamW(0.02)], [lambda n, _: hidden(n)])
    else:
        from tinygrad.nn import optim
        from tinygrad.nn.state import get_state_dict

        parts = get_state_dict(arguments["model"])
        optimizer = optim.OptimizerGroup(
            optim.Muon([t for n, t in parts.items() if hidden(n)], lr=0.02), optim.AdamW([t for n, t in parts.items() if not hidden(n)])
        )
    return {**arguments, "optimizer": optimizer}


@pytest.mark.parametrize("name", ["jax", "mlx", "tinygrad"])
def test_muon_holds_the_hidden_matrix_alone(name):
    pytest.importorskip(lms.PACKAGES.get(name, name))
    subject = gradarbiter.subject(**muon_and_adamw(name, lambda n: "mix" in n))
    held = {group.optimizer.lower(): set(group.names) for group in subject.groups()}
    assert held == {"muon": {lms.MIX[name]}, "adamw": {p.name for p in subject.parameters()} - {lms.MIX[name]}}
    assert gradarbiter.ask(subject, only=["optimizer_cover"]).exit_status == 0
    table = next(p.name for p in subject.parameters() if p.table)
    wrong = gradarbiter.subject(**muon_and_adamw(name, lambda n: "mix" in n or n == table))
    report = gradarbiter.ask(wrong, only=["optimizer_cover"])
    assert [f.parameter for f in report.accusations] == [table], report


def test_optax_muon_takes_every_matrix_unless_told():
    """Its default: table and head are matrices, too."""
    pytest.importorskip("optax")
    from optax.contrib import muon

    report = gradarbiter.ask(lms.made("jax", optimizer=muon(0.02)), only=["optimizer_cover"])
    assert {"embedding", "head"} <= {f.parameter for f in report.accusations}, report


def test_a_jax_step_of_ones_own_takes_and_returns_model_and_state():
    jax = pytest.importorskip("jax")
    optax = pytest.importorskip("optax")
    arguments = lms.LMS["jax"]()

    @jax.jit
    def step(model, state, batch):
        loss, gradients = jax.value_and_grad(arguments["loss_fn"])(model, batch)
        updates, state = arguments["optimizer"].update(gradients, state, model)
        return optax.apply_updates(model, updates), state, loss

    own, ours = gradarbiter.subject(**arguments, step=step), gradarbiter.subject(**arguments)
    before = own.read()
    with own.kept():
        for subject in (own, ours):
            subject.step()
            subject.step()
        assert all(np.allclose(v, ours.read()[n], rtol=1e-5, atol=1e-6) for n, v in own.read().items())
    assert all(np.array_equal(v, before[n]) for n, v in own.read().items())


def accumulate(name, arguments):
    """The mean gradient of two halves of the batch, each divided by the right number."""
    loss_fn, whole = arguments["loss_fn"], gradarbiter.subject(**arguments)
    halves = whole.with_rows([0, 1]), whole.with_rows([2, 3])
    if name == "tinygrad":
        return lambda model: [(loss_fn(model, half) / 2).backward() for half in halves]
    if name == "keras":
        return lambda model: [(a + b) / 2 for a, b in zip(*(whole._value_and_grad(half, training=True)[1] for half in halves), strict=True)]
    if name == "mlx":
        from mlx import nn, utils

        return lambda model: utils.tree_map(lambda a, b: (a + b) / 2, *(nn.value_and_grad(model, loss_fn)(model, h)[1] for h in halves))
    import jax

    if name == "nnx":
        from flax import nnx

        return lambda model: jax.tree.map(lambda a, b: (a + b) / 2, *(nnx.grad(loss_fn)(model, half) for half in halves))
    if name == "equinox":
        import equinox as eqx

        return lambda model: jax.tree.map(lambda a, b: (a + b) / 2, *(eqx.filter_grad(loss_fn)(model, half) for half in halves))
    return lambda model: jax.tree.map(lambda a, b: (a + b) / 2, *(jax.grad(loss_fn)(model, half) for half in halves))


@pytest.mark.parametrize("name", [name for name in lms.LMS if name != "torch"])
def test_accumulated_gradients(name):
    pytest.importorskip(lms.PACKAGES.get(name, name))
    arguments = lms.LMS[name]()
    subject = gradarbiter.subject(**arguments, accumulate=accumulate(name, arguments))
    before, (_, whole) = subject.read(), subject.gradients()
    found = subject.accumulated()
    assert set(found) == set(whole)
    assert all(np.allclose(found[key], gradient, rtol=1e-4, atol=1e-6) for key, gradient in whole.items())
    assert all(np.array_equal(v, before[n]) for n, v in subject.read().items())
    assert all(np.array_equal(v, whole[n]) for n, v in subject.gradients()[1].items()), "the accumulation left something behind"


def test_nnx_trains_what_its_optimizer_is_for():
    nnx, optax = pytest.importorskip("flax.nnx"), pytest.importorskip("optax")
    arguments = lms.LMS["nnx"]()
    model = arguments["model"]
    model.mix = nnx.LoRALinear(lms.D, lms.D, lora_rank=2, use_bias=False, rngs=nnx.Rngs(1))
    subject = gradarbiter.subject(**{**arguments, "optimizer": nnx.Optimizer(model, optax.adamw(0.05), wrt=nnx.LoRAParam)})
    assert {p.name for p in subject.parameters() if p.trainable} == {"mix.lora.lora_a", "mix.lora.lora_b"}
    before = subject.read()
    with subject.kept():
        subject.step()
        subject.step()
        moved = {n for n, v in subject.read().items() if not np.array_equal(v, before[n])}
    assert moved == {"mix.lora.lora_a", "mix.lora.lora_b"}
    assert gradarbiter.ask(subject, only=["gradient_flow", "update_flow"]).exit_status == 0


def test_keras_says_what_it_cannot_take():
    keras = pytest.importorskip("keras")
    unbuilt = keras.Sequential([keras.layers.Dense(3)])
    with pytest.raises(ValueError, match=r"found:   a model that is not built(.|\n)*do this: call the model once"):
        gradarbiter.subject(unbuilt, {}, lambda model, batch: 0)
    arguments = lms.LMS["keras"]()
    arguments["model"].compile(optimizer=arguments.pop("optimizer"))
    assert gradarbiter.subject(**arguments).groups()[0].optimizer == "AdamW"
