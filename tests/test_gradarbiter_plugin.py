"""The pytest plugin, in a pytest of its own: an accusation is a failed test with the report as its message."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.arbiter
pytest_plugins = ["pytester"]

MODEL = """
import pytest, torch
from gradarbiter import Expect

def parts(cut=False):
    class LM(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.embedding, self.mix, self.head = torch.nn.Embedding(11, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 11)
        def forward(self, ids):
            x = self.embedding(ids)
            x = x + torch.tanh(self.mix(x.detach() if cut else x))
            return self.head(x.detach() if cut else x)
    def loss_fn(model, ids):
        return torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    model = LM()
    return model, torch.arange(24).reshape(4, 6) % 11, loss_fn, torch.optim.AdamW(model.parameters())
"""


TESTS = """
@pytest.mark.gradarbiter(only=["gradient_flow", "mode"])
def test_healthy(arbiter):
    report = arbiter(*parts())
    assert [r.check for r in report.results] == ["gradient_flow", "mode"]

def test_accused(arbiter):
    arbiter(*parts(cut=True), only=["gradient_flow"])

@pytest.mark.gradarbiter(only=["gradient_flow"])
def test_own_choice_before_the_markers(arbiter):
    assert [r.check for r in arbiter(*parts(cut=True), only=["mode"]).results] == ["mode"]

def test_nothing_asked(arbiter):
    arbiter(*parts()[:3], only=["causality"])

@pytest.mark.gradarbiter(onyl=["mode"])
def test_misspelt(arbiter):
    pass
"""


def test_the_plugin(pytester, monkeypatch):
    """One process for all: torch's import is what costs."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    pytester.makepyfile(MODEL + TESTS)
    done = pytester.runpytest_subprocess("-p", "gradarbiter.plugin", "--strict-markers", "-rA")
    done.assert_outcomes(passed=2, failed=2, errors=1)
    parts = "\n".join(done.outlines).split("____ test_")
    accused, nothing = (next(part for part in parts if part.startswith(name)) for name in ("accused", "nothing_asked"))
    assert "fail       gradient_flow" in accused
    assert "embedding.weight: " in accused
    assert "mix.weight: " in accused
    assert "plugin.py" not in accused, "an accusation has no traceback"
    assert "(nothing could be asked)" in nothing
    done.stdout.fnmatch_lines(
        ["*ERROR at setup of test_misspelt*", "*wanted:  only=*", "PASSED *test_healthy*", "PASSED *own_choice*"], consecutive=False
    )
    healthy = next(part for part in parts if part.startswith("healthy"))
    assert "ok         gradient_flow" in healthy, "the report of a test that passes is kept"
