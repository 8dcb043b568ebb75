"""Every planted fault changes what it says, there first, raises nothing, and leaves no trace."""

import inspect
import math
import runpy
import sys
import textwrap

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from trainer import data, faults  # noqa: E402
from trainer.faults import catalogue, twin  # noqa: E402
from trainer.faults.twin import STAGES, Twin, difference, differences  # noqa: E402

pytestmark = pytest.mark.trainer

# Rounding alone moves these numbers by 1e-7 to 1e-6 of themselves; a fault that is not one of precision must be far above that.
FLOOR = 1e-4
PLACES = list(STAGES)
torch.optim.Adam([torch.zeros(1)])  # torch wraps the step of a class when its first one is made; that is no trace of ours


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)  # not a multiple of 128: there is a padded vocabulary


@pytest.fixture(scope="module")
def healthy(folder):
    """Stage of a twin -> what it shows, asked once."""
    known = {}

    def show(fault, stage):
        key = (fault.situation, tuple(sorted(fault.options.items())), stage)
        if key not in known:
            known[key] = twin.twin_of(fault, folder).show(stage)
        return known[key]

    return show


def attributes():
    """Every attribute of every module and class of the trainer, and of the optimizers that it uses, by identity."""
    owners = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "trainer"}
    owners |= {f"{name}.{k}": v for name, m in list(owners.items()) for k, v in vars(m).items() if inspect.isclass(v)}
    return {f"{name}.{k}": v for name, owner in owners.items() for k, v in vars(owner).items()}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if fault.shows_in == "cost" else ()) for name, fault in faults.CATALOGUE.items()]
)
def test_fault(name, healthy, folder):
    fault = faults.CATALOGUE[name]
    run = twin.twin_of(fault, folder)
    last = PLACES.index(fault.shows_in)
    earlier = [
        stage for stage in PLACES[:last] if stage != "tokenizer" or fault.layer == "data"
    ]  # trains a tokenizer: asked where it could differ
    later = [
        stage for stage in ("evaluation", "resume") if stage not in PLACES[: last + 1]
    ]  # only to raise nothing; a resume has trained before
    wanted = {stage: healthy(fault, stage) for stage in [*earlier, fault.shows_in, *later]}
    before = attributes()
    with faults.plant(name):
        shown = {stage: run.show(stage) for stage in wanted}
    after = attributes()
    moved = [key for key in before | after if before.get(key) is not after.get(key)]
    assert not moved, f"found {moved} changed after the fault, wanted all as before"
    for stage in earlier:
        assert difference(shown[stage], wanted[stage]) == 0, f"{name} shows in {stage} already, before {fault.shows_in}"
    found, floor = difference(shown[fault.shows_in], wanted[fault.shows_in]), 0 if fault.layer == "precision" else FLOOR
    assert found > floor, f"found a difference of {found} in {fault.shows_in}, wanted more than {floor}"
    again = {stage: run.show(stage) for stage in {fault.shows_in, "evaluation", "resume"} - {"cost"}}
    for stage, numbers in again.items():
        assert difference(numbers, wanted[stage]) == 0, f"{stage} differs from the healthy twin after {name} was taken away"


@pytest.mark.parametrize(
    ("name", "frozen"),
    [
        (
            "rms_norm_no_backward",
            ("embedding.weight", "layers.", "norm.weight"),
        ),  # the last norm is before the head: nothing but the head learns
        ("rope_no_backward", ("query.weight", "key.weight")),
        ("attention_no_backward", ("attention_norm.weight", "query.weight", "key.weight", "value.weight", "value_scale_K")),
    ],
)
def test_an_operation_without_a_backward_freezes_what_is_before_it(name, frozen, folder):
    run = Twin(folder=folder)
    healthy_gradients = run.show("gradients")
    assert all(gradient.any() for gradient in healthy_gradients.values())
    with faults.plant(name):
        found = {key for key, gradient in run.show("gradients").items() if not gradient.any()}
    assert found == {key for key in healthy_gradients if key.endswith(frozen) or key.startswith(frozen)}


def test_the_catalogue_is_large_and_covers_every_layer():
    assert len(faults.CATALOGUE) >= 40
    assert {fault.layer for fault in faults.CATALOGUE.values()} == set(catalogue.Layer.__args__)
    assert {fault.shows_in for fault in faults.CATALOGUE.values()} <= set(PLACES)
    assert set(PLACES) == set(catalogue.Stage.__args__)


def test_the_example_in_the_packages_text_runs(folder):
    text = faults.__doc__.split("\n\n")
    example = "\n\n".join(part for part in text if part.startswith("    "))
    known = {"folder": folder}
    exec(textwrap.dedent(example), known)
    assert known["run"].step == 3
    assert known["found"]["logits"] > FLOOR


def test_differences_are_of_every_entry_and_none_is_small_that_is_not_alike():
    one = {"same": np.array([1.0, math.nan]), "moved": np.array([3.0, 4.0]), "shape": np.zeros(2), "finite": np.ones(1), "mine": np.ones(1)}
    other = {**one, "moved": np.array([3.0, 4.5]), "shape": np.zeros(3), "finite": np.array([math.inf])}
    other["theirs"] = other.pop("mine")
    found = differences(one, other)
    assert found == {"same": 0, "moved": pytest.approx(0.5 / 29.25**0.5), **dict.fromkeys(("shape", "finite", "mine", "theirs"), math.inf)}
    assert difference(one, other) == math.inf
    assert difference({}, {}) == 0


def test_differences_name_the_parameters_that_a_fault_moves(folder):
    run = Twin(folder=folder)
    healthy = run.show("gradients")
    with faults.plant("rope_no_backward"):
        moved = {name for name, size in differences(run.show("gradients"), healthy).items() if size}
    assert moved == {
        name for name in healthy if name.endswith(("query.weight", "key.weight", "attention_norm.weight", "embedding.weight"))
    } | {name for name in healthy if name.startswith("layers.0.")}


@pytest.mark.slow
@pytest.mark.parametrize("layer", catalogue.Layer.__args__)
def test_every_fault_is_silent_in_a_run_that_clips(layer, folder):
    from trainer import config, train

    for fault in (fault for fault in faults.CATALOGUE.values() if fault.layer == layer):
        chosen = config.nano(**{**twin.SMALL, "steps": 2, "clip": 1e-3, "data": str(folder), **fault.options})
        with faults.plant(fault.name):
            run = train.train(chosen, say=lambda _: None)
        assert [outcome.skipped for outcome in run.outcomes] == [None, None], fault.name


def test_the_list_shows_every_fault(capsys):
    runpy.run_module("trainer.faults", run_name="__main__")
    shown = capsys.readouterr().out.split()
    assert [name for name in faults.CATALOGUE if name not in shown] == []


def test_an_unknown_fault_is_refused():
    with pytest.raises(ValueError, match=r"found: .*rope_axes"):
        faults.plant("rope_axes")


def test_everything_is_put_back_after_an_error():
    before = attributes()
    with pytest.raises(ZeroDivisionError), faults.plant("clip_per_parameter"), faults.plant("zero_grad_forgotten"):
        1 / 0  # noqa: B018
    assert all(before[key] is value for key, value in attributes().items())


def test_a_harmless_fault_would_be_found_out(folder):
    """The comparison of `test_fault` is not satisfied by a patch that changes nothing."""
    from trainer import model

    run = Twin(folder=folder)
    rotate = model.rotate
    with catalogue.patched(model, rotate=lambda x, cos, sin: rotate(x, cos, sin) + 0):
        assert difference(run.show("logits"), Twin(folder=folder).show("logits")) == 0


def test_a_resumed_healthy_twin_equals_an_uninterrupted_one(folder):
    run = Twin(folder=folder)
    whole, resumed = run.show("updates"), run.show("resume")
    assert (
        difference(
            {k: v for k, v in whole.items() if k in resumed and k not in ("losses", "taken")},
            {k: v for k, v in resumed.items() if k not in ("losses", "taken")},
        )
        == 0
    )
    assert whole["losses"][-1] == resumed["losses"][-1]


def test_a_flipped_byte_is_passed_over_by_a_healthy_run(folder):
    run = Twin(folder=folder, situation="flipped byte")
    assert difference(run.show("resume"), Twin(folder=folder).show("resume")) == 0


def test_causal_leak_is_a_leak(folder):
    """A later token changes an earlier logit, which is the definition, not only some logit."""
    from trainer import device
    from trainer.step import begin

    run = Twin(folder=folder)

    def leaks():
        with device.entered(run.config) as place, torch.no_grad():
            model = begin(run.config, data.Tokens(folder), place).model.eval()
            tokens = torch.arange(10, 26)[None]
            changed = tokens.clone()
            changed[0, 8] = 3
            return not torch.equal(model(tokens)[:, :8], model(changed)[:, :8])

    assert not leaks()
    with faults.plant("causal_leak"):
        assert leaks()


def test_rope_axis_makes_position_vanish(folder):
    """With one layer and a window that holds the sequence, the last logit no longer depends on the order of the tokens before it."""
    from trainer import device
    from trainer.step import begin

    run = Twin(folder=folder, options={"layers": 1, "window": 16})

    def depends_on_order():
        with device.entered(run.config) as place, torch.no_grad():
            model = begin(run.config, data.Tokens(folder), place).model.eval()
            tokens = torch.arange(10, 26)[None]
            shuffled = torch.cat([tokens[:, :15].flip(1), tokens[:, 15:]], 1)
            return float((model(tokens)[:, -1] - model(shuffled)[:, -1]).abs().max())

    assert depends_on_order() > 1e-2
    with faults.plant("rope_axis"):
        assert depends_on_order() < 1e-5  # rounding of sums in another order
