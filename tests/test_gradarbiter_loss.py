"""The first loss and what accumulation makes of its gradient; planted defects beside their healthy twins."""

import arbiter_zoo as zoo
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from arbiter_models import Bigram, D, T, V, classified, cross_entropy, text
from arbiter_trainer import shown
from torch import nn

import gradarbiter
from gradarbiter.subject import Expect
from trainer import data, device, faults
from trainer.faults.twin import twin_of

pytestmark = pytest.mark.arbiter
CHECK = "loss_scale"


def asked(loss_fn, *, expect=None, model=None, batch=None, **given):
    batch = text() if batch is None else batch
    return gradarbiter.check(model or Bigram(), batch, loss_fn, expect=expect, only=[CHECK], **given)[CHECK]


def kinds(result):
    assert result.status in ("ok", "fail"), result
    return [(finding.kind, finding.accuses) for finding in result.findings if finding.kind != "not asked"]


# loss_scale: the first loss


@pytest.mark.parametrize(("loud", "status"), [(0.0, "ok"), (0.3, "ok"), (1.0, "ok"), (2.0, "fail"), (8.0, "fail")])
def test_the_first_loss_is_near_ln_v(loud, status):
    found = asked(cross_entropy, model=Bigram(loud))
    assert found.status == status
    if status == "fail":
        assert found.findings[0].kind == "hot"
        assert found.findings[0].numbers["deviation of the logits"] == pytest.approx(loud, rel=0.3)
    assert asked(cross_entropy, model=Bigram(loud), expect=Expect(trained=True)).status == "not asked"
    assert [f.kind for f in asked(cross_entropy).findings] == ["not asked"]  # the other half: no accumulate= was given


def test_targets_that_the_outputs_know_and_classes_that_are_frequent():
    torch.manual_seed(0)
    x, y = torch.randn(64, 10), torch.randint(0, 10, (64,))
    leak = nn.Linear(10, 10)
    nn.init.eye_(leak.weight)
    found = asked(classified, model=leak, batch=(x + 2 * F.one_hot(y, 10), y))
    assert kinds(found) == [("known", True)]
    rare = torch.where(torch.rand(64) < 0.9, 0, y)
    biased = nn.Linear(10, 10)
    biased.bias.data[0] = 4.0
    assert kinds(asked(classified, model=biased, batch=(x, rare))) == [("frequencies", False)]
    assert kinds(asked(classified, model=nn.Linear(10, 10), batch=(x, rare))) == []


def test_a_tied_output_layer_that_is_trained_for_its_input():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.embedding = nn.Embedding(V, D)
            nn.init.normal_(self.embedding.weight, std=0.35)

        def forward(self, ids):
            return self.embedding(ids) @ self.embedding.weight.T

    assert kinds(asked(cross_entropy, model=Tied())) == []
    assert kinds(asked(lambda m, ids: cross_entropy(m, ids, ahead=0), model=Tied())) == [("known", True)]
    repeats = text().repeat_interleave(2, 1)[:, : T + 1]  # every second token is followed by itself: half of the loss is low, and healthy
    assert kinds(asked(cross_entropy, model=Tied(), batch=repeats[:, 1:])) != [("hot", True)]


# loss_scale: accumulation


def accumulating(*, scale=0.5, rounded=False, rows=(2, 2), train=False, model=None, batch=None):
    model, ids = model or Bigram(), text() if batch is None else batch

    def accumulate():
        if train:
            model.train()
        for micro in ids.split(rows):
            (scale * cross_entropy(model, micro)).backward()
            for p in model.parameters() if rounded else ():
                p.grad.copy_(p.grad.bfloat16())

    return asked(cross_entropy, model=model, batch=ids, accumulate=accumulate)


def test_accumulation_gives_the_gradient_of_the_whole_batch():
    assert kinds(accumulating()) == []
    assert kinds(accumulating(model=Bigram().bfloat16())) == []


def test_micro_batches_that_are_not_divided():
    found = accumulating(scale=1.0)
    assert kinds(found) == [("scale", True)]
    assert found.findings[0].numbers["times"] == pytest.approx(2)
    assert "2 micro-batches" in found.findings[0].text


def test_means_of_unequal_micro_batches():
    ids = text()
    ids[3, 8:] = -1
    assert kinds(accumulating(batch=ids)) == [("unequal", True)]
    assert kinds(accumulating(rows=(1, 3))) == [("unequal", True)]


def test_gradients_that_are_summed_in_low_precision():
    found = accumulating(rounded=True)
    assert kinds(found) == [("rounded", True)]
    assert found.findings[0].parameter in ("embedding.weight", "head.weight", "head.bias")


def test_dropout_is_no_difference_and_a_forced_training_mode_is_said():
    class Dropping(Bigram):
        def forward(self, ids):
            x = F.dropout(self.embedding(ids), 0.3, self.training)
            return self.head(F.dropout(x, 0.3, self.training))  # a second draw: one alone is the same for parts of a batch as for the whole

    assert kinds(accumulating(model=Dropping())) == []
    found = accumulating(model=Dropping(), train=True)
    assert [finding.kind for finding in found.findings] == ["not asked"]
    assert "sets training mode itself" in found.findings[0].text


def test_a_gradient_that_is_nothing_but_rounding_is_not_accused():
    """The key's bias has no effect (softmax does not see a shift): its gradient is what rounding leaves of nothing."""
    given = zoo.hf_opt(0)
    model, ids = given["model"], given["batch"]["input_ids"]

    def accumulate():
        for rows in ids.split(1):
            (model(input_ids=rows, labels=rows).loss / len(ids)).backward()

    found = gradarbiter.check(**given, accumulate=accumulate, only=[CHECK])[CHECK]
    assert kinds(found) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("hot_initialisation", "hot"),
        ("mean_of_means", "unequal"),
        ("accumulation_not_divided", "scale"),
        ("bf16_gradient_sums", "rounded"),
    ],
)
def test_the_trainers_faults(fault, kind, folder):
    run = twin_of(faults.CATALOGUE[fault], folder)
    with device.entered(run.config) as place:
        assert kinds(gradarbiter.check(**shown(run.begin(place)), only=[CHECK])[CHECK]) == []
        with faults.plant(fault):
            found = gradarbiter.check(**shown(run.begin(place)), only=[CHECK])[CHECK]
    assert [finding.kind for finding in found.accusations] == [kind], found


def test_numbers_are_plain():
    """They end in JSON."""
    for finding in (*asked(cross_entropy, model=Bigram(8.0)).findings, *accumulating(scale=1.0).findings):
        assert all(isinstance(value, int | float | np.number) for value in finding.numbers.values())
