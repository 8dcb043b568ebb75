"""What a subject was asked once is not asked again, unless it may have changed."""

import arbiter_planted as planted
import numpy as np
import pytest
import torch
from torch import nn

import gradarbiter
from gradarbiter.frameworks import subject
from gradarbiter.remembered import Remembered

pytestmark = pytest.mark.arbiter
SHARING = ("gradient_flow", "directional_gradient", "gradient_parity", "loss_scale", "position_sensitivity", "update_flow")


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.calls = nn.Linear(4, 3), nn.BatchNorm1d(3), 0

    def forward(self, x):
        self.calls += 1
        return self.norm(self.linear(x))


@pytest.fixture
def asked():
    torch.manual_seed(0)
    model = Counting()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, Remembered(subject(model, torch.randn(8, 4), lambda m, x: m(x).square().mean(), optimizer))


def test_the_same_question_is_asked_once(asked):
    model, remembered = asked
    for _ in range(3):
        remembered.outputs()
        remembered.output_gradient()
        remembered.loss(training=False)
    assert model.calls == 3
    remembered.outputs(seed=1)
    assert model.calls == 4
    remembered.outputs(remembered.batch)  # as `mode` asks, to see whether the answer is another
    remembered.outputs(remembered.batch.clone())  # another batch is asked anew
    assert model.calls == 6


def test_the_first_rows_of_the_batch_are_asked_once_too(asked):
    model, remembered = asked
    whole = remembered.outputs()
    for _ in range(2):
        assert np.array_equal(remembered.outputs(remembered.with_rows(range(3))), whole[:3])
    assert model.calls == 2
    assert np.array_equal(remembered.outputs(remembered.with_rows([2, 1, 0])), whole[2::-1])


def test_another_batch_is_asked_anew_and_given_back(asked):
    _, remembered = asked
    batch, whole = remembered.batch, remembered.outputs()
    with remembered.kept():
        remembered.batch = remembered.with_rows([7, 6])
        assert np.array_equal(remembered.outputs(), whole[:5:-1])
        assert np.array_equal(remembered.outputs(remembered.with_rows(range(1))), whole[7:])
    assert remembered.batch is batch
    assert np.array_equal(remembered.outputs(), whole)


def test_there_is_one_float64_copy_which_is_put_back_after_each_check(asked):
    _, remembered = asked
    with remembered.kept():
        first = remembered.wide()
        gradient, whole = first.gradients()[1]["linear.weight"], first.outputs()
        first.write({"linear.weight": np.zeros((3, 4))})
        first.batch = first.with_rows([1, 0])
        assert first.outputs().shape == (2, 3)
    with remembered.kept():
        second = remembered.wide()
        assert second is first
        assert second.gradients()[1]["linear.weight"] is gradient
        assert np.array_equal(second.outputs(), whole)
    with remembered.kept():
        remembered.write({"linear.weight": np.ones((3, 4))})
        assert (remembered.wide().read()["linear.weight"] == 1).all()


def test_a_check_says_the_same_alone_as_after_all_others():
    """The trainer in bfloat16, whose checks share the most: healthy, and with faults that float64 copies show."""
    for fault in (None, "rms_norm_half_backward", "rope_missing", "bf16_logits", "stale_weights"):
        with planted.trainer(fault, dtype="bfloat16") as shown:
            given = {**shown, "reference": None}
            every = gradarbiter.check(**given)
            for name in SHARING:
                alone = gradarbiter.check(**given, only=[name])[name]
                assert (alone.status, alone.findings) == (every[name].status, every[name].findings), (fault, name)


def test_nothing_is_remembered_of_a_subject_that_was_changed_and_everything_after_it_was_put_back(asked):
    _, remembered = asked
    before = remembered.outputs()
    for change in (lambda: remembered.write({"linear.weight": np.zeros((3, 4))}), remembered.step):
        with remembered.kept():
            change()
            assert not np.array_equal(remembered.outputs(), before)
        assert np.array_equal(remembered.outputs(), before)


def test_a_gradient_is_remembered_though_nothing_is_after_it(asked):
    """In training mode a model's running statistics may move."""
    model, remembered = asked
    with remembered.kept():
        first = remembered.gradients()
        remembered.outputs()
        remembered.outputs()
    assert model.calls == 3
    model.calls = 1
    with remembered.kept():
        assert remembered.gradients()[0] == first[0]
    assert model.calls == 1


def test_an_answer_cannot_be_changed_for_the_next_check(asked):
    _, remembered = asked
    with pytest.raises(ValueError, match="read-only"):
        remembered.outputs()[:] = 0
    with remembered.kept():
        remembered.gradients()[1]["linear.weight"] = None
        with pytest.raises(ValueError, match="read-only"):
            remembered._known[("gradients", True), 0][1]["linear.weight"][:] = 0
    with remembered.kept():
        assert remembered.gradients()[1]["linear.weight"] is not None
