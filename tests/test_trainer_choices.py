"""Multiple choice and generation against models whose answers are known."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from trainer_table import VOCAB, Table, knows_the_rule  # noqa: E402

from trainer import choices, data, generate  # noqa: E402
from trainer import tokenizer as tk  # noqa: E402

pytestmark = pytest.mark.trainer


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
def tokenizer(tmp_path_factory):
    return tk.load(data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500) / "tokenizer.json")


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


def test_characters_are_not_bytes(tokenizer):
    """A Bangla letter has three bytes: divided by bytes, its choices would look three times as likely as they are."""
    size = tokenizer.get_vocab_size()
    model = Table(torch.zeros(size, size), length=64)
    english, bangla = "he has a cat", "আমরা কাল"
    nats = [len(tokenizer.encode(" " + text).ids) / len(text) for text in (english, bangla)]
    by_bytes = [len(tokenizer.encode(" " + text).ids) / len(text.encode()) for text in (english, bangla)]
    assert nats[0] < nats[1]
    assert by_bytes[0] > by_bytes[1]  # so the two rules disagree
    item = choices.Item(question="A", choices=(english, bangla), answer=0)
    assert choices.answered(model, tokenizer, [item])["by_characters"]["right"] == 1


class Remembers(Table):
    """Keeps what it was asked."""

    def __init__(self, size):
        super().__init__(torch.zeros(size, size), length=64)
        self.asked = []

    def forward(self, tokens_BT):
        self.asked.append(tokens_BT[0].tolist())
        return super().forward(tokens_BT)


def test_a_question_and_a_prompt_begin_a_document(tokenizer):
    """As every document of the training text does: after the end of the one before."""
    model = Remembers(tokenizer.get_vocab_size())
    choices.log_likelihood(model, tokenizer, "A kettle", " sings")
    generate.sampled(model, tokenizer, "A kettle", new=1)
    question = tokenizer.encode("A kettle").ids
    assert model.asked[0] == [0, *question, *tokenizer.encode(" sings").ids[:-1]]
    assert model.asked[1] == [0, *question]


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
