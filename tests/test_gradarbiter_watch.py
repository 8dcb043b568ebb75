"""The watch in a running loop: silent where all is well, loud about what stays wrong, and nothing where it is off."""

import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import gradarbiter  # noqa: E402
from gradarbiter.watch import OFF  # noqa: E402

pytestmark = pytest.mark.arbiter


class LM(torch.nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        torch.manual_seed(1)
        self.embedding, self.mix = torch.nn.Embedding(11, 8), torch.nn.Linear(8, 8)
        self.branch, self.gate = (
            torch.nn.Linear(8, 8),
            torch.nn.Parameter(torch.zeros(8)),
        )  # adaLN-zero: nothing reaches the branch at first
        self.head = torch.nn.Linear(8, 11)
        self.fault = fault

    def forward(self, ids):
        x = self.embedding(ids)
        x = x.detach() if self.fault == "frozen embedding" else x
        x = x + torch.tanh(self.mix(x))
        x = x + self.gate * (self.branch(x) * (0 if self.fault == "dead branch" else 1))
        return self.head(x)


def train(model, steps=12, *, spoil=lambda step, model: None, optimizer=None, lr=0.05, **options):
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=lr)
    look = gradarbiter.watch(model, optimizer, **{"every": 1, **options})
    generator = torch.Generator().manual_seed(2)
    for step in range(steps):
        ids = torch.randint(0, 11, (4, 7), generator=generator)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()).backward()
        spoil(step, model)
        look.after_backward()
        optimizer.step()
        look.after_step()
    return look


def test_a_healthy_run_is_silent_and_its_norms_are_there():
    model = LM()
    look = train(model)
    assert list(look.last) == [name for name, _ in model.named_parameters()]
    assert all(norm > 0 for norm in look.last.values())
    assert look.last["head.weight"] == pytest.approx(float(model.head.weight.grad.norm()))


def test_bfloat16_and_frozen_parameters_are_silent():
    model = LM().bfloat16()
    model.mix.requires_grad_(False)
    look = train(model)
    assert "mix.weight" not in look.last


def test_a_frozen_embedding_is_found_at_the_first_reading():
    with pytest.raises(gradarbiter.DefectFound, match=r"training step 0:\n  embedding.weight: no gradient") as raised:
        train(LM("frozen embedding"))
    assert [(f.kind, f.parameter) for f in raised.value.findings] == [("missing", "embedding.weight")]


def test_a_zero_gradient_is_waited_for():
    """The branch's weights have none at step 0 in the healthy model too; only here it stays."""
    told = []
    train(LM("dead branch"), patience=4, tell=told.append)
    (findings,) = told
    assert {(f.kind, f.parameter) for f in findings} == {("zero", "branch.weight"), ("zero", "branch.bias"), ("zero", "gate")}
    assert findings[0].numbers == {"step": 3}


def test_a_parameter_that_no_optimizer_holds():
    model = LM()
    optimizer = torch.optim.AdamW([p for name, p in model.named_parameters() if name != "head.bias"])
    with pytest.raises(gradarbiter.DefectFound, match=r"training step 0:\n  head\.bias: no optimizer holds it$"):
        train(model, optimizer=optimizer)


def test_several_optimizers():
    model = LM()
    halves = [torch.optim.SGD(model.embedding.parameters()), torch.optim.AdamW([p for n, p in model.named_parameters() if "emb" not in n])]
    look = gradarbiter.watch(model, halves, every=1)
    model(torch.zeros(1, 2, dtype=torch.long)).logsumexp(-1).sum().backward()
    look.after_backward()
    for optimizer in halves:
        optimizer.step()
    look.after_step()
    look = gradarbiter.watch(model, {"half": halves[1]}, every=1)
    look.after_backward()
    with pytest.raises(gradarbiter.DefectFound, match=r"embedding\.weight: no optimizer"):
        look.after_step()


def test_a_step_that_moves_nothing():
    """bfloat16 weights of about 0.3 with steps of 1e-5: each is rounded away."""
    told = []
    train(LM().bfloat16(), lr=1e-7, tell=told.append)
    findings = [f for batch in told for f in batch]
    assert {f.kind for f in findings} == {"unmoved"}
    assert "head.weight" in {f.parameter for f in findings}
    assert {f.numbers["step"] for f in findings} >= {2}


def test_what_is_not_finite():
    def overflow(step, model):
        if step == 2:
            model.head.weight.grad[0, 0] = torch.inf

    with pytest.raises(gradarbiter.DefectFound, match=r"step 2:\n  head\.weight: a gradient of norm inf"):
        train(LM(), spoil=overflow)
    assert train(LM(), spoil=overflow, steps=3, scaled=True).last["head.weight"] == np.inf  # one step that a GradScaler would skip


def test_an_idle_expert_is_named_and_not_accused():
    def idle(step, model):
        if step % 4:
            model.mix.weight.grad = model.mix.bias.grad = None

    with pytest.raises(gradarbiter.DefectFound, match=r"mix\.weight: no gradient"):
        train(LM(), spoil=idle)
    assert train(LM(), spoil=idle, sparse=["mix.*"], patience=4).last["mix.weight"] is None


def test_every_n_steps():
    told = []
    train(LM("frozen embedding"), every=5, steps=11, tell=told.append)
    assert len(told) == 1
    look = train(LM(), every=5, steps=9)
    norms = look.last
    assert look._step == 9
    assert norms == train(LM(), every=5, steps=6).last  # the reading of step 5


def test_other_frameworks_give_their_gradients():
    look = gradarbiter.watch(object(), every=1)
    look.after_backward({"layers": [{"w": np.ones((2, 2))}], "head": np.ones(3)})
    look.after_step()
    assert look.last == {"layers.0.w": 2.0, "head": pytest.approx(3**0.5)}
    with pytest.raises(gradarbiter.DefectFound, match=r"layers\.0\.w: a gradient of norm nan"):
        look.after_backward({"layers": [{"w": np.full((2, 2), np.nan)}], "head": np.ones(3)})


def test_off_is_nothing():
    look = gradarbiter.watch(LM("frozen embedding"), None, every=0)
    assert look is OFF
    start = time.perf_counter()
    for _ in range(10_000):
        look.after_backward()
        look.after_step()
    off = (time.perf_counter() - start) / 10_000
    assert vars(look) == {}
    model = LM()
    train(model, steps=1)
    on = gradarbiter.watch(model, None, every=1, tell=len)
    start = time.perf_counter()
    for _ in range(100):
        on.after_backward()
        on.after_step()
    print(
        f"\nwatch: {off * 1e9:.0f} ns a step when off, {(time.perf_counter() - start) * 1e4:.0f} us a reading of {len(on.last)} parameters"
    )
