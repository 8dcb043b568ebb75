"""directional_gradient, and the slopes it measures: a wrong gradient is named, kinks, routing and noise are not taken for one."""

import arbiter_planted as planted
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from arbiter_models import Checkpointed, Conditioned, D, Mixture, T
from arbiter_planted import accused, backward, given, named, one
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from torch import nn

from gradarbiter import slopes
from gradarbiter.result import NotAsked

pytestmark = pytest.mark.arbiter

UPSTREAM = {"embedding.weight", "first.weight", "first.bias"}
WRONG = {
    "half of the size": lambda g: 0.5 * g,
    "the other sign": torch.neg,
    "every second element missing": lambda g: g * (torch.arange(g.shape[-1]) % 2),
    "columns in another order": lambda g: g.roll(1, -1),
}


def directional(model, **options):
    return one("directional_gradient", given(model, **options))


@pytest.fixture(params=["float64 copy", "own dtype"])
def where(request, monkeypatch):
    if request.param == "own dtype":
        monkeypatch.setattr("gradarbiter.frameworks.torch.TorchSubject.wide", lambda _: None)
    return request.param


def test_a_healthy_model_passes(where):
    result = directional(planted.Net())
    assert (result.status, result.findings) == ("ok", ())


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_gradient_is_named(wrong, where):
    found = named(directional(planted.Net(backward(WRONG[wrong]))))
    assert {"first.weight", "first.bias"} <= found <= UPSTREAM


def test_in_float64_a_thousandth_is_seen():
    found = named(directional(planted.Net(backward(lambda g: 1.001 * g))))
    assert {"first.weight", "first.bias"} <= found <= UPSTREAM


def test_a_part_of_the_graph_that_is_cut_is_named(where):
    """The stream is detached where a branch is added: what is below learns through the branch alone."""

    class Cut(planted.Net):
        def forward(self, ids):
            x = self.embedding(ids).mean(1)
            return self.head(x.detach() + self.tanh(self.second(x)))

    model = Cut()
    model.first.requires_grad_(requires_grad=False)
    assert accused(directional(model)) == {("wrong", "embedding.weight")}


def test_a_missing_gradient_is_a_wrong_one():
    assert {"first.weight", "first.bias"} <= named(directional(planted.Net(torch.detach)))


def test_a_straight_through_estimator_is_accused_as_it_says():
    rounded = lambda h: h + (h.mul(64).round().div(64) - h).detach()  # noqa: E731
    result = directional(planted.Net(rounded))
    assert result.status == "fail" or "not smooth" in result.reason or "uneven" in result.reason


def next_token(model, batch):
    return F.cross_entropy(model(batch["ids"][:, :-1]).flatten(0, 1), batch["ids"][:, 1:].flatten())


def diffusion(model, batch):
    noise = torch.randn(8, T, 8)
    return F.mse_loss(model(noise, torch.rand(8)), noise)


def bf16(model, batch):
    with torch.autocast("cpu", torch.bfloat16):
        return planted.classify(model, batch)


HEALTHY = {
    "relu": lambda: given(planted.Net(tanh=F.relu)),
    "absolute values and a maximum": lambda: given(planted.Net(tanh=lambda h: torch.maximum(h.abs(), h.roll(1, -1)))),
    "batch norm and dropout": lambda: given(planted.Net(nn.Sequential(nn.BatchNorm1d(D), nn.Dropout(0.3)))),
    "routing": lambda: given(Mixture(), next_token),
    "activation checkpointing": lambda: given(Checkpointed(), next_token),
    "zero-initialised branches": lambda: given(Conditioned(), diffusion),
    "bf16 autocast": lambda: given(planted.Net(), bf16),
    "a large loss": lambda: given(planted.Net(), lambda m, b: 1e4 + planted.classify(m, b)),
    "a small loss": lambda: given(planted.Net(), lambda m, b: 1e-6 * planted.classify(m, b)),
    "a head of float32 sums": lambda: given(planted.Net(), lambda m, b: planted.classify(m, b).float()),
}


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("seed", range(3))
def test_healthy_ones_pass(name, seed):
    torch.manual_seed(seed)
    result = one("directional_gradient", HEALTHY[name]())
    assert (result.status, result.reason) == ("ok", "")


@pytest.mark.parametrize("name", ["relu", "batch norm and dropout", "zero-initialised branches", "a small loss"])
def test_healthy_ones_pass_in_their_own_dtype(name, monkeypatch):
    monkeypatch.setattr("gradarbiter.frameworks.torch.TorchSubject.wide", lambda _: None)
    result = one("directional_gradient", HEALTHY[name]())
    assert result.status != "fail"


def test_what_cannot_be_known_is_not_asked(monkeypatch):
    monkeypatch.setattr("gradarbiter.frameworks.torch.TorchSubject.wide", lambda _: None)
    assert "too noisy" in one("directional_gradient", HEALTHY["bf16 autocast"]()).reason
    assert "too noisy" in one("directional_gradient", HEALTHY["a large loss"]()).reason
    assert "no float64 copy" in directional(planted.Net().bfloat16()).reason
    assert "not finite" in directional(planted.Net(), loss_fn=lambda m, b: planted.classify(m, b) / 0).reason


@pytest.mark.parametrize(
    ("fault", "right"),
    [("rms_norm_half_backward", {"norm.weight", "head.weight"}), ("detached_residual", {"norm.weight", "head.weight"})],
)
def test_faults_of_the_trainer(fault, right):
    found = named(planted.asked_of_trainer("directional_gradient", fault))
    assert "embedding.weight" in found
    assert not found & right


@pytest.mark.parametrize("options", [{}, {"dropout": 0.3}, {"dtype": "bfloat16"}, {"head": "tied"}])
def test_the_healthy_trainer_passes(options):
    result = planted.asked_of_trainer("directional_gradient", **options)
    assert (result.status, result.reason) == ("ok", "")


class Line:
    """A subject whose loss is a function of one number."""

    def __init__(self, function):
        self.function, self.at = function, np.zeros(1)

    def write(self, values):
        self.at = values["t"]

    def loss(self, _batch=None):
        return float(self.function(float(self.at[0])))


def slope(function, h=1e-4):
    return slopes.slope(Line(function), {"t": np.zeros(1)}, {"t": np.ones(1)}, h=h, at_start=float(function(0.0)))


@drawn(st.lists(st.floats(-10, 10), min_size=6, max_size=6), st.sampled_from([1e-4, 1e-3, 1e-2]))
@settings(max_examples=200, deadline=None)
def test_the_error_of_a_slope_covers_the_truth(coefficients, h):
    at = slope(lambda t: sum(c * t**i for i, c in enumerate(coefficients)), h)
    assert abs(at.value - coefficients[1]) <= at.error


@pytest.mark.parametrize("seed", range(200))
def test_noise_is_covered_too(seed):
    draw = np.random.default_rng(seed)
    at = slope(lambda t: 3 + 0.01 * t + 1e-6 * draw.standard_normal())
    assert abs(at.value - 0.01) <= at.error


def test_a_slope_is_known_well_where_it_can_be():
    at = slope(lambda t: 5 + np.sin(t))  # a short number at 0
    assert at.error < 1e-7
    assert slope(lambda t: np.float32(5 + np.sin(t))).error > 1e-3
    assert slope(lambda _: np.nan).error == np.inf


def test_culprits_are_found_one_by_one_or_by_halves():
    tested = []

    def wrong(names):
        tested.append(names)
        return bool({"c", "x"} & set(names))

    names = list("abcdefghijklmnopqrstuvwxyz")
    assert slopes.culprits(names, wrong) == (["c", "x"], [])
    tested.clear()
    assert slopes.culprits(names, wrong, tests=25) == (["c", "x"], [])
    assert len(tested) < len(names)
    together = lambda group: {"c", "x"} <= set(group)  # noqa: E731
    assert slopes.culprits(names, together) == slopes.culprits(names, together, tests=25) == ([], [names])
    assert slopes.culprits(names, wrong, tests=5) == ([], [names[13:], names[:6]])  # out of tests


def test_rows_of_a_batch_of_tokens_are_few():
    class Tokens:
        batch = "all"

        def __init__(self, shape):
            self.shape = shape

        def tokens(self):
            if self.shape is None:
                raise NotAsked("no tokens")
            return np.zeros(self.shape)

        def with_rows(self, rows):
            return len(rows)

    assert [slopes.few_rows(Tokens(shape)) for shape in ((16, 512), (64, 16), (4, 16), None)] == [1, 16, "all", "all"]
