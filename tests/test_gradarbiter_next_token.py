"""The loss is the mean cross-entropy of the next token: targets, weights, softmax and value; planted defects beside their healthy twins."""

import pytest
import torch
import torch.nn.functional as F
from arbiter_models import Bigram, T, V, cross_entropy, text
from arbiter_trainer import shown
from torch import nn

import gradarbiter
from gradarbiter.subject import Expect
from trainer import data, device, faults
from trainer.faults.twin import twin_of

pytestmark = pytest.mark.arbiter
CHECK = "next_token"
SURE = Expect(next_token=True, padding=-1)


def asked(loss_fn, *, expect=SURE, model=None, batch=None):
    return gradarbiter.check(model or Bigram(), text() if batch is None else batch, loss_fn, expect=expect, only=[CHECK])[CHECK]


def kinds(result):
    assert result.status in ("ok", "fail"), result
    return [(finding.kind, finding.accuses) for finding in result.findings if finding.kind != "not asked"]


def test_the_mean_cross_entropy_of_the_next_token_is_healthy():
    assert kinds(asked(cross_entropy)) == []
    assert kinds(asked(cross_entropy, expect=Expect())) == []


@pytest.mark.parametrize("ahead", [0, 2, 3])
def test_targets_that_are_not_the_next_tokens(ahead):
    found = asked(lambda m, ids: cross_entropy(m, ids, ahead=ahead))
    assert kinds(found) == [("shift", True)]
    assert found.findings[0].numbers["shift"] == ahead
    assert kinds(asked(lambda m, ids: cross_entropy(m, ids, ahead=ahead), expect=Expect())) == [("shift", True)]


@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_a_batch_of_inputs_and_targets(ahead):
    """The last target is in no token of the inputs."""
    ids = text()
    batch = {"tokens": ids[:, : T - 1], "targets": ids[:, ahead : T - 1 + ahead]}

    def loss_fn(m, batch):
        return F.cross_entropy(m(batch["tokens"]).mT, batch["targets"])

    assert kinds(asked(loss_fn, batch=batch)) == ([] if ahead == 1 else [("shift", True)])
    assert kinds(asked(loss_fn, batch=batch, expect=Expect())) == ([] if ahead == 1 else [("shift", True)])


def test_a_handful_of_targets_that_happen_to_stand_elsewhere_is_no_language_model():
    """Two masked tokens, both of which also stand two places on."""
    ids = text()
    labels = torch.full_like(ids, -1)
    labels[0, 3], labels[2, 9] = ids[0, 5], ids[2, 11]

    def loss_fn(m, ids):
        return F.cross_entropy(m(ids).mT, labels, ignore_index=-1)

    assert asked(loss_fn, expect=Expect()).status == "not asked"
    assert kinds(asked(loss_fn)) == [("targets", True)]


def test_a_few_wrong_targets_are_named():
    def loss_fn(m, ids):
        targets = ids[:, 1:].clone()
        targets[2, 5] = (targets[2, 5] + 1) % V
        return F.cross_entropy(m(ids[:, :-1]).flatten(0, 1), targets.flatten())

    found = asked(loss_fn)
    assert kinds(found) == [("targets", True)]
    assert "1 of 80 scored positions" in found.findings[0].text
    assert "row 2, position 5" in found.findings[0].text
    assert asked(loss_fn, expect=Expect()).status == "not asked"


@pytest.mark.parametrize("shape", ["trainer", "transformers"])
def test_padding(shape):
    ids = text()
    ids[1, 12:] = -1
    healthy = cross_entropy if shape == "trainer" else hf
    assert kinds(asked(healthy, batch=ids)) == []
    scored = (lambda m, ids: cross_entropy(m, ids.clamp_min(0))) if shape == "trainer" else (lambda m, ids: hf(m, ids.clamp_min(0)))
    found = asked(scored, batch=ids)
    assert ("padding", True) in kinds(found)
    assert "9 positions" in found.findings[0].text


def hf(model, ids, **options):
    """Outputs for every token, shifted inside the loss: the last position has no target."""
    return F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=-1, **options)


def test_prompts_that_are_not_scored_are_healthy():
    def loss_fn(m, ids):
        targets = ids[:, 1:].clone()
        targets[:, : T // 2] = -1
        return F.cross_entropy(m(ids[:, :-1]).flatten(0, 1), targets.flatten(), ignore_index=-1)

    assert kinds(asked(loss_fn)) == []


def test_a_graph_that_is_cut_for_some_positions():
    """The loss is right to the bit in all three; where the cut is after the outputs, and where inside the model."""

    def after(z):
        return torch.cat([z[:, :5].detach(), z[:, 5:]], 1)

    assert kinds(asked(lambda m, ids: cross_entropy(m, ids, logits=after))) == [("cut", True)]
    for first in (True, False):
        model = Bigram()
        forward = model.forward
        cut = (
            (lambda z: torch.cat([z[:, :7].detach(), z[:, 7:]], 1)) if first else (lambda z: torch.cat([z[:, :-4], z[:, -4:].detach()], 1))
        )
        model.forward = lambda ids, forward=forward, cut=cut: cut(forward(ids))
        found = asked(cross_entropy, model=model)
        assert kinds(found) == [("cut", True)]
        assert f"the {'first 7' if first else 'last 4'} of 20 positions give head.weight no gradient" in found.findings[0].text


def test_a_soft_cap_after_the_output_layer_is_no_cut():
    """Outputs are not linear in it, so the sum that a cut would show in cannot be relied on."""
    for cap in (0.5, 1.0, 2.0):
        for seed in range(10):
            torch.manual_seed(seed)
            model = Bigram()
            nn.init.normal_(model.head.weight, std=0.1)
            forward = model.forward
            model.forward = lambda ids, forward=forward, cap=cap: cap * torch.tanh(forward(ids) / cap)
            assert kinds(asked(cross_entropy, model=model)) == []


@pytest.mark.parametrize("smoothing", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("loss_fn", [cross_entropy, hf])
def test_smoothing(smoothing, loss_fn):
    found = asked(lambda m, ids: loss_fn(m, ids, label_smoothing=smoothing))
    assert kinds(found) == [("smoothing", True)]
    assert found.findings[0].numbers["smoothing"] == pytest.approx(smoothing, rel=1e-3)
    assert kinds(asked(lambda m, ids: loss_fn(m, ids, label_smoothing=smoothing), expect=Expect())) == [("smoothing", False)]


def test_what_is_legitimate_is_a_note():
    def z_loss(m, ids):
        z = m(ids[:, :-1])
        return F.cross_entropy(z.flatten(0, 1), ids[:, 1:].flatten()) + 1e-3 * z.logsumexp(-1).square().mean()

    def mean_of_rows(m, ids):
        each = F.cross_entropy(m(ids[:, :-1]).mT, ids[:, 1:], ignore_index=-1, reduction="none")
        return (each.sum(1) / (ids[:, 1:] >= 0).sum(1)).mean()

    ids = text()
    ids[1, 12:] = -1
    assert kinds(asked(z_loss)) == [("z-loss", False)]
    assert kinds(asked(lambda m, ids: cross_entropy(m, ids) / 4)) == [("multiple", False)]
    assert kinds(asked(lambda m, ids: cross_entropy(m, ids, reduction="sum"))) == [("multiple", False)]
    assert kinds(asked(mean_of_rows, batch=ids)) == [("weights", False)]


def test_ids_that_do_not_exist():
    expect = Expect(next_token=True, vocab_size=V - 3)
    ids = text() % (V - 3)
    found = asked(cross_entropy, expect=expect, batch=ids)
    assert kinds(found) == [("vocabulary", True)]

    def masked(z):
        return z.masked_fill(torch.arange(V) >= V - 3, -torch.inf)

    assert kinds(asked(lambda m, ids: cross_entropy(m, ids, logits=masked), expect=expect, batch=ids)) == []


def test_logits_that_the_loss_rounds():
    assert kinds(asked(lambda m, ids: cross_entropy(m, ids, logits=lambda z: z.bfloat16().float()))) == [("rounded", True)]


def test_low_precision_that_is_the_models_own_is_healthy():
    assert kinds(asked(cross_entropy, model=Bigram().bfloat16())) == []
    assert kinds(asked(lambda m, ids: cross_entropy(m, ids, logits=lambda z: z.float()), model=Bigram().bfloat16())) == []

    def autocast(m, ids):
        with torch.autocast("cpu", torch.bfloat16):
            return cross_entropy(m, ids)

    assert kinds(asked(autocast)) == []


def test_a_sum_in_low_precision():
    def loss_fn(m, ids):
        each = cross_entropy(m, ids, reduction="none")
        total = torch.zeros((), dtype=torch.bfloat16)
        for one in each.bfloat16():
            total = total + one
        return total.float() / each.numel()

    assert kinds(asked(loss_fn)) == [("value", True)]


def test_another_loss_is_not_asked():
    assert "declared" in asked(cross_entropy, expect=Expect(next_token=False)).reason
    assert "not that of a cross-entropy" in asked(lambda m, ids: m(ids[:, :-1]).square().mean()).reason
    assert "targets are not tokens" in asked(lambda m, ids: cross_entropy(m, ids.roll(7, 0).flip(1)), expect=Expect()).reason


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("targets_two_ahead", "shift"),
        ("targets_not_shifted", "shift"),
        ("padding_scored", "padding"),
        ("padded_vocabulary_scored", "vocabulary"),
        ("smoothing_left_on", "smoothing"),
        ("graph_truncation", "cut"),
        ("bf16_sums", "value"),
    ],
)
def test_the_trainers_faults(fault, kind, folder):
    run = twin_of(faults.CATALOGUE[fault], folder)
    with device.entered(run.config) as place:
        assert kinds(gradarbiter.check(**shown(run.begin(place)), only=[CHECK])[CHECK]) == []
        with faults.plant(fault):
            found = gradarbiter.check(**shown(run.begin(place)), only=[CHECK])[CHECK]
    assert [finding.kind for finding in found.accusations] == [kind], found
