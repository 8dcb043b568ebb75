"""gradient_parity: a rounding that nobody asked for, a wrong formula and a missing gradient are seen, and healthy rounding is not."""

import arbiter_planted as planted
import pytest
import torch
import torch.nn.functional as F
from arbiter_models import Checkpointed, Conditioned, D, T, Transformer, V
from arbiter_planted import accused, backward, given, named, one
from torch import nn

from gradarbiter.subject import Answer

pytestmark = pytest.mark.arbiter


def rounded(x, dtype=torch.bfloat16):
    return x.to(dtype).to(x.dtype)


def next_token(model, batch):
    return F.cross_entropy(model(batch["ids"][:, :-1]).flatten(0, 1), batch["ids"][:, 1:].flatten())


def bf16(loss_fn):
    def under(model, batch):
        with torch.autocast("cpu", torch.bfloat16):
            return loss_fn(model, batch)

    return under


def parity(model, loss_fn=planted.classify, *, expect=None, **options):
    return one("gradient_parity", given(model, loss_fn, **options), **(expect or {}))


def deep():
    torch.manual_seed(0)
    return Transformer("rope", layers=6)


class KeyBias(nn.Module):
    """Of its keys' bias the true gradient is 0, and what is computed is rounding alone."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(V, D), nn.Linear(D, 7)
        self.query, self.key, self.value = (nn.Linear(D, D) for _ in range(3))

    def forward(self, ids):
        x = self.embedding(ids)
        return self.head((x + F.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))).mean(1))


def diffusion(model, batch):
    noise, time = torch.randn_like(batch["x"]), torch.rand_like(batch["x"][:, 0, 0])
    return F.mse_loss(model(time[:, None, None] * batch["x"] + noise, time), noise)


HEALTHY = {
    "a small one": lambda: given(planted.Net()),
    "six layers": lambda: given(deep(), next_token),
    "a bias of keys": lambda: given(KeyBias()),
    "activation checkpointing": lambda: given(Checkpointed(), next_token),
    "a loss that draws noise": lambda: {**given(Conditioned(), diffusion), "batch": {"x": torch.randn(4, T, 8)}},
    "dropout and batch norm": lambda: given(planted.Net(nn.Sequential(nn.BatchNorm1d(D), nn.Dropout(0.3)))),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_rounding_is_allowed(name, autocast, seed):
    torch.manual_seed(seed)
    arguments = HEALTHY[name]()
    if autocast:
        arguments["loss_fn"] = bf16(arguments["loss_fn"])
    result = one("gradient_parity", arguments)
    assert (result.status, result.findings) == ("ok", ())


@pytest.mark.parametrize("make", [planted.Net, KeyBias])
def test_weights_in_bfloat16_are_healthy_too(make):
    torch.manual_seed(0)
    result = parity(make().bfloat16())
    assert (result.status, result.findings) == ("ok", ())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_rounding_in_the_forward_pass_shows_in_loss_outputs_and_gradients(dtype):
    result = parity(planted.Net(lambda h: rounded(h, dtype)))
    assert {"outputs", "gradient"} <= {kind for kind, _ in accused(result)}
    assert "embedding.weight" in named(result)


def test_a_rounding_in_the_backward_pass_shows_in_gradients_alone():
    result = parity(planted.Net(backward(rounded)))
    assert named(result) == {"embedding.weight", "first.weight", "first.bias"}


def test_a_rounding_deep_inside_is_found():
    model = deep()
    model.feed[2].register_forward_hook(lambda _module, _inputs, out: rounded(out))
    assert parity(model, next_token).status == "fail"


def test_what_was_declared_is_allowed():
    """The residual stream is kept in bfloat16 on purpose, without autocast."""
    model = planted.Net(rounded)
    assert parity(model, expect={"dtype": "bfloat16"}).status == "ok"
    assert parity(model, expect={"dtype": "float32"}).status == "fail"
    assert "one of" in parity(model, expect={"dtype": "half"}).reason


def test_under_autocast_a_wrong_gradient_is_still_seen():
    result = parity(planted.Net(backward(lambda g: 0.5 * g)), bf16(planted.classify), reference=textbook)
    assert {"first.weight", "first.bias"} <= named(result)


def textbook(values, batch):
    """`planted.Net` by hand, in float64."""
    w = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in values.items()}
    layer = lambda x, name: x @ w[f"{name}.weight"].T + w[f"{name}.bias"]  # noqa: E731
    x = w["embedding.weight"][batch["ids"]].mean(1)
    x = x + torch.tanh(layer(x, "first"))
    out = layer(x + torch.tanh(layer(x, "second")), "head")
    loss = F.cross_entropy(out, batch["label"])
    loss.backward()
    gradients = {name: p.grad.numpy() for name, p in w.items()}
    return Answer(loss=float(loss.detach()), gradients=gradients, outputs=out.detach().numpy())


def test_a_second_implementation_is_preferred():
    assert parity(planted.Net(), reference=textbook).findings == ()
    assert parity(planted.Net(tanh=torch.sin)).findings == ()  # a copy has the same wrong formula
    result = parity(planted.Net(tanh=torch.sin), reference=textbook)
    assert {("loss", "loss"), ("outputs", "outputs")} <= accused(result)


def test_a_missing_gradient_is_accused():
    result = parity(planted.Net(torch.detach), reference=textbook)
    assert {("missing", "first.weight"), ("missing", "first.bias")} <= accused(result)


def test_the_worst_come_first_and_the_rest_is_counted():
    model = deep()
    model.embedding.register_forward_hook(lambda _module, _inputs, out: rounded(out))
    result = parity(model, next_token)
    ratios = [f.numbers["ratio"] for f in result.findings if f.kind == "gradient"]
    assert ratios == sorted(ratios, reverse=True)
    assert len(ratios) == 8
    assert result.findings[-1].kind == "extent"


def test_a_backward_fault_is_placed():
    model = deep()
    function = backward(lambda g: 0.9 * g)
    model.mix[3].register_forward_hook(lambda _module, _inputs, out: function(out))
    result = parity(model, next_token, reference=float64_of(deep()))
    assert "loss and outputs agree" in result.findings[-1].text
    assert "last mix.3.bias" in result.findings[-1].text or "mix.3" in str(named(result))


def float64_of(model):
    model = model.double()

    def answer(values, batch):
        model.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
        model.zero_grad()
        loss = next_token(model, batch)
        loss.backward()
        return Answer(loss=float(loss.detach()), gradients={name: p.grad.numpy() for name, p in model.named_parameters()})

    return answer


def test_what_cannot_be_asked_says_why(monkeypatch):
    assert "float64 copy says nan" in parity(planted.Net(), lambda m, b: planted.classify(m, b) * float("nan")).reason
    monkeypatch.setattr("gradarbiter.frameworks.torch.TorchSubject.wide", lambda _: None)
    result = parity(planted.Net())
    assert (result.status, "give reference=" in result.reason) == ("not asked", True)


def test_gradients_and_outputs_of_another_shape_are_accused_and_the_rest_is_compared():
    def transposed(values, batch):
        right = textbook(values, batch)
        first = {"first.weight": right.gradients["first.weight"][:, :1]}
        return Answer(loss=right.loss, gradients={**right.gradients, **first}, outputs=right.outputs[:, :5])

    result = parity(planted.Net(), reference=transposed)
    assert accused(result) == {("shape", "outputs"), ("shape", "first.weight")}
    assert result.findings[0].text == "shape (8, 7), the reference has (8, 5): not compared"
    result = parity(planted.Net(backward(lambda g: 0.9 * g)), reference=transposed)
    assert ("gradient", "first.bias") in accused(result)


@pytest.mark.parametrize("fault", ["targets_two_ahead", "padded_vocabulary_scored"])
def test_faults_of_the_trainer_that_give_outputs_of_another_shape(fault):
    assert ("shape", "outputs") in accused(planted.asked_of_trainer("gradient_parity", fault))


class Sometimes(nn.Module):
    """A wrong backward in one mode alone."""

    def __init__(self, *, training):
        super().__init__()
        self.wrong, self.when = backward(lambda g: 0.9 * g), training

    def forward(self, h):
        return self.wrong(h) if self.training == self.when else h


def test_a_gradient_is_of_evaluation_where_training_has_another():
    assert parity(planted.Net(Sometimes(training=True)), reference=textbook).findings == ()
    assert ("gradient", "first.weight") in accused(parity(planted.Net(Sometimes(training=False)), reference=textbook))
    for training in (True, False):  # a copy has the same fault: it is asked in the mode that the model was
        assert parity(planted.Net(Sometimes(training=training))).findings == ()


@pytest.mark.parametrize(
    "fault", ["bf16_norm", "bf16_attention", "bf16_logits", "bf16_angles", "rope_half", "gqa_interleaved", "layout_mismatch"]
)
def test_faults_of_the_trainer_in_the_forward_pass(fault):
    assert {"outputs", "embedding.weight"} <= named(planted.asked_of_trainer("gradient_parity", fault))


@pytest.mark.parametrize(
    "fault", ["half_gradients", "bf16_gradient_sums", "detached_residual", "rms_norm_half_backward", "attention_no_backward"]
)
def test_faults_of_the_trainer_in_the_backward_pass(fault):
    found = accused(planted.asked_of_trainer("gradient_parity", fault))
    assert {kind for kind, _ in found} == {"gradient"}


def test_a_loss_that_is_summed_in_bfloat16():
    assert accused(planted.asked_of_trainer("gradient_parity", "bf16_sums")) == {("loss", "loss")}


@pytest.mark.parametrize("options", [{}, {"dtype": "bfloat16"}, {"head": "tied"}, {"dropout": 0.3}, {"seed": 5}])
def test_the_healthy_trainer_passes(options):
    result = planted.asked_of_trainer("gradient_parity", **options)
    assert (result.status, result.findings) == ("ok", ())
