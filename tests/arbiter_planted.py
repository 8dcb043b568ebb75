"""Operations and set-ups with one planted defect, and the reference trainer with one of its faults on made-up text; careful that nothing needs a file."""

import contextlib

import torch
import torch.nn.functional as F
from arbiter_models import D, T, V
from arbiter_trainer import shown
from torch import nn
from trainer_run import Text

import gradarbiter
from gradarbiter import Expect
from trainer import config, device, faults, step

SMALL = {"width": 32, "ffn": 48, "length": 16, "window": 5, "batch": 2, "warmup": 2, "seed": 1, "progress": False, "out": ""}


def one(check, given, **expected):
    """The result of one check."""
    given = dict(given)
    expect = Expect(**expected) if expected else given.pop("expect", None)
    given.pop("expect", None)
    return gradarbiter.check(**given, expect=expect, only=[check])[check]


@contextlib.contextmanager
def trainer(fault=None, **options):
    """What `gradarbiter.check` is given for a small run of the trainer that began under the fault."""
    needed = faults.CATALOGUE[fault].options if fault else {}
    c = config.nano(**{**SMALL, **needed, **options})
    with faults.plant(fault) if fault else contextlib.nullcontext(), device.entered(c) as place:
        yield shown(step.begin(c, Text(), place))


def asked_of_trainer(check, fault=None, **options):
    with trainer(fault, **options) as given:
        return one(check, given)


def accused(result):
    """(kind, parameter) of all accusations; a check that raises or cannot be asked is no answer."""
    assert result.status in ("ok", "fail"), result.reason
    return {(finding.kind, finding.parameter) for finding in result.accusations}


def named(result):
    return {parameter for _, parameter in accused(result)}


def notes(result):
    return {finding.kind for finding in result.findings if not finding.accuses}


def backward(change):
    """The identity whose backward is ``change`` of the gradient."""

    class Changed(torch.autograd.Function):
        @staticmethod
        def forward(_ctx, x):
            return x.clone()

        @staticmethod
        def backward(_ctx, gradient):
            return change(gradient)

    return Changed.apply


class Net(nn.Module):
    """Two layers and a head over the mean of embeddings; ``between`` is applied to what the first layer says."""

    def __init__(self, between=lambda h: h, *, tanh=torch.tanh, seed=0):
        torch.manual_seed(seed)
        super().__init__()
        self.embedding, self.first, self.second = nn.Embedding(V, D), nn.Linear(D, D), nn.Linear(D, D)
        self.head, self.between, self.tanh = nn.Linear(D, 7), between, tanh

    def forward(self, ids):
        x = self.embedding(ids).mean(1)
        x = x + self.between(self.tanh(self.first(x)))
        return self.head(x + self.tanh(self.second(x)))


def classify(model, batch):
    return F.cross_entropy(model(batch["ids"]), batch["label"])


def given(model, loss_fn=classify, optimizer=None, **options):
    torch.manual_seed(7)
    batch = {"ids": torch.randint(0, V, (8, T)), "label": torch.randint(0, 7, (8,))}
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3) if optimizer is None else optimizer
    return {"model": model, "batch": batch, "loss_fn": loss_fn, "optimizer": optimizer, **options}


def looped(model, optimizer, *, before=lambda: None, after=lambda: None, **options):
    """The arguments of a check with a training loop of the user's."""
    arguments = given(model, optimizer=optimizer, **options)

    def accumulate():
        arguments["loss_fn"](model, arguments["batch"]).backward()

    def step():
        optimizer.zero_grad()
        accumulate()
        before()
        optimizer.step()
        after()

    return {**arguments, "step": step, "accumulate": accumulate}


class Scaled(Net):
    """LayerScale: a branch that begins at a millionth, which one step makes a thousandfold larger."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.full((D,), 1e-6))
        self.between = lambda h: self.scale * h


def with_muon(model, **options):
    hidden = [model.first.weight, model.second.weight]
    rest = [p for p in model.parameters() if all(p is not h for h in hidden)]
    return {"muon": torch.optim.Muon(hidden, lr=0.02, weight_decay=0.01, **options), "adamw": torch.optim.AdamW(rest, lr=1e-3)}


def round_weights(model):
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.bfloat16())
