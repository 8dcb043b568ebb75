"""optimizer_cover: what an optimizer forgets, holds twice, holds of another model or should not hold is named."""

import arbiter_planted as planted
import pytest
import torch
from arbiter_models import D, V
from arbiter_planted import accused, given, notes, one
from torch import nn

import gradarbiter

pytestmark = pytest.mark.arbiter

AdamW = torch.optim.AdamW


class Language(nn.Module):
    def __init__(self, *, tied=False, stack=False):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.mix, self.norm = nn.Embedding(V, D), nn.Linear(D, D, bias=False), nn.LayerNorm(D)
        self.head = nn.Linear(D, V, bias=False)
        if tied:
            self.head.weight = self.embedding.weight
        self.stack = nn.Parameter(torch.randn(2, D, D) / D) if stack else None

    def forward(self, ids):
        x = self.embedding(ids)
        x = x + self.mix(self.norm(x))
        return self.head(x if self.stack is None else x + x @ self.stack[0] + x @ self.stack[1])


class Muon(torch.optim.Optimizer):
    """One that refuses nothing; it never steps here."""

    def __init__(self, params):
        super().__init__(params, {"lr": 0.02})

    def step(self):
        raise AssertionError("nobody needs a step to see this")


def next_token(model, batch):
    return nn.functional.cross_entropy(model(batch["ids"][:, :-1]).flatten(0, 1), batch["ids"][:, 1:].flatten())


def cover(model, optimizer, *, expect=None, **options):
    return one("optimizer_cover", given(model, next_token, optimizer, **options), **(expect or {}))


def parts(model, *names):
    """Parameters of these names, and all others."""
    named = dict(model.named_parameters())
    return [named[name] for name in names], [p for name, p in named.items() if name not in names]


def test_healthy_groups_pass():
    model = Language()
    muon, rest = parts(model, "mix.weight")
    result = cover(model, {"muon": Muon(muon), "adamw": AdamW([{"params": rest[:2]}, {"params": rest[2:]}])})
    assert (result.status, result.findings) == ("ok", ())
    tied = Language(tied=True)
    assert cover(tied, AdamW(tied.parameters()), expect={"tied": [("embedding.weight", "head.weight")]}).findings == ()


def test_a_forgotten_parameter():
    model = Language()
    _, rest = parts(model, "mix.weight")
    assert accused(cover(model, AdamW(rest))) == {("forgotten", "mix.weight")}


def test_a_parameter_that_moves_though_no_group_holds_it_is_a_note():
    model = Language()
    copies = [p.detach().clone().requires_grad_() for p in model.parameters()]
    optimizer, arguments = AdamW(copies), given(model, next_token)

    def step():
        next_token(model, arguments["batch"]).backward()
        for copy, p in zip(copies, model.parameters(), strict=True):
            copy.grad, p.grad = p.grad, None
        optimizer.step()
        with torch.no_grad():
            for copy, p in zip(copies, model.parameters(), strict=True):
                p.copy_(copy)

    result = one("optimizer_cover", {**arguments, "optimizer": optimizer, "step": step})
    assert (result.status, notes(result)) == ("ok", {"copied"})


def test_a_forgotten_parameter_is_told_from_a_warm_up():
    model = Language()
    _, rest = parts(model, "mix.weight")
    optimizer = AdamW(rest, lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: n / 10)
    arguments = given(model, next_token, optimizer)

    def step():
        optimizer.zero_grad()
        next_token(model, arguments["batch"]).backward()
        optimizer.step()
        schedule.step()

    result = one("optimizer_cover", {**arguments, "step": step, "keep": [schedule]})
    assert accused(result) == {("forgotten", "mix.weight")}


def test_a_parameter_in_two_optimizers():
    model = Language()
    result = cover(model, [AdamW(model.parameters()), Muon([model.mix.weight])])
    assert accused(result) == {("duplicated", "mix.weight")}
    assert result.findings[0].numbers["times"] == 2


def test_an_optimizer_of_a_model_that_was_made_again():
    model = Language()
    assert accused(cover(model, AdamW(Language().parameters()))) == {("foreign", "optimizer")}


def test_tensors_beside_the_models_are_a_note():
    model = Language()
    result = cover(model, AdamW([*model.parameters(), nn.Parameter(torch.ones(1))]))
    assert (result.status, notes(result)) == ("ok", {"foreign"})


def test_a_frozen_parameter_in_a_group_is_a_note():
    model = Language()
    model.mix.requires_grad_(requires_grad=False)
    result = cover(model, AdamW(model.parameters()))
    assert (result.status, notes(result)) == ("ok", {"frozen"})


@pytest.mark.parametrize("name", ["embedding.weight", "head.weight", "norm.weight", "stack"])
def test_muon_holds_hidden_matrices_only(name):
    model = Language(stack=True)
    held, rest = parts(model, "mix.weight", name)
    optimizers = {"muon": Muon(held), "adamw": AdamW(rest)}
    assert accused(cover(model, optimizers)) == {("fence", name)}
    assert cover(model, optimizers, expect={"hidden": ["mix.*", name]}).status == "ok"
    assert accused(cover(model, optimizers, expect={"hidden": [name]})) == {("fence", "mix.weight")}


def test_adams_groups_of_a_muon_are_told_by_their_option():
    model = Language()
    held, rest = parts(model, "mix.weight")
    assert cover(model, Muon([{"params": held, "use_muon": True}, {"params": rest, "use_muon": False}])).status == "ok"
    assert cover(model, Muon([{"params": held}, {"params": rest}])).status == "fail"


def test_two_that_should_be_one():
    model = Language()
    expect = {"tied": [("embedding.weight", "head.weight")]}
    assert accused(cover(model, AdamW(model.parameters()), expect=expect)) == {("untied", "head.weight")}
    assert accused(cover(model, [], expect=expect)) == {("untied", "head.weight")}  # no optimizer is needed to see it
    result = cover(model, AdamW(model.parameters()), expect={"tied": [("embed", "lm_head")]})
    assert "correct the names" in result.reason


def test_two_copies_of_one_weight():
    model = Language()
    model.head.weight.data.copy_(model.embedding.weight)
    assert accused(cover(model, AdamW(model.parameters()))) == {("untied", "head.weight")}
    for p in (model.head.weight, model.embedding.weight):
        nn.init.zeros_(p)  # alike, and no copy
    assert cover(model, AdamW(model.parameters())).status == "ok"


def test_without_an_optimizer_it_is_not_asked():
    result = cover(Language(), [])
    assert (result.status, "give optimizer=" in result.reason) == ("not asked", True)


FAULTS = {
    "forgotten_parameters": ("forgotten", "layers.{}.attention.value.weight"),
    "duplicated_parameters": ("duplicated", "layers.{}.attention.value.weight"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_trainers_groups(fault):
    kind, name = FAULTS[fault]
    assert accused(planted.asked_of_trainer("optimizer_cover", fault)) == {(kind, name.format(i)) for i in range(2)}


def test_faults_of_the_trainers_tables():
    assert accused(planted.asked_of_trainer("optimizer_cover", "muon_on_embeddings")) == {
        ("fence", "embedding.weight"),
        ("fence", "head.weight"),
    }
    assert accused(planted.asked_of_trainer("optimizer_cover", "tied_weights_untied")) == {("untied", "head.weight")}


@pytest.mark.parametrize("options", [{}, {"optimizer": "adamw"}, {"head": "tied"}])
def test_the_healthy_trainer_passes_and_nothing_moves(options):
    with planted.trainer(**options) as arguments:
        before = {name: p.clone() for name, p in arguments["model"].named_parameters()}
        assert one("optimizer_cover", arguments).findings == ()
        assert all(torch.equal(before[name], p) for name, p in arguments["model"].named_parameters())
    assert "optimizer_cover" in gradarbiter.checks.names()
