"""The reference trainer as a column: a defect planted in a copy of it turns the case that guards that part red."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness import build, environment, pins, speed
from harness.ask import Asker
from harness.cell import load_specs
from harness.environment import Environment
from harness.matrix import all_cells
from harness.project import ROOT, Project

COLUMNS = pins.read(Project().pins)
TRAINER = pins.select(COLUMNS, ["trainer"])[0]

# file, text, planted text, the cells that must notice
DEFECTS = {
    "norm: no gradient to its input": ("model.py", "F.rms_norm(x_BTD,", "F.rms_norm(x_BTD.detach(),", "rms_norm_backward@"),
    "norm: no epsilon": ("model.py", "eps=EPS", "eps=0.0", "rms_norm_backward@"),
    "rope: turns by the head's index": (
        "model.py",
        "cos_TH[:, None], sin_TH[:, None]",
        "cos_TH[: x_BTNH.shape[2]], sin_TH[: x_BTNH.shape[2]]",
        "rope_axis:half_split",
    ),
    "rope: neighbours for halves": ("model.py", "x_BTNH.chunk(2, -1)", "(x_BTNH[..., 0::2], x_BTNH[..., 1::2])", "rope_axis:half_split"),
    "muon: scale of the transposed matrix": ("optim.py", "rows / columns)", "columns / rows)", "muon_dimensionality:linear"),
    "muon: the embedding too": ("optim.py", 'roles[name] == "matrix"', "parameter.ndim == 2", "muon_dimensionality:embedding"),
    "muon: no matrix at all": ("optim.py", 'roles[name] == "matrix"', "False", "muon_dimensionality:linear"),
    "embedding: gradients meet in bfloat16": (
        "model.py",
        "self.embedding(tokens_BT).to(self.stream)",
        "F.embedding(tokens_BT, self.embedding.weight.bfloat16()).to(self.stream)",
        "bf16_divergence:embedding_grad@bfloat16",
    ),
    "loss: of the token that was read": ("model.py", "tokens_BT1[:, 1:]", "tokens_BT1[:, :-1]", "bf16_divergence:cross_entropy"),
    "attention: softmax stalls": (
        "attention.py",
        "scores_BCKGQS.softmax(-1)",
        "(lambda e: e / sum(e.unbind(-1))[..., None])(scores_BCKGQS.exp())",
        "bf16_divergence:softmax@bfloat16",
    ),
    "layer: no gradient past the feed-forward": ("model.py", "x_BTD + (branch_BTD", "x_BTD.detach() + (branch_BTD", "slow_backward"),
}  # fmt: skip


def test_a_case_that_asks_the_trainer_says_which_part():
    asking = [s for s in load_specs(Project()) if (s.folder / "run_trainer.py").exists()]
    assert asking
    assert [s.id for s in asking if not s.case.guards] == []


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An environment that stands on the column's own, and finds another trainer before its."""
    own = environment.read(Project(), TRAINER)
    assert not own.cause, own.problem
    venv = tmp_path_factory.mktemp("column") / "venv"
    subprocess.run([own.python, "-m", "venv", "--without-pip", venv], check=True)
    for packages in venv.glob("lib/python3*/site-packages"):
        below = Path(own.python).parents[1] / packages.relative_to(venv)
        (packages / "below.pth").write_text(f"{below}\n")
    return venv / "bin" / "python"


@pytest.fixture(scope="module")
def asker():
    with Asker(Project(), run="test") as opened:
        yield opened


@pytest.fixture
def changed(python, asker, tmp_path):
    """A function: the cells of a trainer with this text changed."""

    def change(file, old, new):
        shutil.copytree(ROOT / "trainer", tmp_path / "trainer", ignore=shutil.ignore_patterns("__pycache__", "sample"))
        text = (tmp_path / "trainer" / file).read_text()
        assert old in text, f"trainer/{file} no longer says {old!r}: plant this defect where its successor is"
        (tmp_path / "trainer" / file).write_text(text.replace(old, new))
        column = pins.local_column(COLUMNS, f"trainer={tmp_path}")
        build._link(python.parents[1], column)
        asker._environments[column.id] = Environment(column=column.id, python=str(python), local=column.local)
        return all_cells(Project(), [column])

    return change


@pytest.mark.real
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_silent(changed, asker, defect):
    *change, where = DEFECTS[defect]
    cells = [c for c in changed(*change) if c.address.startswith(where) and c.file and c.mode == "eager"]
    statuses = {c.address: asker.ask(c)["status"] for c in cells}
    refused = {"bf16_divergence:cross_entropy@float64": "loud"}  # the trainer has no such type
    assert statuses
    assert statuses == {address: refused.get(address, "silent") for address in statuses}


@pytest.mark.real
def test_a_slow_backward_is_slow(changed, asker):
    right = "return self.down(F.silu(self.gate(x_BTD)) * self.up(x_BTD))"
    slowly = right.replace("return", "y =") + (
        "\n        if y.requires_grad:"
        "\n            y.register_hook(lambda g: [torch.ones(512, 512) @ torch.ones(512, 512) for _ in range(20)] and g)"
        "\n        return y"
    )
    timed = [c for c in changed("model.py", right, slowly) if c.spec.id == "slow_backward"]
    ((_, answer),) = speed.measure(asker, timed, rounds=1)
    assert answer["status"] == "slow", answer["message"]
    assert "backward_ratio" in answer["message"]
