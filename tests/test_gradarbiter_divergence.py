"""divergence_log on logs that are made up, and on the trainer's own."""

import json
import math

import numpy as np
import pytest

from gradarbiter import __main__ as cli
from gradarbiter.runs.divergence_log import divergence_log

pytestmark = pytest.mark.arbiter


def curve(steps=400, seed=0, noise=0.05):
    return 3 + 4 * np.exp(-np.arange(steps) / 60) + np.random.default_rng(seed).normal(0, noise, steps)


def asked(tmp_path, losses, change=lambda lines: lines, **fields):
    lines = [{"event": "step", "step": i, "loss": float(loss), "skipped": None} for i, loss in enumerate(losses)]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))
    return divergence_log(path, say=lambda _: None, **fields)


def accused(result):
    assert result.status in ("ok", "fail"), result
    return {f.kind for f in result.accusations}


def kinds(result):
    return {f.kind for f in result.findings}


@pytest.mark.parametrize("seed", range(20))
def test_healthy(tmp_path, seed):
    assert accused(asked(tmp_path, curve(seed=seed))) == set()
    heavy = curve(seed=seed) + 0.05 * np.random.default_rng(seed).standard_t(3, 400)  # batches of very different texts
    assert accused(asked(tmp_path, heavy)) == set()


def test_a_short_log_is_healthy_too(tmp_path):
    assert accused(asked(tmp_path, curve(40, noise=0.1))) == set()
    assert "not asked" in kinds(asked(tmp_path, curve(6)))


def test_a_resumed_part_that_is_flat_is_healthy(tmp_path):
    assert accused(asked(tmp_path, curve()[300:], lambda lines: [{**line, "step": line["step"] + 300} for line in lines])) == set()


def test_not_finite(tmp_path):
    losses = curve()
    losses[[50, 70]] = math.nan, math.inf
    result = asked(tmp_path, losses)
    assert accused(result) == {"not finite"}
    assert result.accusations[0].parameter == "step 50"

    def skipped(lines):
        return [
            {**line, "loss": str(line["loss"]), "skipped": f"loss is {line['loss']}"} if line["step"] in (50, 70) else line
            for line in lines
        ]

    quiet = asked(tmp_path, losses, skipped)
    assert accused(quiet) == set()
    assert "1 x loss is nan, 1 x loss is inf" in next(f.text for f in quiet.findings if f.kind == "skipped")


def test_a_spike_that_heals_is_a_note_and_one_that_does_not_is_a_divergence(tmp_path):
    losses = curve()
    losses[200:205] += 2
    healed = asked(tmp_path, losses)
    assert accused(healed) == set()
    assert "spikes" in kinds(healed)
    losses[200:] = 6.5
    assert accused(asked(tmp_path, losses)) == {"diverged"}


def test_a_loss_that_never_falls(tmp_path):
    assert accused(asked(tmp_path, 7 + np.random.default_rng(0).normal(0, 0.02, 300))) == {"not falling"}
    noisy = asked(tmp_path, 7 + np.random.default_rng(0).normal(0, 2, 300))
    assert accused(noisy) == set()
    assert "not falling" in kinds(noisy)  # as a note: a fall could hide in the noise


def test_missing_and_repeated_steps(tmp_path):
    assert accused(asked(tmp_path, curve(), lambda lines: lines[:100] + lines[110:])) == {"missing steps"}
    again = asked(tmp_path, curve(), lambda lines: lines[:200] + lines[150:])
    assert accused(again) == set()
    assert "50 steps are there twice, 0 of them with another loss" in next(f.text for f in again.findings if f.kind == "repeated steps")

    def other(lines):
        return lines[:200] + [{**line, "loss": line["loss"] + 1e-3} for line in lines[150:]]

    assert "went on at step 150 was not the same run" in next(
        f.text for f in asked(tmp_path, curve(), other).findings if f.kind == "repeated steps"
    )


def test_skips_in_a_row(tmp_path):
    def skip(count):
        return lambda lines: [{**line, "skipped": "inf"} if 100 <= line["step"] < 100 + count else line for line in lines]

    assert accused(asked(tmp_path, curve(), skip(16))) == set()  # a loss scale that is searched for
    assert accused(asked(tmp_path, curve(), skip(40))) == {"skipping"}


def test_a_sparse_log_and_other_fields_are_not_asked(tmp_path):
    assert "one line in 10 steps" in asked(tmp_path, curve(), lambda lines: lines[::10]).reason
    assert "name the fields" in asked(tmp_path, curve(), loss="train/loss").reason
    assert "there is no" in divergence_log(tmp_path / "none", say=lambda _: None).reason

    def renamed(lines):
        return [{"iter": line["step"], "train/loss": line["loss"]} for line in lines]

    assert accused(asked(tmp_path, curve(), renamed, step="iter", loss="train/loss")) == set()


def test_the_trainers_own_log(tmp_path):
    from trainer import config, data, train

    folder = data.sample(tmp_path / "sample", vocab=500)
    for steps in (20, 60):
        train.train(
            config.nano(steps=steps, save_every=20, resume="inexact", progress=False, out=str(tmp_path / "run")),
            data.Tokens(folder),
            say=lambda _: None,
        )
    result = divergence_log(tmp_path / "run" / "log.jsonl", say=lambda _: None)
    assert accused(result) == set()
    assert "step 20" in [f.parameter for f in result.findings if f.kind == "resume"]


def test_the_command(tmp_path, capsys):
    losses = curve()
    losses[9] = math.nan
    asked(tmp_path, losses)
    assert cli.main(["divergence-log", str(tmp_path / "log.jsonl"), "--json", "-"]) == 1
    out = capsys.readouterr()
    assert "not finite" in out.out
    assert "reads 400 lines" in out.err
