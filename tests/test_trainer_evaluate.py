"""The scores against models whose scores are known, and against seeded defects; then the command on a trained checkpoint."""

import dataclasses
import json
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from trainer_table import VOCAB, Table, knows_the_rule  # noqa: E402

from trainer import config, data, evaluate, store, train, trained  # noqa: E402
from trainer import tokenizer as tk  # noqa: E402

pytestmark = pytest.mark.trainer


def progression(windows=24, length=16):
    """Each token is the one before plus 3."""
    start_W1 = torch.randint(0, VOCAB, (windows, 1), generator=torch.Generator().manual_seed(0))
    return (start_W1 + 3 * torch.arange(length + 1)) % VOCAB


def knows_no_order():
    return Table(torch.linspace(0, 2, VOCAB).repeat(VOCAB, 1))


def test_a_uniform_model_needs_the_bits_of_the_vocabulary():
    windows, lengths = progression(), [0] + [2] * (VOCAB - 1)
    found = evaluate.likelihood(Table(torch.zeros(VOCAB, VOCAB)), windows, lengths)
    size = sum(lengths[t] for t in windows[:, 1:].flatten().tolist())
    assert found.tokens == 24 * 16
    assert found.bytes == size
    assert found.nats_per_token == pytest.approx(math.log(VOCAB), rel=1e-6)  # float32 log-softmax
    assert found.bits_per_byte == pytest.approx(24 * 16 * math.log2(VOCAB) / size, rel=1e-6)


def test_padding_is_not_scored():
    windows = progression()
    windows[3, 5:] = -1
    found = evaluate.likelihood(knows_the_rule(), windows, [1] * VOCAB)
    whole = evaluate.likelihood(knows_the_rule(), progression(), [1] * VOCAB)
    assert found.tokens == found.bytes == whole.tokens - 12
    assert found.nats_per_token == pytest.approx(whole.nats_per_token, rel=1e-6)


def test_shuffling_hurts_a_model_that_uses_order_and_no_other():
    ordered = evaluate.position_effect(knows_the_rule(), progression())
    assert ordered.low < ordered.effect < ordered.high
    assert ordered.low > 10  # 0.02 nats become about 8
    blind = evaluate.position_effect(knows_no_order(), progression())
    assert abs(blind.effect) < 0.1  # not 0: the first token of a window is not scored, and another stands there
    assert blind.low <= 0 <= blind.high


def test_the_interval_of_the_position_effect_covers_as_often_as_it_says():
    """Windows come in pairs, plain and shuffled: hard windows are hard either way, and that must not widen the interval."""
    random = np.random.default_rng(0)
    covered, widths = 0, []
    for _ in range(200):
        hard = random.gamma(4.0, 1.0, 40)
        plain, shuffled = hard, hard * random.normal(1.5, 0.05, 40)

        answers = [shuffled, plain]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluate, "window_nll", lambda *_, answers=answers: torch.from_numpy(answers.pop())[:, None])
            found = evaluate.position_effect(None, progression(windows=40), seed=len(widths))
        covered += found.low <= 0.5 <= found.high
        widths.append(found.high - found.low)
    assert 183 <= covered <= 194  # 95 % of 200 is 190, and a bootstrap of 40 windows covers a little less; of a 90 % interval it were 172
    assert np.mean(widths) < 0.05  # drawn apart, the two means would scatter by 0.16 each


def test_position_effect_is_repeatable_and_needs_two_windows():
    assert evaluate.position_effect(knows_the_rule(), progression()) == evaluate.position_effect(knows_the_rule(), progression())
    with pytest.raises(ValueError, match=r"found: +1 windows"):
        evaluate.position_effect(knows_the_rule(), progression(windows=1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "nano"
    train.main(["--data", str(folder), "--out", str(out), "--steps", "40", "--progress", "false", "--length", "48"])
    return out


def test_the_command_shows_what_was_learnt(run, folder, tmp_path, capsys):
    report = tmp_path / "report.json"
    items = str(tk.SAMPLE / "choices.jsonl")
    assert (
        evaluate.main(
            [
                "--run",
                str(run),
                "--data",
                str(folder),
                "--windows",
                "12",
                "--items",
                items,
                "--prompt",
                "The kettle",
                "--new",
                "16",
                "--json",
                str(report),
            ]
        )
        == 0
    )
    printed, found = capsys.readouterr().out, json.loads(report.read_text())
    assert set(found["subsets"]) == {"bn", "en"}
    for of in found["subsets"].values():
        assert of["trained"]["bits_per_byte"] < of["random_twin"]["bits_per_byte"] - 0.2
        # the twin's logits have a standard deviation of about 0.25, so it is about 0.03 nats above ln V; three times that is not an untrained model
        assert of["log_vocabulary"] - 0.05 < of["random_twin"]["nats_per_token"] < of["log_vocabulary"] + 0.1
        assert of["position_effect"]["low"] <= of["position_effect"]["effect"] <= of["position_effect"]["high"]
    assert "Wilson 95 %" in printed
    assert "position effect" in printed
    assert found["samples"][0]["tokens"] <= 16


def test_another_tokenizer_is_refused(run, tmp_path, capsys):
    other = data.sample(tmp_path / "other", vocab=600)
    assert evaluate.main(["--run", str(run), "--data", str(other)]) == 2
    assert "tokenizer" in capsys.readouterr().err


def test_a_missing_run_is_refused(tmp_path, capsys):
    assert evaluate.main(["--run", str(tmp_path), "--data", str(tmp_path)]) == 2
    assert "found:   no good checkpoint" in capsys.readouterr().err


def test_held_out_windows_are_each_once_and_held_out(folder):
    tokens = data.Tokens(folder)
    count = tokens.windows("held_out", 48)
    drawn = evaluate.held_out_windows(tokens, 48, 10_000)
    assert len(drawn) == len({tuple(row.tolist()) for row in drawn}) == count
    held = np.concatenate(tokens._shards["held_out"]).astype(np.int64)
    assert sorted(drawn[:, 0].tolist()) == sorted(held[: count * 48 : 48].tolist())


def test_the_twin_is_another_draw(run):
    """Of the same seed it would be the trained model's own beginning, and share with it what training did not change."""
    found = trained.read(run)
    same = train.train(dataclasses.replace(found.config, vocab_size=0, out="", steps=1, lr=0.0, muon_lr=0.0, data=found.config.data))
    assert not torch.equal(evaluate.random_twin(found.config).embedding.weight, same.model.embedding.weight)


def test_a_checkpoint_from_a_gpu_is_evaluated_on_the_cpu_in_its_own_arithmetic(run, folder, tmp_path):
    (newest, *_) = store.folders(run / "checkpoints")
    files = store.read(newest)
    state = json.loads(files["state.json"])
    state["config"] |= {"device": "cuda", "dtype": "bfloat16", "stream": "bfloat16"}
    store.write(tmp_path / "checkpoints", 40, {**files, "state.json": json.dumps(state).encode()}, keep=1)
    wanted = evaluate.evaluate(trained.read(run), folder, most=4)["subsets"]["en"]["trained"]
    found = evaluate.evaluate(trained.read(tmp_path), folder, most=4)["subsets"]["en"]["trained"]
    assert found["nats_per_token"] == pytest.approx(wanted["nats_per_token"], rel=0.01)
    assert found != wanted


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["rope_axis", "rope_missing"])
def test_position_effect_does_not_tell_broken_positions(folder, fault):
    """What it is not: without a rotation a causal model still knows the last token, and loses as much as a healthy one when it is taken away."""
    from trainer import faults

    chosen = config.nano(data=str(folder), out="", steps=150, progress=False)
    windows = evaluate.held_out_windows(data.Tokens(folder), 64, 100)
    healthy = evaluate.position_effect(train.train(chosen, say=lambda _: None).model.eval(), windows)
    with faults.plant(fault):
        broken = evaluate.position_effect(train.train(chosen, say=lambda _: None).model.eval(), windows)
    assert healthy.low > 0.1
    assert broken.effect > 0.7 * healthy.effect


def test_what_is_read_back_is_what_was_trained(run):
    found = trained.read(run)
    assert found.step == 40
    assert not found.model.training
    assert trained.read(run / "checkpoints").folder == found.folder
