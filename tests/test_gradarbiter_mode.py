"""Evaluation is deterministic and rows do not mix: chance and mixing are found wherever they hide, and loss functions may draw noise."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from arbiter_models import Classifier, Encoder
from arbiter_trainer import shown
from torch import nn

import gradarbiter
from gradarbiter.subject import Expect
from trainer import data, device, faults
from trainer.faults.twin import twin_of

pytestmark = pytest.mark.arbiter


class Net(nn.Module):
    """Two linear layers with something between them."""

    def __init__(self, between):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.between, self.last = nn.Linear(6, 16), between, nn.Linear(16, 3)

    def forward(self, x):
        return self.last(self.between(self.first(x)))


class Do(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def asked(between, check, *, rows=8, model=None, expect=None, loss_fn=lambda m, x: m(x).square().mean()):
    torch.manual_seed(1)
    return gradarbiter.check(model or Net(between), torch.randn(rows, 6), loss_fn, expect=expect, only=[check])[check]


@pytest.mark.parametrize(
    "healthy", [nn.Identity(), nn.Dropout(0.5), nn.BatchNorm1d(16), nn.LayerNorm(16), Do(torch.relu)], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize("check", ["mode", "batch_independence"])
def test_healthy(healthy, check):
    assert asked(healthy, check).status == "ok"


def test_dropout_that_evaluation_leaves_on():
    found = asked(Do(lambda x: F.dropout(x, 0.3)), "mode")
    assert found.status == "fail"
    assert "dropout" in found.findings[0].text
    assert asked(Do(lambda x: F.dropout(x, 0.3)), "batch_independence").status == "ok"  # the same draw each time: rows do not mix


def test_chance_below_rounding_is_chance():
    """Stochastic rounding: only the seed decides."""
    found = asked(Do(lambda x: x + 1e-7 * torch.randn_like(x)), "mode")
    assert found.status == "fail"
    assert found.findings[0].numbers["other random numbers"] < found.findings[0].numbers["rounding"]


def test_chance_behind_a_zero_initialised_gate():
    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Parameter(torch.zeros(16))

        def forward(self, x):
            return x + self.gate * F.dropout(x, 0.3)

    gated = Gated()
    assert asked(gated, "mode").status == "fail"
    assert not gated.gate.any()


def test_a_model_that_counts_its_calls_or_draws_without_a_seed():
    count = itertools.count(1)
    found = asked(Do(lambda x: x * (1 + next(count))), "mode")
    assert found.status == "fail"
    assert "from call to call" in found.findings[0].text


def test_sums_in_no_fixed_order_are_a_note():
    count = itertools.count(1)
    found = asked(Do(lambda x: x * (1 + 1e-7 * next(count))), "mode")
    assert found.status == "ok"
    assert found.findings[0].kind == "rounding"


@pytest.mark.parametrize("check", ["mode", "batch_independence"])
def test_noise_that_the_loss_draws_is_no_chance_of_the_model(check):
    def loss_fn(model, x):
        noise = torch.randn_like(x)
        return F.mse_loss(model(x + noise), noise[:, :3])

    assert asked(nn.Identity(), check, loss_fn=loss_fn).status == "ok"
    assert asked(Do(lambda x: F.dropout(x, 0.3)), "mode", loss_fn=loss_fn).status == "fail"


@pytest.mark.parametrize("rows", [2, 3, 8])
@pytest.mark.parametrize(
    "mixes",
    [
        lambda x: (x - x.mean(0)) / x.std(0),  # BatchNorm that trains in evaluation
        lambda x: x + 0.01 * x.sum(0),
        lambda x: x + x.roll(1, 0),
        lambda x: x + torch.cat([x[:1] * 0, x[:-1]]),  # rows see the one before
        lambda x: x + torch.cat([x[1:], x[-1:] * 0]),  # or the one after
        lambda x: x.T.reshape(x.shape),  # rows and channels mixed up
    ],
)
def test_rows_that_mix(mixes, rows):
    found = asked(Do(mixes), "batch_independence", rows=rows)
    assert found.status == "fail"
    assert found.findings[0].kind == "mixing"
    assert asked(Do(mixes), "mode", rows=rows).status == "ok"


def test_batch_norm_without_running_statistics_mixes():
    assert asked(nn.BatchNorm1d(16, track_running_stats=False), "batch_independence").status == "fail"


def test_a_transformer_of_torch_is_healthy():
    torch.manual_seed(0)
    batch = {"tokens": torch.randint(0, 61, (4, 20)), "label": torch.randint(0, 5, (4,))}
    loss_fn = lambda m, b: F.cross_entropy(m(b["tokens"]), b["label"])  # noqa: E731
    report = gradarbiter.check(Classifier(Encoder(learned=False)), batch, loss_fn, only=["mode", "batch_independence"])
    assert [result.status for result in report.results] == ["ok", "ok"]


@pytest.mark.parametrize("shape", [(), (8,)])
def test_outputs_of_one_number_or_one_a_row(shape):
    """A module that returns its loss, and a regression of one number."""

    class Scalar(nn.Module):
        def __init__(self, drop):
            super().__init__()
            self.net, self.drop = Net(nn.Identity()), drop

        def forward(self, x):
            out = F.dropout(self.net(x), 0.3 * self.drop).mean(-1)
            return out if shape else out.mean()

    found = [gradarbiter.check(Scalar(drop), torch.randn(8, 6), lambda m, x: m(x).mean(), only=["mode"])["mode"].status for drop in (0, 1)]
    assert found == ["ok", "fail"]


def test_what_cannot_be_asked_is_said():
    mixes = Do(lambda x: x + x.mean(0))
    assert "at least two" in asked(mixes, "batch_independence", rows=1).reason
    assert "declared" in asked(mixes, "batch_independence", expect=Expect(batch_mixing=True)).reason
    alike = gradarbiter.check(Net(mixes), torch.ones(4, 6), lambda m, x: m(x).mean(), only=["batch_independence"])
    assert "rows differ" in alike["batch_independence"].reason
    silent = Net(nn.Identity())
    nn.init.zeros_(silent.first.weight)
    with torch.no_grad():
        silent.last.weight.mul_(0).add_(torch.nan)
    assert "not a number" in asked(None, "mode", model=silent).reason


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


@pytest.mark.parametrize("planted", [True, False])
def test_the_trainers_fault(planted, folder):
    run = twin_of(faults.CATALOGUE["dropout_in_eval"], folder)
    with device.entered(run.config) as place:
        if planted:
            with faults.plant("dropout_in_eval"):
                report = gradarbiter.check(**shown(run.begin(place)), only=["mode", "batch_independence"])
        else:
            report = gradarbiter.check(**shown(run.begin(place)), only=["mode", "batch_independence"])
    assert report["mode"].status == ("fail" if planted else "ok")
    assert report["batch_independence"].status == "ok"
