"""update_flow: steps that lose, stall or blow up updates are named; healthy optimizers, schedules and master copies are not."""

import math

import arbiter_planted as planted
import pytest
import torch
from arbiter_models import D
from arbiter_planted import Scaled, accused, given, looped, notes, one, round_weights, trainer, with_muon
from torch import nn

from gradarbiter import first_step
from gradarbiter.subject import Group

pytestmark = pytest.mark.arbiter

TORCH = torch.optim


def flow(model, optimizer=None, **options):
    return one("update_flow", given(model, optimizer=optimizer, **options))


HEALTHY = {
    "adamw": lambda p: TORCH.AdamW(p, lr=1e-3),
    "adamw that decays": lambda p: TORCH.AdamW(p, lr=1e-2, weight_decay=0.5),
    "adam": lambda p: TORCH.Adam(p, lr=1e-3, weight_decay=0.1),
    "amsgrad": lambda p: TORCH.AdamW(p, lr=1e-3, amsgrad=True),
    "nadam": lambda p: TORCH.NAdam(p, lr=1e-3),
    "radam": lambda p: TORCH.RAdam(p, lr=1e-3),
    "adamax": lambda p: TORCH.Adamax(p, lr=1e-3),
    "adafactor": lambda p: TORCH.Adafactor(p, lr=1e-2),
    "sgd": lambda p: TORCH.SGD(p, lr=0.1),
    "sgd with momentum": lambda p: TORCH.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "rmsprop": lambda p: TORCH.RMSprop(p, lr=1e-3),
    "lion, by hand": lambda p: Sign(p, {"lr": 1e-4}),
}


class Sign(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(group["lr"] * p.grad.sign())


@pytest.mark.parametrize("make", [planted.Net, Scaled])
@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_optimizers_pass(name, make):
    model = make()
    result = flow(model, HEALTHY[name](model.parameters()))
    assert result.status == "ok"
    assert notes(result) <= {"stall"}  # RAdam begins as SGD, and a branch at a millionth has a gradient below float32's last place


def test_muon_beside_adamw_passes():
    model = planted.Net()
    result = flow(model, with_muon(model))
    assert (result.status, result.findings) == ("ok", ())


def test_a_run_that_is_under_way_passes():
    model = planted.Net()
    optimizers = with_muon(model)
    arguments = given(model, optimizer=optimizers)
    for _ in range(5):
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        planted.classify(model, arguments["batch"]).backward()
        for optimizer in optimizers.values():
            optimizer.step()
    result = one("update_flow", arguments)
    assert (result.status, result.findings) == ("ok", ())


@pytest.mark.parametrize("first", [0.0, 0.1])
def test_a_warm_up_passes(first):
    model = planted.Net()
    optimizer = TORCH.AdamW(model.parameters(), lr=1e-3)
    schedule = TORCH.lr_scheduler.LambdaLR(optimizer, lambda n: first + n / 10)
    result = one("update_flow", {**looped(model, optimizer, after=schedule.step), "keep": [schedule]})
    assert (result.status, result.findings) == ("ok", ())


def test_a_learning_rate_of_zero():
    model = planted.Net()
    assert accused(flow(model, TORCH.AdamW(model.parameters(), lr=0.0))) == {("nothing", "step")}


def test_a_forgotten_parameter():
    model = planted.Net()
    optimizer = TORCH.AdamW([p for name, p in model.named_parameters() if name != "first.weight"], lr=1e-3)
    result = flow(model, optimizer)
    assert accused(result) == {("unmoved", "first.weight")}
    assert "no optimizer holds it" in result.findings[0].text


def test_without_its_batch_an_unmoved_parameter_of_an_optimizer_is_a_note():
    """The loop's own data may leave an expert idle that the given batch reaches."""
    model = planted.Net()
    optimizer = TORCH.SGD(model.parameters(), lr=0.1, momentum=0.9)
    other = given(model)["batch"] | {"label": torch.zeros(8, dtype=torch.long), "ids": torch.ones(8, 20, dtype=torch.long)}

    def step():
        optimizer.zero_grad()
        (planted.classify(model, other) + 0 * model.first.weight.sum()).backward()
        model.first.weight.grad = None
        optimizer.step()

    result = one("update_flow", {**given(model, optimizer=optimizer), "step": step})
    assert (result.status, notes(result)) == ("ok", {"unmoved"})


def test_weights_that_are_rounded_to_bfloat16():
    model = planted.Net()
    result = one("update_flow", looped(model, TORCH.AdamW(model.parameters(), lr=1e-3), after=lambda: round_weights(model)))
    assert accused(result) == {("stall", name) for name, _ in model.named_parameters()}


class Gained(planted.Net):
    """A norm whose gain is 1: the last place of bfloat16 there is 1/128."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(D))
        self.between = lambda h: self.gain * h


def test_bfloat16_weights_without_a_master_copy_stall():
    model = Gained().bfloat16()
    result = flow(model, TORCH.AdamW(model.parameters(), lr=1e-5))
    found = accused(result)
    assert ("unmoved", "gain") in found
    assert ("stall", "first.weight") in found
    assert "below half of a last place" in " ".join(f.text for f in result.accusations)


def test_a_master_copy_is_a_note():
    model = Gained().bfloat16()
    arguments = given(model)
    copies = [p.detach().float().requires_grad_() for p in model.parameters()]
    optimizer = TORCH.AdamW(copies, lr=1e-5)

    def step():
        model.zero_grad()
        planted.classify(model, arguments["batch"]).backward()
        for copy, p in zip(copies, model.parameters(), strict=True):
            copy.grad = p.grad.float()
        optimizer.step()
        with torch.no_grad():
            for copy, p in zip(copies, model.parameters(), strict=True):
                p.copy_(copy)

    result = one("update_flow", {**arguments, "optimizer": optimizer, "step": step})
    assert (result.status, notes(result)) == ("ok", {"copied"})


def test_updates_of_weights_one_step_old():
    model, old = planted.Net(), {}

    def stale():
        with torch.no_grad():
            for name, p in model.named_parameters():
                now = p.clone()
                p.copy_(old.get(name, p))
                old[name] = now

    for optimizer in (TORCH.AdamW(model.parameters(), lr=1e-3), TORCH.SGD(model.parameters(), lr=0.1)):
        old.clear()
        result = one("update_flow", looped(model, optimizer, before=stale))
        assert accused(result) == {("lost_update", name) for name, _ in model.named_parameters()}


def test_a_frozen_parameter_that_moves():
    model = planted.Net()
    model.first.requires_grad_(requires_grad=False)

    def drift():
        with torch.no_grad():
            model.first.bias.add_(0.1)

    arguments = looped(model, TORCH.AdamW(model.parameters(), lr=1e-3), after=drift)
    assert accused(one("update_flow", arguments)) == {("moved_frozen", "first.bias")}
    assert one("update_flow", arguments, frozen=["first.weight"]).status == "ok"  # an average of a teacher's, meant to move


def test_a_step_as_long_as_the_weights():
    model = planted.Net()
    assert ("replaced", "first.weight") in accused(flow(model, TORCH.SGD(model.parameters(), lr=1e4)))


def test_weights_that_are_not_finite_afterwards():
    model = planted.Net()
    result = one("update_flow", looped(model, TORCH.SGD(model.parameters(), lr=0.1), before=lambda: model.first.bias.grad.mul_(math.inf)))
    assert accused(result) == {("nonfinite", "first.bias")}


def test_an_epsilon_larger_than_the_gradient():
    model = planted.Net()
    assert ("epsilon", "first.weight") in accused(flow(model, TORCH.AdamW(model.parameters(), lr=1e-3, eps=1.0)))


def test_adam_without_bias_correction_and_two_updates_a_step():
    model = planted.Net()
    optimizer = TORCH.AdamW(model.parameters(), lr=1e-3)
    for p in model.parameters():
        optimizer.state[p] = {"step": torch.tensor(1e6), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
    result = flow(model, optimizer)
    assert accused(result) == {("step_size", name) for name, _ in model.named_parameters()}
    assert "without bias correction" in result.findings[0].text
    model = planted.Net()
    optimizer = TORCH.AdamW(model.parameters(), lr=1e-3)
    result = one("update_flow", looped(model, optimizer, after=optimizer.step))
    assert accused(result) == {("step_size", name) for name, _ in model.named_parameters()}
    assert "made twice" in result.findings[0].text


@pytest.mark.parametrize("steps", [1, 2])
def test_muon_with_too_few_iterations(steps):
    model = planted.Net()
    assert {f.kind for f in flow(model, with_muon(model, ns_steps=steps)).accusations} == {"not_orthogonal"}


def test_groups_say_which_optimizer_they_are_of():
    assert first_step.is_adam("FusedAdam")
    assert not first_step.is_adam("RAdam")
    assert first_step.is_muon(Group(optimizer="SingleDeviceMuonWithAuxAdam", names=(), options={"use_muon": True}))
    assert not first_step.is_muon(Group(optimizer="SingleDeviceMuonWithAuxAdam", names=(), options={"use_muon": False}))


SEEN = {
    "stale_weights": "lost_update",
    "bf16_stall": "stall",
    "forgotten_parameters": "unmoved",
    "no_bias_correction": "step_size",
    "adam_eps_large": "epsilon",
    "newton_schulz_once": "not_orthogonal",
    "muon_on_3d": "not_orthogonal",
}


@pytest.mark.parametrize("fault", SEEN)
def test_faults_of_the_trainer(fault):
    assert SEEN[fault] in {kind for kind, _ in accused(planted.asked_of_trainer("update_flow", fault))}


RUNS = [{}, {"dtype": "bfloat16"}, {"optimizer": "adamw"}, {"dropout": 0.3, "head": "tied"}, {"clip": 0.05, "seed": 4}]


@pytest.mark.parametrize("options", RUNS)
def test_the_healthy_trainer_passes(options):
    result = planted.asked_of_trainer("update_flow", **options)
    assert (result.status, result.findings) == ("ok", ())


def test_the_trainer_is_left_where_it_was():
    with trainer() as arguments:
        run = arguments["keep"][0].run
        before = {name: p.clone() for name, p in arguments["model"].named_parameters()}
        for check in ("update_flow", "update_parity"):
            assert one(check, arguments).status == "ok"
        assert run.step == 0
        assert all(torch.equal(before[name], p) for name, p in arguments["model"].named_parameters())
        assert not run.optimizers["adamw"].state
