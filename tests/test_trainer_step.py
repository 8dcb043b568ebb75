"""One step: its normalisation, its safeguards, and what happens to a run whose numbers are not finite."""

import math

import pytest

torch = pytest.importorskip("torch")

from trainer_run import Text, short  # noqa: E402

from trainer import device, log, model, step  # noqa: E402
from trainer import train as loop  # noqa: E402

pytestmark = pytest.mark.trainer


def begun(text=None, **changes):
    chosen = short(**{"dropout": 0.0, **changes})
    return step.begin(chosen, text or Text(), device.Place(device=torch.device("cpu"), rank=0, world=1))


class Ragged(Text):
    """Micro-batches with very different numbers of scored tokens: a mean of their means is another number."""

    def batch(self, draw, **kw):
        rows = super().batch(draw, **kw)
        rows[:, 2 if draw % 2 else 20 :] = model.PADDING
        return rows


def gradients(run, **patched):
    """The gradients of one step, taken where they are judged."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in patched.items():
            patch.setattr(step, name, value)
        patch.setattr(step, "clip", lambda m, *_: found.update({n: p.grad.clone() for n, p in m.named_parameters()}))
        outcome = step.one_step(run)
    return found, outcome


@pytest.mark.parametrize("text", [Text, Ragged])
def test_accumulated_gradients_are_those_of_one_large_batch(text):
    run = begun(text(), batch=2, accumulate=4)
    run.step = 1  # draws 4 to 7: every micro-batch of every step is another
    rows = torch.cat([torch.from_numpy(text().batch(draw, seed=0, batch=2, length=24)) for draw in range(4, 8)])
    nll, count = run.model.loss(rows)
    want = torch.autograd.grad(nll / count, list(run.model.parameters()))
    found, outcome = gradients(run)
    assert outcome.tokens == count
    assert outcome.loss == pytest.approx(nll.item() / count.item(), rel=1e-6)
    for (name, got), expected in zip(found.items(), want, strict=True):
        # float32 sums in another order: 2^-24 a rounding, a few hundred terms
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6, msg=name)


def test_that_comparison_sees_a_mean_of_means():
    right, _ = gradients(begun(Ragged(), accumulate=2))
    run = begun(Ragged(), accumulate=2)
    parts = [run.model.loss(step.next_batch(run, micro)) for micro in range(2)]
    wrong = torch.autograd.grad(sum(nll / count for nll, count in parts) / 2, list(run.model.parameters()))
    assert [int(count) for _, count in parts] == [38, 2]
    worst = max(((a - b).abs().max() / a.abs().max()).item() for a, b in zip(right.values(), wrong, strict=True))
    assert worst > 0.1


def planted(run, value, name="layers.0.ffn.up.weight"):
    parameter = dict(run.model.named_parameters())[name]
    return parameter.register_hook(lambda g: g.index_put((torch.tensor(0), torch.tensor(0)), torch.tensor(value)))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_planted_non_finite_gradient_is_skipped_with_its_name(value):
    run = begun()
    step.one_step(run)
    before = {n: p.detach().clone() for n, p in run.model.named_parameters()}
    states = [t.clone() for o in run.optimizers.values() for s in o.state.values() for t in s.values()]
    hook = planted(run, value)
    outcome = step.one_step(run)
    hook.remove()
    assert outcome.skipped.endswith("layers.0.ffn.up.weight and 0 more")
    assert math.isfinite(outcome.loss)
    assert all(torch.equal(before[n], p) for n, p in run.model.named_parameters())
    after = [t for o in run.optimizers.values() for s in o.state.values() for t in s.values()]
    assert all(torch.equal(a, b) for a, b in zip(states, after, strict=True))
    assert run.step == 2  # data and schedule move on
    assert step.one_step(run).skipped is None
    assert not torch.equal(before["norm.weight"], run.model.norm.weight)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_a_non_finite_loss_is_skipped(value):
    run = begun()
    with torch.no_grad():
        run.model.norm.weight[3] = value
    outcome = step.one_step(run)
    assert outcome.skipped == "loss is nan"
    assert all(p.grad is None for p in run.model.parameters())


def test_gradients_whose_squares_overflow_are_said_to_be_finite():
    run = begun()
    planted(run, 1e30)
    assert step.one_step(run).skipped == "gradient norm is inf: all finite, their squares overflow"


def test_a_parameter_without_a_gradient_is_our_own_error():
    run = begun()
    run.model.register_parameter("idle", torch.nn.Parameter(torch.ones(3)))
    with pytest.raises(AssertionError, match="idle"):
        step.one_step(run)


def test_clipping_keeps_the_direction_of_the_whole_gradient():
    run = begun(clip=1e-3)
    whole, outcome = gradients(run)
    for name, p in run.model.named_parameters():
        p.grad = whole[name].clone()
    step.clip(run.model, outcome.gradient_norm, 1e-3)
    for name, p in run.model.named_parameters():
        torch.testing.assert_close(p.grad, whole[name] * (1e-3 / outcome.gradient_norm))
    assert step.gradient_norm(run.model).item() == pytest.approx(1e-3, rel=1e-5)
    for name, p in run.model.named_parameters():
        p.grad = whole[name].clone()
    for limit in (0.0, 2 * outcome.gradient_norm):  # no clipping, or nothing to clip: not lengthened
        step.clip(run.model, outcome.gradient_norm, limit)
        assert step.gradient_norm(run.model).item() == pytest.approx(outcome.gradient_norm, rel=1e-6)


def test_bf16_is_for_the_products_and_float32_for_what_is_kept():
    run, exact = begun(dtype="bfloat16"), begun()
    seen = set()
    for module in run.model.modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_hook(lambda _module, _given, out: seen.add(out.dtype))
    found, outcome = gradients(run)
    assert seen == {torch.bfloat16}
    kept = [*run.model.parameters(), *found.values(), *(t for o in run.optimizers.values() for s in o.state.values() for t in s.values())]
    assert {t.dtype for t in kept} == {torch.float32}
    assert 0 < abs(outcome.loss - step.one_step(exact).loss) < 0.01  # 8 bits, averaged over 96 tokens


def test_a_frozen_parameter_is_no_reason_to_stop():
    run = begun(clip=1e-3)
    frozen = run.model.layers[0].ffn.requires_grad_(requires_grad=False)
    before = frozen.up.weight.clone()
    assert step.one_step(run).gradient_norm > 1e-3
    assert torch.equal(frozen.up.weight, before)


def test_processes_and_steps_draw_their_own(monkeypatch):
    """A process's rows, and what it drops, are its own; every step's position is in the log's token count."""
    asked = []
    monkeypatch.setattr(Text, "batch", lambda self, draw, **kw: asked.append((draw, kw)) or BATCH(self, draw, **kw))
    seeds = []
    for rank in (0, 1):
        run = step.begin(short(accumulate=2), Text(), device.Place(device=torch.device("cpu"), rank=rank, world=1))
        seeds.append(torch.initial_seed())
        step.next_batch(run, 1)
    assert seeds[0] != seeds[1]
    assert [(draw, kw["rank"], kw["split"]) for draw, kw in asked] == [(1, 0, "train"), (1, 1, "train")]
    for _ in range(2):
        step.one_step(run)
    assert run.tokens_seen == sum(outcome.tokens for outcome in run.outcomes) == 2 * 2 * 2 * 24
    assert [outcome.rates["adamw"] for outcome in run.outcomes] == pytest.approx([0.003 / 3, 0.003 * 2 / 3])  # warm-up: 3 steps


BATCH = Text.batch


def test_skips_are_logged_and_end_the_run_when_they_do_not_end(tmp_path, monkeypatch):
    one_step, seen = step.one_step, []

    def poisoned(run):
        hook = planted(run, math.inf) if run.step >= 4 else None
        outcome = one_step(run)
        if hook:
            hook.remove()
        seen.append(outcome)
        return outcome

    monkeypatch.setattr(loop, "one_step", poisoned)
    with pytest.raises(loop.GaveUp, match="3 steps in a row skipped"):
        loop.train(short(out=str(tmp_path), max_skips=3), Text(), say=lambda _: None)
    lines = [line for line in log.read(tmp_path / "log.jsonl") if line["event"] == "step"]
    assert [bool(line["skipped"]) for line in lines] == [False] * 4 + [True] * 3
    assert lines[-1]["gradient_norm"] == math.inf
    assert "layers.0.ffn.up.weight" in lines[-1]["skipped"]


def test_the_loss_falls():
    run = loop.train(short(steps=40, dropout=0.0, length=48), Text(), say=lambda _: None)
    # 0.9 of the steps are 3 forward and the rest uniform: at best 0.9 ln(1/0.9016) + 0.1 ln(610) = 0.73 nats; the start is ln 61 = 4.11
    assert run.losses[0] == pytest.approx(math.log(61), abs=0.15)
    assert sum(run.losses[-5:]) / 5 < 2.0
    assert not any(outcome.skipped for outcome in run.outcomes)


def test_a_vocabulary_smaller_than_the_datas_is_refused():
    with pytest.raises(ValueError, match="at least the tokenizer's 61"):
        begun(vocab_size=60)
    assert begun(vocab_size=100).model.config.vocab_size == 100


def test_held_out_is_the_same_question_each_time_and_leaves_the_run_alone(tmp_path):
    with_it = loop.train(short(out=str(tmp_path), held_out_every=4), Text(), say=lambda _: None)
    without = loop.train(short(), Text(), say=lambda _: None)
    assert with_it.losses == without.losses
    lines = [line for line in log.read(tmp_path / "log.jsonl") if line["event"] == "held_out"]
    assert [line["step"] for line in lines] == [3, 7, 11]
    assert lines[-1]["loss"] == step.held_out(with_it) < lines[0]["loss"]
    assert with_it.model.training
    c = with_it.config
    rows = [torch.from_numpy(Text().batch(at, seed=0, batch=2, length=24, split="held_out")) for at in range(c.held_out_batches)]
    with torch.no_grad():
        sums = [with_it.model.eval().loss(row) for row in rows]
    assert lines[-1]["loss"] == pytest.approx(sum(float(nll) for nll, _ in sums) / sum(int(count) for _, count in sums), rel=1e-6)
