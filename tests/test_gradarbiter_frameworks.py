"""Every adapter answers the contract of `gradarbiter.subject` alike: the same small model in each framework, healthy and with planted defects."""

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")
import arbiter_frameworks as lms

import gradarbiter
from gradarbiter import NotAsked
from gradarbiter.frameworks import ADAPTERS

pytestmark = [pytest.mark.arbiter, pytest.mark.filterwarnings("default")]  # the frameworks' own warnings are not ours


@pytest.fixture(scope="module", params=lms.LMS)
def name(request):
    pytest.importorskip(lms.PACKAGES.get(request.param, request.param))
    return request.param


@pytest.fixture(scope="module")
def healthy(name):
    return gradarbiter.subject(**lms.LMS[name]())


def test_the_adapter_is_found_by_the_model(name, healthy):
    assert healthy.framework == {"equinox": "jax", "nnx": "jax"}.get(name, name)


def test_names_shapes_and_roles(name, healthy):
    parameters = {p.name: p for p in healthy.parameters()}
    assert len(parameters) == 4
    assert lms.MIX[name] in parameters
    assert {n: v.shape for n, v in healthy.read().items()} == {n: p.shape for n, p in parameters.items()}
    assert all(p.dtype == "float32" and p.trainable for p in parameters.values())
    assert [n for n, p in parameters.items() if p.table and "position" not in n] == [n for n in parameters if "emb" in n and "pos" not in n]
    assert [p.name for p in parameters.values() if p.head] == [n for n in parameters if "head" in n]


def test_written_values_are_read_back_and_change_the_loss(healthy):
    before, loss = healthy.read(), healthy.loss()
    with healthy.kept():
        wanted = {n: v + np.float32(0.25) for n, v in before.items()}
        healthy.write(wanted)
        assert all(np.array_equal(v, wanted[n]) for n, v in healthy.read().items())
        assert healthy.loss() != loss
        healthy.write({n: before[n] for n in list(before)[:1]})  # the others stay
        assert {n for n, v in healthy.read().items() if np.array_equal(v, before[n])} == set(list(before)[:1])
    assert all(np.array_equal(v, before[n]) for n, v in healthy.read().items())
    assert healthy.loss() == loss


def test_what_was_read_is_a_copy(healthy):
    before = healthy.read()
    with healthy.kept():
        healthy.write({n: v + 1 for n, v in before.items()})
        assert all(not np.array_equal(v, before[n]) for n, v in healthy.read().items())


def test_gradients_have_the_parameters_names_and_agree_with_finite_differences(healthy):
    loss, gradients = healthy.gradients()
    values = healthy.read()
    assert loss == pytest.approx(healthy.loss(), rel=1e-6)
    assert list(gradients) == [p.name for p in healthy.parameters() if p.trainable]
    with healthy.kept():
        for name, gradient in gradients.items():
            assert gradient.shape == values[name].shape
            size = np.linalg.norm(gradient)
            # Along the gradient, a step of 0.02: the loss's rounding, about 1e-7 * 3, over 0.04 is 1e-5; the third derivative adds h^2/6 of about 1: 1e-4.
            step = (0.02 / size * gradient).astype(np.float32)
            healthy.write({name: values[name] + step})
            above = healthy.loss()
            healthy.write({name: values[name] - step})
            below = healthy.loss()
            healthy.write({name: values[name]})
            assert (above - below) / 0.04 == pytest.approx(size, rel=2e-3), name


def test_all_frameworks_find_the_same_gradient(name, healthy):
    """The same numbers in each: 4 sums of at most 11 * 24 float32 terms lie between the loss and a gradient, 4 * 264 * 2^-24 = 6e-5 at worst."""
    _, found = healthy.gradients()
    _, wanted = lms.made("torch").gradients()
    sizes = sorted(float(np.linalg.norm(g)) for g in found.values())
    assert sizes == pytest.approx(sorted(float(np.linalg.norm(g)) for g in wanted.values()), rel=6e-5)


def test_a_step_moves_every_parameter_and_all_is_put_back(name):
    subject = lms.made(name)
    before, loss = subject.read(), subject.loss()
    losses = []
    for _ in range(2):  # the second time from the same optimizer state
        with subject.kept():
            for _ in range(3):
                subject.step()
            assert all(not np.array_equal(v, before[n]) for n, v in subject.read().items())
            losses.append(subject.loss())
        assert all(np.array_equal(v, before[n]) for n, v in subject.read().items())
        assert subject.loss() == loss
    assert losses[0] == losses[1] < loss


def test_what_a_check_raises_does_not_keep_the_step(name, healthy):
    before = healthy.read()

    def fails():
        with healthy.kept():
            healthy.step()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert all(np.array_equal(v, before[n]) for n, v in healthy.read().items())


def test_outputs_and_their_gradient(name, healthy):
    out = healthy.outputs()
    assert out.shape == (lms.ROWS, lms.T, lms.V)
    loss, same, gradient = healthy.output_gradient()
    assert loss == pytest.approx(healthy.loss(training=False), rel=1e-6)
    assert np.array_equal(same, out)
    # Cross-entropy: (softmax - one hot) / tokens, so the target alone is negative.
    targets = lms.batch()["targets"]
    assert gradient.shape == out.shape
    assert np.array_equal(gradient.argmin(-1), targets)


def test_without_predict_the_outputs_are_not_asked(name):
    if name == "torch":
        pytest.skip("torch has hooks")
    arguments = lms.LMS[name]()
    unknown = gradarbiter.subject(**{**arguments, "predict": None, "score": None})
    with pytest.raises(NotAsked, match="predict="):
        unknown.outputs()
    with pytest.raises(NotAsked, match="score="):
        unknown.output_gradient()
    wrong = gradarbiter.subject(**{**arguments, "score": lambda out, given: 2 * arguments["score"](out, given)})
    with pytest.raises(NotAsked, match="the same loss"):
        wrong.output_gradient()


def test_rows_and_tokens_of_the_batch(healthy):
    ids = healthy.tokens()
    assert np.array_equal(ids, lms.batch()["tokens"])
    picked = healthy.with_rows([2, 0])
    assert np.array_equal(healthy.tokens(picked), ids[[2, 0]])
    assert np.isfinite(healthy.loss(picked))
    other = healthy.with_tokens((ids + 1) % lms.V)
    assert np.array_equal(healthy.tokens(other), (ids + 1) % lms.V)
    assert type(other["tokens"]) is type(healthy.batch["tokens"])
    assert healthy.loss(other) != healthy.loss()
    assert np.array_equal(healthy.tokens(), ids)


def test_each_row_stands_alone(healthy):
    """A permuted batch has permuted outputs, to the rounding of another order of rows."""
    assert np.allclose(healthy.outputs(healthy.with_rows([3, 2, 1, 0])), healthy.outputs()[::-1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("fault", ["cut", "zero"])
def test_a_lost_gradient_is_seen(name, fault):
    subject = lms.made(name, fault)
    loss, gradients = subject.gradients()
    assert np.isfinite(loss)
    lost = gradients.pop(lms.MIX[name])
    assert lost is None or not lost.any()
    assert lost is None or name != "torch" or fault == "zero"  # torch says that there is none
    assert all(g is not None and g.any() for g in gradients.values())


def test_a_forgotten_parameter_stays(name):
    if name == "keras":
        pytest.skip("a keras optimizer is given every trainable variable")
    subject = lms.made(name, "forgotten")
    before = subject.read()
    assert subject.gradients()[1][lms.MIX[name]].any()
    with subject.kept():
        subject.step()
        assert [n for n, v in subject.read().items() if np.array_equal(v, before[n])] == [lms.MIX[name]]


@pytest.mark.parametrize("fault", ["", "cut", "zero", "forgotten"])
def test_the_checks_name_the_parameter(name, fault):
    """The whole way in: `gradarbiter.check` on a healthy model says nothing, and on a planted defect names `mix`."""
    if name == "keras" and fault == "forgotten":
        pytest.skip("a keras optimizer is given every trainable variable")
    only = {"": (), "forgotten": ("update_flow",)}.get(fault, ("gradient_flow", "directional_gradient"))
    report = gradarbiter.check(**lms.LMS[name](fault), expect=gradarbiter.Expect(causal=True), only=only)
    if not fault:
        assert report.exit_status == 0, report
        assert report["causality"].status == report["gradient_flow"].status == "ok", report
        return
    assert report.exit_status == 1, report
    assert lms.MIX[name] in {finding.parameter for finding in report.accusations}, report


def test_groups(name, healthy):
    groups = healthy.groups()
    assert sorted(n for group in groups for n in group.names) == sorted(p.name for p in healthy.parameters())
    assert {group.foreign for group in groups} == {0}


def test_no_optimizer(name):
    subject = lms.made(name, optimizer=None)
    for asked in (subject.step, subject.groups, subject.accumulated):
        with pytest.raises(NotAsked, match="give "):
            asked()


def test_a_loss_that_is_no_number_is_refused(name):
    arguments = lms.LMS[name]()
    subject = gradarbiter.subject(**{**arguments, "loss_fn": lambda model, given: given["tokens"]})
    with pytest.raises(ValueError, match=r"found:(.|\n)*wanted:(.|\n)*do this:"):
        subject.loss()


@pytest.mark.parametrize("name", lms.NOISY)
def test_dropout_and_statistics(name):
    """The same random numbers each time, none in evaluation; and neither a loss nor a step leaves a trace."""
    pytest.importorskip(lms.PACKAGES.get(name, name))
    subject = gradarbiter.subject(**lms.LMS[name](noisy=True))
    quiet, noisy = subject.loss(training=False), subject.loss()
    assert subject.loss() == noisy != quiet
    assert subject.gradients()[0] == pytest.approx(noisy, rel=1e-6)
    assert np.array_equal(subject.outputs(seed=1), subject.outputs()), "evaluation draws random numbers"
    assert subject.loss(training=False) == quiet  # training's loss would have moved the running mean
    with subject.kept():
        subject.step()
        assert subject.loss(training=False) != quiet
        after = subject.read()
    assert (subject.loss(training=False), subject.loss()) == (quiet, noisy)
    with subject.kept():
        subject.step()
        again = subject.read()
    assert all(np.array_equal(v, again[n]) for n, v in after.items()), "the second step drew other random numbers: they were not put back"


@pytest.mark.parametrize("name", lms.NOISY)
def test_dropout_that_stays_on_is_seen_by_another_seed(name):
    pytest.importorskip(lms.PACKAGES.get(name, name))
    arguments = lms.LMS[name](noisy=True)
    subject = gradarbiter.subject(**arguments | {"predict": lms.always_training(name, arguments)})
    assert not np.array_equal(subject.outputs(seed=1), subject.outputs())
    assert np.array_equal(subject.outputs(seed=1), subject.outputs(seed=1))


@pytest.mark.slow
def test_the_other_keras_backend():
    pytest.importorskip("keras")
    pytest.importorskip("jax")
    if os.environ["KERAS_BACKEND"] == "jax":
        pytest.skip("this is it")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "arbiter", "-k", "keras", __file__]
    done = subprocess.run(command, env={**os.environ, "KERAS_BACKEND": "jax"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout


def test_an_unknown_model_says_what_is_known():
    with pytest.raises(ValueError, match=r"found:   a model of type builtins.object\nwanted:  one of keras, torch, mlx(.|\n)*do this:"):
        gradarbiter.subject(object(), {}, lambda model, batch: 0)


def test_knowing_a_model_imports_no_framework():
    code = (
        "import sys, torch, gradarbiter, gradarbiter.frameworks as f; f.subject(torch.nn.Linear(2, 2), {}, lambda m, b: 0);"
        f"print([n for n in {[a for a in ADAPTERS if a != 'torch']!r} + ['flax', 'equinox', 'optax'] if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_torchs_compiler_is_not_imported_where_nothing_is_compiled():
    """It takes seconds; torch's own optimizers import it when they are made."""
    code = (
        "import sys, torch, gradarbiter; torch.manual_seed(0);"
        "report = gradarbiter.check(torch.nn.Linear(4, 3), torch.randn(8, 4), lambda m, x: m(x).square().mean());"
        "print(report['gradient_parity'].status, 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ok", "False"]
