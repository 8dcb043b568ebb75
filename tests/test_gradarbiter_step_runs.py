"""memory_growth and safeguard: what training steps leave behind, and what they do to a gradient that is not finite."""

import contextlib
import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gradarbiter import __main__ as cli
from gradarbiter.runs.memory_growth import memory_growth
from gradarbiter.runs.safeguard import safeguard

pytestmark = pytest.mark.arbiter


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from trainer import data

    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


def grown(step, **options):
    return memory_growth(step, say=lambda _: None, **{"steps": 6, **options})


def guarded(*args, **options):
    return safeguard(*args, say=lambda _: None, **options)


def kinds(result):
    assert result.status in ("ok", "fail"), result
    return {f.kind for f in result.accusations}


@pytest.mark.parametrize(
    ("fault", "memory", "guard"),
    [
        ("", set(), set()),
        ("activations_kept", {"graph kept", "growing"}, set()),
        ("optimizer_memory", {"growing"}, set()),
        ("clip_hides_inf", set(), {"moved"}),
        ("safeguard_off", set(), {"weights not finite"}),
    ],
)
def test_trainer(folder, fault, memory, guard):
    from trainer import device, faults, step
    from trainer.faults.twin import Twin

    twin = Twin(folder=folder, options={"steps": 30})
    with faults.plant(fault) if fault else contextlib.nullcontext(), device.entered(twin.config) as place:
        run = twin.begin(place)
        assert kinds(grown(lambda: step.one_step(run))) == memory
        result = guarded(run.model, lambda: step.one_step(run), run.optimizers)
        assert kinds(result) == guard
        if guard:
            assert {f.parameter for f in result.accusations} == {"embedding.weight", "head.weight"}


class Loop:
    """A training loop of one's own."""

    def __init__(self, *, keep="", guard="", optimizer=torch.optim.AdamW):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
        self.optimizer = optimizer(self.model.parameters(), lr=1e-2)
        self.scaler = torch.amp.GradScaler("cpu") if guard == "scaler" else None
        self.keep, self.guard, self.kept, self.total = keep, guard, [], torch.zeros(())

    def step(self):
        x = torch.randn(16, 8)
        out = self.model(x)
        loss = F.cross_entropy(out, torch.randint(0, 4, (16,)))
        self.optimizer.zero_grad()
        (self.scaler.scale(loss) if self.scaler else loss).backward()
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            if self.guard == "clip":
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            if self.guard == "raise":
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, error_if_nonfinite=True)
            if self.guard == "skip" and not all(p.grad.isfinite().all() for p in self.model.parameters()):
                return
            self.optimizer.step()
        if self.keep == "number":
            self.kept.append(loss.item())
        if self.keep == "loss detached":
            self.kept.append(loss.detach())
        if self.keep == "loss":
            self.kept.append(loss)
        if self.keep == "sum":
            self.total = self.total + loss
        if self.keep == "outputs":
            self.kept.append(out.detach())
        if self.keep == "cycle":
            ring = [x]
            ring.append(ring)


@pytest.mark.parametrize(
    ("keep", "wanted"),
    [
        ("", set()),
        ("number", set()),
        ("loss detached", set()),  # four bytes a step
        ("cycle", set()),  # freed by the garbage collector
        ("loss", {"graph kept"}),
        ("sum", {"graph kept"}),
        ("outputs", set()),  # 256 bytes a step: a note
    ],
)
def test_what_a_loop_keeps(keep, wanted):
    loop = Loop(keep=keep)
    result = grown(loop.step)
    assert kinds(result) == wanted
    if keep == "outputs":
        assert "float32(16, 4)" in [f.parameter for f in result.findings if f.kind == "growing"]


def test_momentum_that_fills_late_is_no_growth():
    loop = Loop(optimizer=lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9))
    assert kinds(grown(loop.step, warm_up=0)) == set()


def test_resident_memory_of_a_process_without_torch(tmp_path):
    import subprocess

    script = """
from gradarbiter.runs.memory_growth import memory_growth
kept = []
leak = memory_growth(lambda: kept.append(b"x" * 200_000), steps=8)
kept.clear()
fine = memory_growth(lambda: b"x" * 200_000, steps=8)
print(leak.status, fine.status)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["fail", "ok"]


@pytest.mark.parametrize(
    ("guard", "wanted"),
    [("scaler", set()), ("skip", set()), ("raise", set()), ("", {"weights not finite"}), ("clip", {"weights not finite"})],
)
def test_guards_of_a_loop(guard, wanted):
    loop = Loop(guard=guard)
    before = {name: value.clone() for name, value in loop.model.state_dict().items()}
    result = guarded(loop.model, loop.step, loop.optimizer)
    assert kinds(result) == wanted, result
    assert all(torch.equal(before[name], value) for name, value in loop.model.state_dict().items())
    assert not loop.optimizer.state  # as it was: empty
    if guard == "raise":
        assert {f.kind for f in result.findings} == {"raised"}


def test_a_state_that_is_spoiled_behind_unmoved_weights():
    """The moments took the gradient before the step was undone: the next one is lost."""
    loop = Loop()

    def undone():
        before = [p.detach().clone() for p in loop.model.parameters()]
        loop.step()
        if not all(p.isfinite().all() for p in loop.model.parameters()):
            with torch.no_grad():
                for p, old in zip(loop.model.parameters(), before, strict=True):
                    p.copy_(old)

    assert kinds(guarded(loop.model, undone, loop.optimizer)) == {"state not finite"}


def test_what_cannot_be_asked_is_said():
    loop = Loop()
    assert "does not move any weight" in guarded(loop.model, lambda: None, loop.optimizer).reason
    assert guarded(object(), lambda: None).status == "error"  # no adapter
    assert "at least 5" in grown(loop.step, steps=2).reason
    found = guarded(loop.model, loop.step)
    assert "give optimizer=" in next(f.text for f in found.findings if f.kind == "not asked")


def factory():
    loop = Loop()
    return {"model": loop.model, "step": loop.step, "optimizer": loop.optimizer}


def steps():
    return Loop().step


def test_the_commands(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "asked_module", sys.modules[__name__])
    assert cli.main(["safeguard", "asked_module:factory", "--json", "-"]) == 1
    assert cli.main(["memory-growth", "asked_module:steps", "--steps", "5", "--json", "-"]) == 0
    out = capsys.readouterr()
    assert "5 training steps, all undone" in out.err
    assert "9 training steps of this run" in out.err
