"""gradient_flow: each dead gradient that the loss would need is named, and no healthy one, however awkward."""

import time

import arbiter_planted as planted
import pytest
import torch
import torch.nn.functional as F
from arbiter_models import Checkpointed, Conditioned, D, Low, Mixture, T, V
from arbiter_planted import accused, given, named, notes, one, trainer
from torch import nn

import gradarbiter
from gradarbiter import slopes
from gradarbiter.checks.gradient_flow import gradient_flow
from gradarbiter.subject import Expect
from trainer import step

pytestmark = pytest.mark.arbiter


def flow(model, **options):
    expected = options.pop("expect", {})
    return one("gradient_flow", given(model, **options), **expected)


def test_a_healthy_model_passes():
    result = flow(planted.Net())
    assert (result.status, result.findings) == ("ok", ())


@pytest.mark.parametrize(
    ("kind", "between"),
    [
        ("missing", torch.detach),
        ("zero", planted.backward(torch.zeros_like)),
        ("vanishing", planted.backward(lambda g: 1e-12 * g)),
    ],
)
def test_a_dead_gradient_is_named_with_its_kind(kind, between):
    result = flow(planted.Net(between))
    assert accused(result) == {(kind, "first.weight"), (kind, "first.bias")}
    assert all(abs(f.numbers["slope"]) > f.numbers["error"] for f in result.accusations)


def test_no_float64_copy_is_needed(monkeypatch):
    monkeypatch.setattr("gradarbiter.frameworks.torch.TorchSubject.wide", lambda _: None)
    assert named(flow(planted.Net(planted.backward(torch.zeros_like)))) == {"first.weight", "first.bias"}


def test_a_gradient_that_is_not_finite_is_named():
    def loss_fn(model, batch):
        return planted.classify(model, batch) + (0 * model.first.bias).sqrt().sum()  # the derivative of a root at 0

    assert accused(flow(planted.Net(), loss_fn=loss_fn)) == {("nonfinite", "first.bias")}
    assert ("nonfinite", "loss") in accused(flow(planted.Net(), loss_fn=lambda m, b: planted.classify(m, b) * float("nan")))


class LowRank(planted.Net):
    """LoRA on both layers, whose product starts at zero; ``cut`` hides a defect behind it."""

    def __init__(self, cut=lambda a: a):
        super().__init__()
        self.requires_grad_(requires_grad=False)
        self.first, self.second = Low(self.first), Low(self.second)
        for low in (self.first, self.second):
            low.forward = lambda x, low=low: low.base(x) + F.linear(F.linear(x, cut(low.a)), low.b)


def test_zero_initialised_branches_are_read_again():
    result = flow(LowRank())
    assert (result.status, notes(result)) == ("ok", {"frozen", "woken"})
    assert named(flow(LowRank(cut=torch.detach))) == {"first.a", "second.a"}  # it shows after a step alone


def test_without_an_optimizer_it_is_read_once():
    result = flow(LowRank(), optimizer=[])
    assert (result.status, notes(result)) == ("ok", {"frozen", "unused"})


def test_a_warm_up_from_zero_is_waited_for():
    model = LowRank()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: n / 10)
    arguments = given(model, optimizer=optimizer)

    def train():
        optimizer.zero_grad()
        planted.classify(model, arguments["batch"]).backward()
        optimizer.step()
        schedule.step()

    result = one("gradient_flow", {**arguments, "step": train, "keep": [schedule]})
    assert (result.status, notes(result)) == ("ok", {"frozen", "woken"})
    assert schedule.last_epoch == 0


def test_factors_that_are_both_zero_are_stuck():
    model = LowRank()
    nn.init.zeros_(model.first.a)
    assert accused(flow(model)) == {("zero", "first.a"), ("zero", "first.b")}


def test_a_zero_layer_before_relu_never_wakes():
    model = planted.Net(tanh=F.relu)
    nn.init.zeros_(model.first.weight)
    nn.init.zeros_(model.first.bias)
    assert accused(flow(model)) == {("zero", "first.weight"), ("zero", "first.bias")}


def test_at_a_minimum_a_zero_gradient_is_right():
    model = nn.Linear(3, 1, bias=False)
    nn.init.ones_(model.weight)
    result = flow(model, loss_fn=lambda m, _: (1 + (m.weight - 1).square()).sum())
    assert (result.status, notes(result)) == ("ok", {"unused"})


def diffusion(model, batch):
    noise, time = torch.randn_like(batch["x"]), torch.rand_like(batch["x"][:, 0, 0])
    share = time[:, None, None]
    return F.mse_loss(model((1 - share) * batch["x"] + share * noise, time), noise - batch["x"])


def test_adaln_zero_wakes_a_layer_a_step():
    torch.manual_seed(0)
    result = one("gradient_flow", {**given(Conditioned(), diffusion), "batch": {"x": torch.randn(4, T, 8)}})
    assert (result.status, notes(result)) == ("ok", {"woken"})
    assert "2 taken" in result.findings[0].text


def next_token(model, batch):
    return F.cross_entropy(model(batch["ids"][:, :-1]).flatten(0, 1), batch["ids"][:, 1:].flatten())


def test_an_idle_expert_is_a_note_or_nothing():
    torch.manual_seed(0)
    result = flow(Mixture(), loss_fn=next_token)
    assert (result.status, notes(result)) == ("ok", {"unused"})
    assert flow(Mixture(), loss_fn=next_token, expect={"unused": ["experts.experts.*"]}).findings == ()


class KeyBias(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.head = nn.Embedding(V, D), nn.Linear(D, 7)
        self.query, self.key, self.value = (nn.Linear(D, D) for _ in range(3))

    def forward(self, ids):
        x = self.embedding(ids)
        return self.head((x + F.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))).mean(1))


def test_a_bias_that_the_loss_cannot_see_is_a_note():
    result = flow(KeyBias())
    assert (result.status, [f.parameter for f in result.findings]) == ("ok", ["key.bias"])


def bf16(model, batch):
    with torch.autocast("cpu", torch.bfloat16):
        return planted.classify(model, batch)


@pytest.mark.parametrize("make", [planted.Net, KeyBias, LowRank])
def test_under_autocast(make):
    assert flow(make(), loss_fn=bf16).status == "ok"


def test_under_autocast_a_dead_gradient_is_named():
    assert named(flow(planted.Net(torch.detach), loss_fn=bf16)) == {"first.weight", "first.bias"}


def test_activation_checkpointing_and_dropout():
    torch.manual_seed(0)
    assert flow(Checkpointed(), loss_fn=next_token).findings == ()


def test_frozen_parameters_are_counted_or_held_to_what_was_said():
    model = planted.Net()
    model.first.requires_grad_(requires_grad=False)
    result = flow(model)
    assert (result.status, [f.kind for f in result.findings]) == ("ok", ["frozen"])
    assert "2 of 7" in result.findings[0].text
    assert accused(flow(model, expect={"frozen": ()})) == {("frozen", "first.weight"), ("frozen", "first.bias")}
    assert flow(model, expect={"frozen": ["first.*"]}).findings == ()
    assert accused(flow(model, expect={"frozen": ["first.*", "second.weight"]})) == {("frozen", "second.weight")}


def test_a_step_that_raises_is_a_note_and_the_first_reading_stands():
    def train():
        raise RuntimeError("no gradient reached first")

    result = flow(planted.Net(torch.detach), step=train)
    assert named(result) == {"first.weight", "first.bias"}
    assert notes(result) == {"step"}


@pytest.mark.parametrize("fault", ["rms_norm_no_backward", "rope_no_backward", "attention_no_backward"])
def test_operations_of_the_trainer_without_a_backward(fault):
    with trainer(fault) as arguments:
        arguments["loss_fn"](arguments["model"], arguments["batch"]).backward()
        dead = {name for name, p in arguments["model"].named_parameters() if not p.grad.any()}
        found = accused(one("gradient_flow", arguments))
    assert len(dead) >= 4
    assert found == {("zero", name) for name in dead}


def test_parameters_of_the_trainer_that_were_frozen():
    found = accused(planted.asked_of_trainer("gradient_flow", "frozen_parameters"))
    assert found == {("frozen", f"layers.0.ffn.{part}.weight") for part in ("gate", "up", "down")}


def test_the_healthy_trainer_passes_and_is_left_as_it_was():
    with trainer() as arguments:
        before = {name: p.clone() for name, p in arguments["model"].named_parameters()}
        result = one("gradient_flow", arguments)
        assert (result.status, result.findings) == ("ok", ())
        assert all(torch.equal(before[name], p) and p.grad is None for name, p in arguments["model"].named_parameters())


def test_it_costs_at_most_1_3_training_steps():
    with trainer() as arguments:
        subject = gradarbiter.subject(**{key: value for key, value in arguments.items() if key != "expect"})

        def seconds(ask):
            start = time.process_time()
            ask()
            return time.process_time() - start

        gradient_flow(subject, Expect())
        ratios = [seconds(lambda: gradient_flow(subject, Expect())) / seconds(subject.step) for _ in range(9)]
    assert sorted(ratios)[4] <= 1.3


def test_the_norm_of_what_underflows_when_squared():
    small = torch.full((3,), 1e-30).numpy()
    assert slopes.norm(small) == pytest.approx(3**0.5 * 1e-30)
    assert slopes.norm(small[:0]) == 0


def test_steps_of_the_trainer_go_on_where_they_were():
    with trainer("rope_no_backward") as arguments:
        run = arguments["keep"][0].run
        one("gradient_flow", arguments)
        assert (run.step, run.outcomes) == (0, [])
        assert step.one_step(run).step == 0


class Sharp(planted.Net):
    """Its first layer has no gradient, and of a large loss that is none of its doing, rounding is as large as what it does."""

    def __init__(self, between, offset):
        super().__init__(between)
        self.offset = offset


def offset(model, batch):
    return planted.classify(model, batch) + model.offset


@pytest.mark.parametrize(("size", "status"), [(0.0, "fail"), (3e4, "not asked")])
def test_in_float32_alone_it_says_where_it_cannot_tell(size, status, monkeypatch):
    assert flow(Sharp(torch.detach, size), loss_fn=offset).status == "fail"
    monkeypatch.setattr("gradarbiter.frameworks.torch.TorchSubject.wide", lambda _: None)
    result = flow(Sharp(torch.detach, size), loss_fn=offset)
    assert (result.status, "cannot be told" in result.reason) == (status, status != "fail"), result
