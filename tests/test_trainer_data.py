"""Order and batches: every window once an epoch, the same on any number of ranks and in any order of calls; damaged data refused."""

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainer import data, order, shards
from trainer import tokenizer as tk

ROOT = Path(__file__).parents[1]
PINNED = [14, 15, 14, 2, 8, 6, 20, 0]  # two draws that end the second epoch, six that begin the third
SEEDS = st.integers(0, 2**63 - 1)
FINGERPRINT = tk.fingerprint_json("{}")


def subset(folder, name, tokens, *, vocab=1 << 16, shard_tokens=100, fingerprint=FINGERPRINT):
    """A subset whose tokens are given, in several shards; no tokenizer is needed to read it."""
    (folder / shards.TOKENIZER).write_text("{}")
    writer = shards.Writer(folder / name, vocab, shard_tokens)
    for split, of in tokens.items():
        for start in range(0, len(of), 7):
            writer.add(split, of[start : start + 7])
    return writer.seal({"tokenizer": {"fingerprint": fingerprint, "vocab_size": vocab, "end": 0}})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tokens that are their own position: 0..499 and 500..800 to train on, 1000..1111 held out."""
    made = tmp_path_factory.mktemp("data")
    subset(made, "a", {"train": range(500), "held_out": range(1000, 1080)})
    subset(made, "b", {"train": range(500, 801), "held_out": range(1080, 1112)})
    return made


@pytest.fixture(scope="module")
def tokens(folder):
    return data.Tokens(folder)


@given(count=st.integers(1, 3000), key=st.text(max_size=8))
def test_permute_is_one_to_one(count, key):
    assert np.array_equal(np.sort(order.permute(np.arange(count), count, key=key)), np.arange(count))


@given(count=st.integers(1, 2**40), key=st.text(max_size=4), data=st.data())
def test_permute_stays_inside_however_large(count, key, data):
    index = np.array(data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=20, unique=True)))
    got = order.permute(index, count, key=key)
    assert ((got >= 0) & (got < count)).all()
    assert len(set(got.tolist())) == len(index)


@pytest.mark.parametrize("count", [7, 16, 50])
def test_every_place_is_about_equally_likely(count):
    """Chi-square over (index, place) with 400 keys. Its mean is the number of cells, its deviation sqrt(2 cells): six of them are never chance."""
    keys, cells = 400, count * (count - 1)
    seen = np.zeros((count, count))
    for key in range(keys):
        seen[np.arange(count), order.permute(np.arange(count), count, key=f"{key}/0")] += 1
    expected = keys / count
    assert abs(((seen - expected) ** 2 / expected).sum() - cells) < 6 * (2 * cells) ** 0.5


def test_neighbours_do_not_stay_neighbours():
    steps = np.diff(order.permute(np.arange(4096), 4096, key="0/0"))
    assert np.mean(np.abs(steps) == 1) < 0.01
    assert Counter(steps.tolist()).most_common(1)[0][1] < 10  # a stride, or a reversed block, would repeat one difference


def test_the_order_never_changes():
    """Pinned: a release of numpy, or of this trainer, that changed it would end every exact resume."""
    got = order.windows(5, seed=1234, rows=slice(0, 8), batch=8, count=21)
    assert got.tolist() == PINNED


@given(seed=SEEDS, count=st.integers(1, 60), batch=st.integers(1, 70))
def test_every_window_exactly_once_an_epoch(seed, count, batch):
    steps = -(-3 * count // batch)
    drawn = np.concatenate([order.windows(s, seed=seed, rows=slice(0, batch), batch=batch, count=count) for s in range(steps)])
    for epoch in range(3):
        assert sorted(drawn[epoch * count : (epoch + 1) * count].tolist()) == list(range(count))


def test_epochs_and_seeds_differ():
    def epoch(seed, number):
        return order.windows(number, seed=seed, rows=slice(0, 100), batch=100, count=100).tolist()

    drawn = [epoch(seed, number) for seed in range(4) for number in range(4)]
    assert len({tuple(of) for of in drawn}) == 16


@given(seed=SEEDS, length=st.integers(1, 90), batch=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_windows_hold_what_stands_there(tokens, seed, length, batch):
    """Over an epoch: every row is a run of neighbours, across shards and subsets, and every target is predicted once."""
    count = tokens.windows("train", length)
    assert count == 800 // length
    steps = -(-count // batch)
    rows = np.concatenate([tokens.batch(s, seed=seed, batch=batch, length=length) for s in range(steps)])[:count]
    assert rows.dtype == np.int64
    assert rows.shape == (count, length + 1)
    assert (np.diff(rows) == 1).all()
    assert (rows[:, 0] % length == 0).all()
    assert sorted(rows[:, 1:].ravel().tolist()) == list(range(1, count * length + 1))


@given(seed=SEEDS, step=st.integers(0, 10**9), world=st.sampled_from([1, 2, 3, 4, 6, 12]), split=st.sampled_from(data.SPLITS))
@settings(deadline=None)
def test_ranks_partition_the_same_global_batch(tokens, seed, step, world, split):
    whole = tokens.batch(step, seed=seed, batch=12, length=16, split=split)
    parts = [tokens.batch(step, seed=seed, batch=12 // world, length=16, split=split, rank=r, world=world) for r in range(world)]
    assert np.array_equal(np.concatenate(parts), whole)


@given(seed=SEEDS, steps=st.permutations(range(12)))
@settings(max_examples=20, deadline=None)
def test_any_order_of_calls_gives_the_same(folder, tokens, seed, steps):
    fresh = data.Tokens(folder)
    in_order = [tokens.batch(s, seed=seed, batch=3, length=30) for s in range(12)]
    for step in steps:
        fresh.batch(step + 1, seed=seed + 1, batch=2, length=11, split="held_out")  # a call between must leave no trace
        assert np.array_equal(fresh.batch(step, seed=seed, batch=3, length=30), in_order[step])


def test_held_out_shares_nothing_with_train(tokens):
    drawn = {
        split: {int(t) for s in range(60) for t in tokens.batch(s, seed=0, batch=2, length=9, split=split).ravel()} for split in data.SPLITS
    }
    assert drawn["train"] <= set(range(801))
    assert drawn["held_out"] <= set(range(1000, 1112))
    assert len(drawn["train"]) > 700
    assert len(drawn["held_out"]) > 100


def test_one_subset_alone(folder):
    only = data.Tokens(folder, subsets=["b"])
    assert (only.count("train"), only.count("held_out"), only.vocab_size) == (301, 32, 1 << 16)
    assert only.batch(0, seed=0, batch=4, length=20).min() >= 500
    assert len({data.Tokens(folder, subsets=names).digest for names in (["a"], ["b"], ["a", "b"], ["b", "a"])}) == 4  # other windows each


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"step": -1}, "step -1"),
        ({"batch": 0}, "batch 0"),
        ({"rank": 2, "world": 2}, "rank 2 of 2"),
        ({"length": 0}, "length 0"),
        ({"split": "test"}, "train or held_out"),
        ({"split": "held_out", "length": 112}, "112 tokens in held_out"),
    ],
)
def test_batch_refuses(tokens, options, said):
    with pytest.raises(ValueError, match=said) as refused:
        tokens.batch(**{"step": 0, "seed": 0, "batch": 1, "length": 8, **options})
    assert all(part in str(refused.value) for part in ("found:", "wanted:", "do this:"))


def damaged(folder, tmp_path, harm):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    harm(copy)
    with pytest.raises(ValueError, match=r"(?s)found: .*wanted: .*do this:") as refused:
        data.Tokens(copy)
    return str(refused.value)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("name", ["train-00000.npy", "held_out-00000.npy", "manifest.json"])
def test_any_flipped_bit_is_refused(folder, tmp_path, name, share):
    def flip(copy):
        path = copy / "a" / name
        content = bytearray(path.read_bytes())
        content[int(share * (len(content) - 1))] ^= 1
        path.write_bytes(content)

    assert name in damaged(folder, tmp_path, flip)


def test_a_missing_or_short_shard_and_an_edited_manifest_are_refused(folder, tmp_path):
    assert "no " in damaged(folder, tmp_path / "1", lambda copy: (copy / "a/train-00001.npy").unlink())
    assert "SHA-256" in damaged(folder, tmp_path / "2", lambda copy: (copy / "b/train-00000.npy").write_bytes(b""))

    def swap(copy):
        one, two = copy / "a/train-00000.npy", copy / "a/train-00001.npy"
        one.rename(copy / "x"), two.rename(one), (copy / "x").rename(two)

    assert "SHA-256" in damaged(folder, tmp_path / "3", swap)

    def edit(copy):
        path = copy / "a/manifest.json"
        path.write_text(path.read_text().replace('"vocab_size": 65536', '"vocab_size": 65537'))

    assert "changed after it was written" in damaged(folder, tmp_path / "4", edit)
    assert "format None" in damaged(folder, tmp_path / "5", lambda copy: (copy / "a/manifest.json").write_text("{}"))
    assert "no subset" in damaged(folder, tmp_path / "6", lambda copy: [shutil.rmtree(copy / name) for name in "ab"])
    assert "tokenizer.json" in damaged(folder, tmp_path / "7", lambda copy: (copy / "tokenizer.json").unlink())
    for at, content in enumerate(("[]", "5", "{", "")):
        assert "tokenizer.json: " in damaged(folder, tmp_path / f"8{at}", lambda copy, of=content: (copy / "tokenizer.json").write_text(of))


def test_another_tokenizer_is_refused(folder, tmp_path):
    with pytest.raises(ValueError, match=f"tokenizer {FINGERPRINT[:16]}"):
        data.Tokens(folder, tokenizer="0" * 64)
    assert data.Tokens(folder, tokenizer=FINGERPRINT).fingerprint == FINGERPRINT
    assert "a is of tokenizer" in damaged(folder, tmp_path / "1", lambda copy: (copy / "tokenizer.json").write_text('{"other": 1}'))
    assert "c is of tokenizer 1111" in damaged(
        folder, tmp_path / "2", lambda copy: subset(copy, "c", {"train": range(9)}, fingerprint="1" * 64)
    )


def test_a_blocked_tokenizer_is_refused(folder):
    with pytest.raises(ValueError, match="blocked"):
        data.Tokens(folder, blocked=[FINGERPRINT])


def test_large_ids_and_a_missing_subset(tmp_path):
    subset(tmp_path, "wide", {"train": [70_000, 1, 2]}, vocab=70_001)
    wide = data.Tokens(tmp_path)
    assert wide.manifests["wide"]["dtype"] == "uint32"
    assert wide.batch(0, seed=0, batch=1, length=2).tolist() == [[70_000, 1, 2]]
    with pytest.raises(ValueError, match=r"no .*none.manifest\.json"):
        data.Tokens(tmp_path, subsets=["none"])
    with pytest.raises(ValueError, match="new subset"):
        subset(tmp_path, "wide", {})
    with pytest.raises(ValueError, match="letters, digits"):
        subset(tmp_path, "..", {})


def test_nothing_here_needs_torch_and_reading_needs_no_tokenizers():
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['tokenizers'] = None\n"
        "import trainer.data, trainer.fetch, trainer.tokenizer, trainer.prepare, trainer.screen; print('imported')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.stdout == "imported\n", done.stderr
