"""What a subject was asked once is not asked again, unless it may have changed."""

import numpy as np
import pytest
import torch
from torch import nn

from gradarbiter.frameworks import subject
from gradarbiter.remembered import Remembered

pytestmark = pytest.mark.arbiter


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
    remembered.outputs(remembered.batch)  # a batch that is given is asked anew
    assert model.calls == 5


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
            remembered._known["gradients", True][1]["linear.weight"][:] = 0
    with remembered.kept():
        assert remembered.gradients()[1]["linear.weight"] is not None
