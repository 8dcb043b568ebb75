"""data_order catches every fault of the trainer's data order, with and without a corpus, and accuses no healthy drawer."""

import contextlib
import sys

import numpy as np
import pytest

from gradarbiter import __main__ as cli
from gradarbiter.rows import chance, overlapping
from gradarbiter.runs.data_order import data_order
from gradarbiter.shingles import Index, shingles

pytestmark = pytest.mark.arbiter


def quiet(*args, **options):
    return data_order(*args, say=lambda _: None, **options)


def kinds(result):
    assert result.status in ("ok", "fail"), result
    return {f.kind for f in result.accusations}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from trainer import data

    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


def of_trainer(folder, *, corpus, seed=1, length=16, batch=2, micro=True):
    """Everything that can be asked of the trainer's data."""
    from trainer import config, data, device, shards, step

    tokens = data.Tokens(folder)

    def drawer(split="train", rank=0, world=1):
        return lambda at, seed: tokens.batch(at, seed=seed, batch=batch, length=length, split=split, rank=rank, world=world)

    def stream(split):
        return {
            name: np.concatenate(shards.open_shards(folder / name, manifest, split)).astype(np.int64)
            for name, manifest in tokens.manifests.items()
        }

    c = config.nano(length=length, batch=batch, seed=seed, out="", progress=False)
    known = {"corpus": stream("train"), "held_out_corpus": stream("held_out")} if corpus else {"epoch": tokens.windows("train", length)}
    with device.entered(c) as place:
        run = step.begin(c, tokens, place)

        def micros(at, _seed):
            run.step = at
            return [step.next_batch(run, m).numpy() for m in range(c.accumulate)]

        return quiet(
            drawer(),
            held_out=drawer("held_out"),
            ranks=[drawer(rank=rank, world=2) for rank in (0, 1)],
            micro=micros if micro else None,
            resumed=lambda _at, _seed: drawer(),
            seed=seed,
            **known,
        )


@pytest.mark.parametrize("corpus", [True, False], ids=["corpus", "rows"])
@pytest.mark.parametrize("seed", range(5))
def test_healthy_trainer(folder, seed, corpus):
    for length, batch in ((16, 2), (64, 4), (33, 3)):
        assert kinds(of_trainer(folder, corpus=corpus, seed=seed, length=length, batch=batch)) == set()


FAULTS = {  # fault -> what is said with a corpus, and without
    "repeated_data": ({"repeated text", "never read"}, {"repeated rows"}),
    "order_unshuffled": ({"unshuffled", "proportion"}, {"unshuffled"}),
    "epochs_alike": ({"epochs alike"}, {"epochs alike"}),
    "seed_ignored": ({"seed ignored"}, {"seed ignored"}),
    "ranks_share_data": ({"ranks share text"}, {"ranks share text"}),
    "micro_batches_share_data": ({"micro-batches share text"}, {"micro-batches share text"}),
    "overlapping_windows": ({"repeated text", "never read"}, {"overlapping windows"}),
    "subset_forgotten": ({"never read", "proportion"}, set()),  # without a corpus nobody knows of the other subset
    "leaked_validation": ({"leak"}, {"leak"}),
    "held_out_is_train": ({"leak"}, {"leak"}),
    "ids_wrapped": ({"damaged ids"}, set()),  # without a corpus they are ids like any other
}


@pytest.mark.parametrize("corpus", [True, False], ids=["corpus", "rows"])
@pytest.mark.parametrize("fault", FAULTS)
def test_trainer_fault(folder, fault, corpus):
    from trainer import faults

    wanted = FAULTS[fault][0 if corpus else 1]
    with faults.plant(fault):
        found = kinds(of_trainer(folder, corpus=corpus))
    assert wanted <= found, found
    if not wanted:
        assert not found


def test_every_fault_of_the_order_is_in_the_table():
    from trainer import faults

    order = {f.name for f in faults.CATALOGUE.values() if f.layer == "data" and f.shows_in != "tokenizer"}
    assert order == FAULTS.keys()


def text(tokens=6000, vocab=200, seed=0):
    """Repeats itself as real text does: one in five tokens begins a phrase of nine that was there before."""
    random = np.random.default_rng(seed)
    phrases = random.integers(0, vocab, (30, 9))
    out = []
    while len(out) < tokens:
        out += list(phrases[random.integers(30)]) if random.random() < 0.05 else [int(random.zipf(1.3) % vocab)]
    return np.array(out[:tokens])


def windows(stream, length=32, batch=4, permute=True):
    count = (len(stream) - 1) // (length - 1)

    def draw(step, seed):
        at = step * batch + np.arange(batch)
        order = {e: np.random.default_rng([seed, e]).permutation(count) if permute else np.arange(count) for e in np.unique(at // count)}
        which = [order[i // count][i % count] for i in at]
        return np.stack([stream[w * (length - 1) : w * (length - 1) + length] for w in which])

    return draw


def test_text_that_repeats_itself_is_not_accused():
    for seed in range(5):
        stream = text(seed=seed)
        draw = windows(stream)
        assert kinds(quiet(draw, corpus={"text": stream})) == set()
        assert kinds(quiet(draw, epoch=193)) == set()


def test_texts_packed_in_another_order_are_in_the_corpus():
    """Rows made of shuffled documents of 10 to 60 tokens, as packing loaders make them."""
    random = np.random.default_rng(0)
    documents = np.split(text(), np.cumsum(random.integers(10, 60, 150)))
    documents = [d for d in documents if len(d)]

    def draw(step, seed):
        epoch, at = divmod(step, 46)
        order = np.random.default_rng([seed, epoch]).permutation(len(documents))
        packed = np.concatenate([documents[i] for i in order])
        return np.stack([packed[32 * (4 * at + r) :][:32] for r in range(4)])

    found = kinds(quiet(draw, corpus={"text": np.concatenate(documents)}, overlap=0, epoch=184))
    assert found == set()


@pytest.mark.parametrize("fill", [-1, 0])
def test_rows_that_are_filled_up_are_in_the_corpus(fill):
    """Documents of 12 to 48 tokens, one a row of 48."""
    random = np.random.default_rng(0)
    documents = [d + 1 for d in np.split(text(), np.cumsum(random.integers(12, 48, 190))) if 12 <= len(d) <= 48]

    def draw(step, seed):
        epoch, at = divmod(step * 4, len(documents) // 4 * 4)
        order = np.random.default_rng([seed, epoch]).permutation(len(documents))
        rows = np.full((4, 48), fill)
        for row, which in zip(rows, order[at : at + 4], strict=True):
            row[: len(documents[which])] = documents[which]
        return rows

    found = kinds(quiet(draw, corpus={"text": np.concatenate(documents)}, overlap=0, epoch=len(documents) // 4 * 4, padding=fill))
    assert found == set()


def test_order_of_the_files_may_be_meant():
    stream = text()
    draw = windows(stream, permute=False)
    assert "unshuffled" in kinds(quiet(draw, corpus={"text": stream}))
    found = kinds(quiet(draw, corpus={"text": stream}, shuffled=False))
    assert found == {"seed ignored", "epochs alike"}  # true of it too


def test_a_shuffle_of_a_small_buffer_is_found():
    stream = text(12000)
    whole = windows(stream, permute=False)

    def draw(step, seed):
        block = step // 8
        return whole(block * 8 + np.random.default_rng([seed, block]).permutation(8)[step % 8], seed)

    result = quiet(draw, corpus={"text": stream}, epoch=(len(stream) - 1) // 31)
    assert "unshuffled" in kinds(result)


def test_a_drawer_with_a_memory_is_found():
    stream, asked = text(), [0]
    draw = windows(stream)

    def remembering(_step, seed):
        asked[0] += 1
        return draw(asked[0], seed)

    assert "not a function" in kinds(quiet(remembering, epoch=193))


def test_a_resume_that_begins_again_is_found():
    draw = windows(text())
    result = quiet(draw, epoch=193, resumed=lambda at, _seed: lambda step, seed: draw(step - at, seed))
    assert "resume" in kinds(result)
    assert kinds(quiet(draw, epoch=193, resumed=lambda _at, _seed: draw)) == set()


def test_what_was_not_given_is_said():
    result = quiet(windows(text()))
    assert result.status == "ok"
    assert {f.parameter for f in result.findings if f.kind == "not asked"} == {
        *("resume", "epochs", "repeats", "corpus", "held-out text", "ranks", "micro-batches")
    }
    assert quiet(lambda _step, _seed: np.zeros((2, 3))).status == "not asked"


def test_shingles_are_of_the_tokens_alone():
    one = np.array([5, 6, 7, 8, 5, 6, 7, 9])
    found = shingles(one, 3)
    assert len(found) == 6
    assert found[0] == found[4]
    assert len(set(found.tolist())) == 5
    index = Index(one, 3)
    assert index.position(found).tolist() == [-1, 1, 2, 3, -1, 5]  # 5 6 7 is there twice
    assert not index.has(shingles(np.array([1, 2, 3]), 3)).any()
    assert not Index(one[:2], 3).has(found).any()


def test_chance_is_the_binomial_tail():
    assert chance(0, 10, 0.1) == 1
    assert chance(1, 10, 0.1) == pytest.approx(1 - 0.9**10)
    assert chance(10, 10, 0.5) == pytest.approx(0.5**10)


def test_overlap_is_found_at_its_stride():
    stream = text(3000)
    rows = np.stack([stream[i : i + 20] for i in range(0, 2900, 7)])
    assert overlapping(rows, 1) == (7, pytest.approx(1, abs=0.02))
    apart = np.stack([stream[i : i + 20] for i in range(0, 2900, 19)])
    assert overlapping(apart, 1)[1] < 0.2


def factory():
    return {"batch": windows(text(), permute=False), "epoch": 193}


def test_the_command(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "asked_module", sys.modules[__name__])
    assert cli.main(["data-order", "asked_module:factory", "--json", "-"]) == 1
    out = capsys.readouterr()
    assert '"unshuffled"' in out.out
    assert "draws about" in out.err
    with contextlib.suppress(SystemExit):
        assert cli.main(["data-order", "asked_module:nothing"]) == 2
