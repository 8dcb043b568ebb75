"""The scores against models whose scores are known, and against seeded defects; then the command on a trained checkpoint."""

import json
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from trainer import choices, config, data, evaluate, generate, train, trained  # noqa: E402
from trainer import tokenizer as tk  # noqa: E402

pytestmark = pytest.mark.trainer
VOCAB = 50


class Table(torch.nn.Module):
    """A model whose next-token logits are a table's row: all that it knows is the token before."""

    def __init__(self, table_VV, length=16):
        super().__init__()
        self.table_VV = table_VV
        self.config = config.nano(vocab_size=len(table_VV), length=length)

    def forward(self, tokens_BT):
        return self.table_VV[tokens_BT]


def progression(windows=24, length=16):
    """Each token is the one before plus 3."""
    start_W1 = torch.randint(0, VOCAB, (windows, 1), generator=torch.Generator().manual_seed(0))
    return (start_W1 + 3 * torch.arange(length + 1)) % VOCAB


def knows_the_rule():
    return Table(8 * torch.eye(VOCAB).roll(3, 1))


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


def test_position_effect_is_repeatable_and_needs_two_windows():
    assert evaluate.position_effect(knows_the_rule(), progression()) == evaluate.position_effect(knows_the_rule(), progression())
    with pytest.raises(ValueError, match=r"found: +1 windows"):
        evaluate.position_effect(knows_the_rule(), progression(windows=1))


@pytest.mark.parametrize(("right", "low", "high"), [(48, 0.186, 0.304), (42, 0.159, 0.272)])
def test_wilson_intervals_of_the_paper(right, low, high):
    """24.0 % and 21.0 % of 200 items: the intervals overlap, so the paper's two scores cannot be told apart."""
    assert choices.wilson(right, 200) == pytest.approx((low, high), abs=5e-4)


def test_wilson_at_the_ends():
    assert choices.wilson(0, 10)[0] == 0
    assert 0.2 < choices.wilson(0, 10)[1] < 0.35
    low, high = choices.wilson(7, 10)
    assert choices.wilson(3, 10) == pytest.approx((1 - high, 1 - low))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


@pytest.fixture(scope="module")
def tokenizer(folder):
    return tk.load(folder / "tokenizer.json")


def test_a_longer_choice_is_not_punished_for_its_length(tokenizer):
    """All tokens equally likely: unnormalised, the shortest choice wins; by characters, length as such decides nothing."""
    model = Table(torch.zeros(tokenizer.get_vocab_size(), tokenizer.get_vocab_size()), length=64)
    item = choices.Item(question="A", choices=("q", "the the the the"), answer=1)
    found = choices.answered(model, tokenizer, [item])
    assert found["unnormalised"]["right"] == 0
    assert found["by_characters"]["right"] == 1
    assert found["chance"] == 0.5


def test_log_likelihood_is_of_the_continuation_alone(tokenizer):
    size = tokenizer.get_vocab_size()
    model = Table(torch.zeros(size, size), length=64)
    tokens = len(tokenizer.encode(" the stove").ids)
    for context in ("", "A kettle", "long " * 100):
        assert choices.log_likelihood(model, tokenizer, context, " the stove") == pytest.approx(-tokens * math.log(size), rel=1e-6)


def test_context_and_continuation_have_the_tokens_of_the_whole(tokenizer):
    for item in choices.read(tk.SAMPLE / "choices.jsonl"):
        for choice in item.choices:
            apart = tokenizer.encode(item.question).ids + tokenizer.encode(" " + choice).ids
            assert apart == tokenizer.encode(f"{item.question} {choice}").ids


def test_a_model_of_nan_is_right_about_nothing(tokenizer):
    size = tokenizer.get_vocab_size()
    found = choices.answered(Table(torch.full((size, size), math.nan), length=64), tokenizer, choices.read(tk.SAMPLE / "choices.jsonl"))
    assert found["by_characters"]["right"] == 0


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"question": "a", "choices": ["b"], "answer": 0}',
        '{"question": "a", "choices": ["b", "c"], "answer": 2}',
        '{"question": "a", "choices": ["b", ""], "answer": 0}',
        '{"question": "a", "choices": ["b", "c"], "answer": "0"}',
    ],
)
def test_a_bad_item_is_refused_with_its_line(line, tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"question": "a", "choices": ["b", "c"], "answer": 0}\n' + line + "\n")
    with pytest.raises(ValueError, match=r"line 2.*\nwanted: +an item"):
        choices.read(path)


@pytest.mark.parametrize(
    ("ids", "period"),
    [
        ([], None),
        (list(range(40)), None),
        ([5] * 11, None),  # too short to say
        ([5] * 12, 1),
        ([9, 8, 7, *[1, 2, 3] * 4], 3),
        ([1, 2, 3] * 4 + [9], None),  # it left the loop
        ([*range(20), *range(20)], None),  # twice is not a loop
        ([*range(20)] * 3, 20),
        ([1, 1, 2] * 5, 3),
    ],
)
def test_loops(ids, period):
    assert generate.loop(ids) == period


def test_generation_follows_the_model_and_says_that_it_loops():
    model = knows_the_rule()
    assert generate.following(model, [1], new=4, end=0) == [4, 7, 10, 13]
    stuck = Table(8 * torch.eye(VOCAB))
    ids = generate.following(stuck, [7], new=20, end=0)
    assert generate.loop(ids) == 1
    assert generate.following(stuck, [0], new=20, end=0) == []


def test_sampling_depends_on_the_seed_alone():
    flat = Table(torch.zeros(VOCAB, VOCAB))
    one, again, other = (generate.following(flat, [1], new=12, end=-1, temperature=1.0, seed=seed) for seed in (3, 3, 4))
    assert one == again
    assert one != other


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


def test_what_is_read_back_is_what_was_trained(run):
    found = trained.read(run)
    assert found.step == 40
    assert not found.model.training
    assert trained.read(run / "checkpoints").folder == found.folder
