"""position_effect on models whose use of order is known, on trained ones, and by its command."""

import contextlib
import math
import sys

import numpy as np
import pytest

from gradarbiter import __main__ as cli
from gradarbiter.runs.position_effect import position_effect

pytestmark = pytest.mark.arbiter
VOCAB = 30


def quiet(*args, **options):
    return position_effect(*args, say=lambda _: None, **options)


def rows(count=64, length=48, seed=0):
    """Each row has a vocabulary of its own (six of thirty tokens), and each token follows from the two before it."""
    random = np.random.default_rng(seed)
    out = np.empty((count, length), dtype=np.int64)
    for row in out:
        own = random.permutation(VOCAB)[:6]
        at = list(random.integers(0, 6, 2))
        while len(at) < length:
            at.append((at[-1] + at[-2] + (random.random() < 0.2)) % 6)
        row[:] = own[at]
    return out


def nats(predict):
    """A score of each target from ``predict(tokens before) -> probabilities``."""

    def score(ids):
        out = np.empty((len(ids), ids.shape[1] - 1))
        for i, row in enumerate(ids):
            for t in range(1, len(row)):
                out[i, t - 1] = -math.log(predict(row[:t])[row[t]])
        return out

    return score


def counted(tokens, weight=1.0):
    p = np.full(VOCAB, 0.02)
    np.add.at(p, tokens, weight)
    return p / p.sum()


def bag(before):
    """The frequencies of what came before: a bag of words."""
    return counted(before)


def pair(before):
    """What followed this token before in the row: only the token before the target is told from the others."""
    p = counted(before, 0.1)
    follow = before[1:][before[:-1] == before[-1]]
    np.add.at(p, follow, 1.0)
    return p / p.sum()


def triple(before):
    """What followed the last two tokens before in the row."""
    p = counted(before, 0.1)
    if len(before) > 2:
        follow = before[2:][(before[:-2] == before[-2]) & (before[1:-1] == before[-1])]
        np.add.at(p, follow, 1.0)
    return p / p.sum()


def test_a_model_that_uses_order_is_not_accused():
    result = quiet(nats(triple), rows(), vocabulary=VOCAB)
    assert result.status == "ok", result
    context = next(f for f in result.findings if f.kind == "context")
    assert context.numbers["low"] > 0.8
    shuffled = next(f for f in result.findings if f.kind == "shuffled")
    assert shuffled.numbers["low"] < shuffled.numbers["effect"] < shuffled.numbers["high"]
    assert shuffled.numbers["low"] > 0.2


def test_a_bag_of_words_is_accused():
    result = quiet(nats(bag), rows(), vocabulary=VOCAB)
    assert [f.kind for f in result.accusations] == ["order ignored"]
    assert abs(result.accusations[0].numbers["effect"]) < 0.01


def bag_and_table(before):
    """The bag, and a fixed rule for the token before: what a model without positions can know."""
    p = counted(before)
    p[(before[-1] + 1) % VOCAB] += 3
    return p / p.sum()


def test_a_model_without_positions_is_accused_although_shuffling_costs_it_much():
    ids = rule(rows())
    result = quiet(nats(bag_and_table), ids, vocabulary=VOCAB)
    assert [f.kind for f in result.accusations] == ["positions broken"], result
    assert next(f for f in result.findings if f.kind == "shuffled").numbers["low"] > 0.15
    assert abs(result.accusations[0].numbers["share"]) < 0.01


@pytest.mark.parametrize(
    ("predict", "why"),
    [
        (lambda _: np.full(VOCAB, 1 / VOCAB), "not below ln 30"),
        (lambda _: np.r_[np.full(20, 0.045), np.full(10, 0.01)], "not below these rows' own token frequencies"),
    ],
    ids=["random", "frequencies"],
)
def test_a_model_that_has_learned_no_context_is_not_asked(predict, why):
    ids = np.random.default_rng(0).integers(0, 20, (32, 24))
    result = quiet(nats(predict), ids, vocabulary=VOCAB)
    assert result.status == "not asked"
    assert why in result.reason


def test_one_number_a_row_gives_the_same_answer():
    ids = rows(24, 24)
    each = nats(triple)
    of_targets, of_rows = quiet(each, ids), quiet(lambda x: each(x).mean(1), ids)
    for kind in ("shuffled", "context"):
        one, other = (next(f for f in r.findings if f.kind == kind).numbers for r in (of_targets, of_rows))
        assert one == pytest.approx(other, rel=1e-9)


def test_a_text_whose_rows_differ_in_topic_hides_no_order():
    """What the context gives is mostly the row's own vocabulary: order is judged by the near tokens alone."""
    short = quiet(nats(triple), rows(64, 24), vocabulary=VOCAB)
    assert short.status == "ok", short
    assert next(f for f in short.findings if f.kind == "shuffled").numbers["effect"] < 0.15


def test_an_interval_that_is_too_wide_is_not_asked():
    """A model that hardly uses the tokens before the last one."""
    faint = lambda before: 0.95 * pair_table(before) + 0.05 * triple(before)  # noqa: E731
    result = quiet(nats(faint), rule(rows(16, 24)), vocabulary=VOCAB)
    assert result.status == "not asked", result
    assert not result.accusations


def pair_table(before):
    p = np.full(VOCAB, 0.02)
    p[(before[-1] + 1) % VOCAB] += 3
    return p / p.sum()


def rule(ids):
    """Half of the tokens are the one before plus 1."""
    random, ids = np.random.default_rng(1), ids.copy()
    for row in ids:
        at = random.random(len(row)) < 0.5
        for t in np.flatnonzero(at[1:]) + 1:
            row[t] = (row[t - 1] + 1) % VOCAB
    return ids


def test_a_mark_that_stays_and_subsets_by_name():
    ids = np.concatenate([np.full((32, 1), VOCAB - 1), rows(32, 30)], axis=1)
    seen = []

    def score(x):
        seen.append(bool((x[:, 0] == VOCAB - 1).all()))
        return nats(triple)(x)

    result = quiet(score, {"bn": ids, "en": ids[:, ::1]}, keep=1)
    assert all(seen)
    assert {f.parameter for f in result.findings} == {"bn", "en"}


def test_few_rows_and_wrong_scores_are_not_asked():
    assert "at least 16" in quiet(nats(bag), rows(8)).reason
    assert "not finite" in quiet(lambda x: np.full(len(x), np.nan), rows()).reason


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "kinds"), [("", set()), ("rope_axis", {"positions broken"}), ("rope_missing", {"positions broken"})])
def test_a_trained_model(fault, kinds):
    """Full causal attention, real text. In both the loss rises by two thirds on shuffled tokens, which is why that is not what accuses."""
    from pydoc_data.topics import topics

    import torch

    from trainer import config, device, faults, step
    from trainer import tokenizer as tk

    tokenizer = tk.train(list(topics.values()), vocab=1000)
    stream = np.array([i for text in topics.values() for i in tokenizer.encode(text).ids])
    held = len(stream) * 9 // 10

    class Text:
        vocab_size, fingerprint, digest = 1000, "f" * 64, "d" * 64

        def batch(self, step, *, seed, batch, length, **_):
            starts = np.random.default_rng([seed, step]).integers(0, held - length - 1, batch)
            return np.stack([stream[s : s + length + 1] for s in starts])

    def score(ids):
        with torch.no_grad():
            t = torch.from_numpy(ids)
            return torch.nn.functional.cross_entropy(model(t[:, :-1]).float().mT, t[:, 1:], reduction="none").numpy()

    c = config.nano(steps=250, warmup=20, batch=16, accumulate=1, length=64, window=64, progress=False, out="")
    with faults.plant(fault) if fault else contextlib.nullcontext(), device.entered(c) as place:
        run = step.begin(c, Text(), place)
        for _ in range(c.steps):
            step.one_step(run)
        model = run.model.eval()
        ids = stream[held:][: (len(stream) - held) // 65 * 65].reshape(-1, 65)
        result = quiet(score, ids, vocabulary=1000)
    assert {f.kind for f in result.accusations} == kinds, result
    assert next(f for f in result.findings if f.kind == "shuffled").numbers["low"] > 0.4


def factory():
    return {"score": nats(bag), "rows": rows(), "vocabulary": VOCAB}


def test_the_command(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "asked_module", sys.modules[__name__])
    assert cli.main(["position-effect", "asked_module:factory", "--json", "-"]) == 1
    out = capsys.readouterr()
    assert '"order ignored"' in out.out
    assert "scores" in out.err  # the cost, before
