"""update_parity, the recipe and its guesses: each step that is not the recipe's is named, with the mistake; healthy ones hold, in every framework."""

import importlib

import arbiter_planted as planted
import numpy as np
import pytest
import torch
from arbiter_models import D
from arbiter_planted import Scaled, accused, given, looped, named, notes, one, round_weights, with_muon
from torch import nn

from gradarbiter import recipe
from gradarbiter.recipe import Recipe, adam, adamw, muon, sgd
from trainer import faults

pytestmark = pytest.mark.arbiter

TORCH = torch.optim

RULES = {
    "adamw": (adamw(1e-2, weight_decay=0.1), lambda p: TORCH.AdamW(p, lr=1e-2, weight_decay=0.1)),
    "adamw, fused": (adamw(1e-2, beta2=0.95), lambda p: TORCH.AdamW(p, lr=1e-2, betas=(0.9, 0.95), fused=True)),
    "adam": (adam(1e-2, weight_decay=0.1), lambda p: TORCH.Adam(p, lr=1e-2, weight_decay=0.1)),
    "sgd": (sgd(0.1, weight_decay=0.01), lambda p: TORCH.SGD(p, lr=0.1, weight_decay=0.01)),
    "momentum": (sgd(0.1, momentum=0.9), lambda p: TORCH.SGD(p, lr=0.1, momentum=0.9)),
    "nesterov": (sgd(0.1, momentum=0.9, nesterov=True), lambda p: TORCH.SGD(p, lr=0.1, momentum=0.9, nesterov=True)),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_torchs(name):
    rule, make = RULES[name]
    torch.manual_seed(0)
    weight = nn.Parameter(torch.randn(20, 30, dtype=torch.float64))
    optimizer, state = make([weight]), {}
    for _ in range(5):
        weight.grad = torch.randn(20, 30, dtype=torch.float64)
        want = rule.move(weight.detach().numpy().copy(), weight.grad.numpy(), state, 1.0)
        optimizer.step()
        np.testing.assert_allclose(weight.detach().numpy(), want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("shape", [(16, 64), (64, 16), (32, 32)])
@pytest.mark.parametrize("scale", ["original", "match_rms_adamw"])
def test_muons_rule_is_torchs_to_its_bfloat16(scale, shape):
    torch.manual_seed(0)
    weight = nn.Parameter(torch.randn(shape))
    optimizer, state = TORCH.Muon([weight], lr=0.02, weight_decay=0.1, adjust_lr_fn=scale), {}
    rule = muon(0.02, scale=scale)
    for _ in range(3):
        weight.grad = torch.randn(shape)
        start = weight.detach().double().numpy()
        want = rule.move(start, weight.grad.double().numpy(), state, 1.0)
        optimizer.step()
        assert np.linalg.norm(weight.detach().numpy() - want) < 0.05 * np.linalg.norm(want - start)


def test_a_recipe_finds_rules_and_clips_together():
    made = Recipe({"*.bias": sgd(1.0), "*": sgd(0.5)}, clip=1.0)
    assert (made.rule("a.bias").lr, made.rule("a.weight").lr) == (1.0, 0.5)
    clipped = made.clipped({"a": np.array([3.0]), "b": np.array([4.0]), "c": None})
    assert (clipped["a"][0], clipped["b"][0], clipped["c"]) == (pytest.approx(0.6), pytest.approx(0.8), None)
    with pytest.raises(ValueError, match=r"found: (.|\n)*no rule(.|\n)*do this:"):
        Recipe({"x": sgd(1.0)}).rule("y")


def test_newton_schulz_makes_singular_values_alike():
    matrix = np.random.default_rng(0).standard_normal((20, 40))
    values = np.linalg.svd(recipe.newton_schulz(matrix, (3.4445, -4.7750, 2.0315), 5), compute_uv=False)
    assert 0.68 < values.min() < values.max() < 1.21


def parity(model, made, optimizer, **loop):
    return one("update_parity", looped(model, optimizer, **loop), recipe=made)


@pytest.mark.parametrize("name", RULES)
def test_the_right_recipe_holds(name):
    rule, make = RULES[name]
    model = Scaled()
    result = parity(model, Recipe({"*": rule}), make(model.parameters()))
    assert (result.status, result.findings) == ("ok", ())


def test_it_holds_with_clipping_a_schedule_and_no_loop_of_the_users():
    model = planted.Net()
    optimizer = TORCH.AdamW(model.parameters(), lr=1e-2)
    schedule = TORCH.lr_scheduler.LambdaLR(optimizer, lambda n: n / 10)
    clip = lambda: nn.utils.clip_grad_norm_(model.parameters(), 0.1)  # noqa: E731
    arguments = {**looped(model, optimizer, before=clip, after=schedule.step), "keep": [schedule]}
    made = Recipe({"*": adamw(1e-2)}, clip=0.1, schedule=lambda n: n / 10)
    assert one("update_parity", arguments, recipe=made).findings == ()
    model = planted.Net()
    arguments = given(model, optimizer=TORCH.AdamW(model.parameters(), lr=1e-2))
    assert one("update_parity", arguments, recipe=Recipe({"*": adamw(1e-2)})).findings == ()


def test_it_holds_for_torchs_muon_in_bfloat16():
    model = planted.Net()
    made = Recipe({"first.weight": muon(0.02, weight_decay=0.01), "second.weight": muon(0.02, weight_decay=0.01), "*": adamw(1e-3)})
    arguments = given(model, optimizer=with_muon(model))
    few = one("update_parity", arguments, recipe=made)  # a gradient of 8 rows has singular values that bfloat16 makes up
    assert (few.status, notes(few)) == ("ok", {"hidden"})
    ends = [torch.randn(D, D) for _ in range(2)]
    arguments["loss_fn"] = lambda m, b: planted.classify(m, b) + (m.first.weight * ends[0]).sum() + (m.second.weight * ends[1]).sum()
    result = one("update_parity", arguments, recipe=made)
    assert (result.status, result.findings) == ("ok", ())
    once = {**arguments, "optimizer": with_muon(model, ns_steps=1)}
    assert accused(one("update_parity", once, recipe=made)) == {("update", "first.weight"), ("update", "second.weight")}


WRONG = {
    "no weight decay": (lambda p: TORCH.AdamW(p, lr=1e-2, weight_decay=0.0), 0),
    "decay in the gradient": (lambda p: TORCH.Adam(p, lr=1e-2, weight_decay=0.1), 0),
    "betas that have changed places": (lambda p: TORCH.AdamW(p, lr=1e-2, weight_decay=0.1, betas=(0.95, 0.9)), 1),
    "eps = 1e-04": (lambda p: TORCH.AdamW(p, lr=1e-2, weight_decay=0.1, betas=(0.9, 0.95), eps=1e-4), 0),
}


@pytest.mark.parametrize("says", WRONG)
def test_a_wrong_optimizer_is_named_with_the_mistake(says):
    make, step = WRONG[says]
    model = planted.Net()
    result = parity(model, Recipe({"*": adamw(1e-2, beta2=0.95, weight_decay=0.1)}), make(model.parameters()))
    assert "first.weight" in named(result)
    assert result.findings[0].numbers["step"] == step
    assert f"; {says} would explain it" in result.findings[0].text


def stale_gradients(model, optimizer):
    held = {}

    def delay():
        for p in model.parameters():
            now = p.grad.clone()
            p.grad.copy_(held.get(p, p.grad))
            held[p] = now

    return looped(model, optimizer, before=delay)


def never_zeroed(model, optimizer):
    arguments = looped(model, optimizer)

    def step():
        arguments["accumulate"]()
        optimizer.step()

    return {**arguments, "step": step}


def each_clipped_alone(model, optimizer):
    return looped(model, optimizer, before=lambda: [nn.utils.clip_grad_norm_([p], 0.01) for p in model.parameters()])


def second_moment_rounded(model, optimizer):
    def narrow():
        for state in optimizer.state.values():
            state["exp_avg_sq"].copy_(state["exp_avg_sq"].bfloat16())

    return looped(model, optimizer, after=narrow)


def state_shifted(model, optimizer):
    def roll():
        for state in optimizer.state.values():
            for key in ("exp_avg", "exp_avg_sq"):
                state[key].copy_(state[key].roll(1, 0))

    return looped(model, optimizer, after=roll)


def twice(model, optimizer):
    return looped(model, optimizer, after=optimizer.step)


def rounded_weights(model, optimizer):
    return looped(model, optimizer, after=lambda: round_weights(model))


LOOPS = {
    "gradients of the step before": (stale_gradients, None, 1),
    "gradients that are never set to zero": (never_zeroed, None, 1),
    "clipping of each parameter alone": (each_clipped_alone, 0.01, 1),
    "a second moment kept in bfloat16": (second_moment_rounded, None, 1),
    "state that is one row out of step": (state_shifted, None, 1),
    "two updates a step": (twice, None, 0),
    "weights kept in bfloat16": (rounded_weights, None, 0),
}


@pytest.mark.parametrize("says", LOOPS)
def test_a_wrong_loop_is_named_with_the_mistake(says):
    make, clip, step = LOOPS[says]
    model = planted.Net()
    arguments = make(model, TORCH.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95)))
    result = one("update_parity", arguments, recipe=Recipe({"*": adamw(1e-2, beta2=0.95)}, clip=clip))
    assert result.status == "fail"
    assert result.findings[0].numbers["step"] <= step
    assert f"; {says} would explain it" in " ".join(f.text for f in result.accusations)


@pytest.mark.parametrize(
    ("says", "schedule"),
    [
        ("the peak learning rate", lambda _: 1.0),
        ("the next step's learning rate", lambda n: (n + 2) / 100),
        ("a schedule that is stepped twice a step", lambda n: (2 * n + 1) / 100),
    ],
)
def test_a_wrong_schedule_is_named_with_the_mistake(says, schedule):
    model = planted.Net()
    optimizer = TORCH.AdamW(model.parameters(), lr=1e-2)
    scheduler = TORCH.lr_scheduler.LambdaLR(optimizer, schedule)
    arguments = {**looped(model, optimizer, after=scheduler.step), "keep": [scheduler]}
    result = one("update_parity", arguments, recipe=Recipe({"*": adamw(1e-2)}, schedule=lambda n: (n + 1) / 100))
    assert result.status == "fail"
    assert f"; {says} would explain it" in result.findings[0].text


def test_a_parameter_with_another_rule_is_named_alone():
    model = planted.Net()
    decayed = [p for name, p in model.named_parameters() if name != "head.bias"]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": [model.head.bias], "weight_decay": 0.5}]
    result = parity(model, Recipe({"*": adamw(1e-2, weight_decay=0.1)}), TORCH.AdamW(groups, lr=1e-2))
    assert accused(result) == {("update", "head.bias")}


PLANTED = [name for name, fault in faults.CATALOGUE.items() if fault.layer == "optimizer" and fault.shows_in == "updates"]


@pytest.mark.parametrize("fault", [*PLANTED, "bf16_stall", "bf16_second_moment"])
def test_every_fault_of_the_trainers_optimizer_is_seen(fault):
    assert planted.asked_of_trainer("update_parity", fault, warmup=4).status == "fail"


def test_what_cannot_be_asked_says_why():
    model = planted.Net()
    assert "no recipe" in one("update_parity", given(model)).reason
    optimizer = TORCH.AdamW(model.parameters(), lr=1e-2)
    still = looped(model, optimizer)
    result = one("update_parity", {**still, "step": lambda: None}, recipe=Recipe({"*": adamw(1e-2)}, schedule=lambda _: 0.0))
    assert "still at 0" in result.reason
    elsewhere = {"ids": torch.ones(8, 20, dtype=torch.long), "label": torch.zeros(8, dtype=torch.long)}

    def step():
        optimizer.zero_grad()
        (-planted.classify(model, elsewhere)).backward()
        optimizer.step()

    result = one("update_parity", {**given(model, optimizer=optimizer), "step": step}, recipe=Recipe({"*": adamw(1e-2)}))
    assert "give accumulate=" in result.reason
    result = one("update_parity", given(model, optimizer=optimizer), recipe=Recipe({"first.*": adamw(1e-2)}))
    assert (result.status, "no rule for embedding.weight" in result.reason) == ("error", True)


RUNS = [{}, {"dtype": "bfloat16"}, {"optimizer": "adamw"}, {"dropout": 0.3, "head": "tied"}, {"clip": 0.05, "seed": 4}]


@pytest.mark.parametrize("options", RUNS)
def test_the_healthy_trainer_passes(options):
    result = planted.asked_of_trainer("update_parity", **options)
    assert (result.status, result.findings) == ("ok", ())


@pytest.mark.parametrize(
    ("name", "module", "rule"),
    [("jax", "optax", adamw(0.05, weight_decay=1e-4)), ("mlx", "mlx", adamw(0.05, bias_correction=False))],
)
def test_the_defaults_of_other_frameworks(name, module, rule):
    pytest.importorskip(module)
    lms = importlib.import_module("arbiter_frameworks")
    result = one("update_parity", lms.LMS[name](""), recipe=Recipe({"*": rule}))
    assert (result.status, result.findings) == ("ok", ())
