"""From files to subsets: three formats, counts that add up, copies and evaluation text left out, unreadable input refused by its place."""

import hashlib
import itertools
import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("tokenizers")

from trainer import data, documents, prepare, screen, shards
from trainer import tokenizer as tk

pytestmark = pytest.mark.trainer

TEXTS = tk.sample_texts()
TOKENIZER = tk.train([text for of in TEXTS.values() for text in of], vocab=2048)
STATED = {"source": "written for this test", "licence": "CC0-1.0"}


def jsonl(path, texts, **extra):
    path.write_text("".join(json.dumps({"text": text, **extra}, ensure_ascii=False) + "\n" for text in texts), encoding="utf-8")
    return path


def made(tmp_path, files, subset="bn", language="bn", **options):
    return prepare.prepare(files, out=tmp_path / "data", subset=subset, language=language, **{"tokenizer": TOKENIZER, **STATED, **options})


def kept(folder, subset, split):
    """The documents of a split, decoded from its shards."""
    tokens = np.concatenate(shards.open_shards(folder / subset, shards.read_manifest(folder / subset), split) or [np.empty(0, np.uint16)])
    ends = np.flatnonzero(tokens == 0)
    assert not len(tokens) or tokens[-1] == 0
    return [TOKENIZER.decode(part.tolist()) for part in np.split(tokens, ends + 1)[:-1] for part in [part[:-1]]]


def test_text_jsonl_and_parquet_give_the_same_tokens(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = TEXTS["bn"][:20]
    jsonl(tmp_path / "a.jsonl", texts)
    (tmp_path / "a.txt").write_bytes(("\ufeff\r\n \n" + "\n\n\t\n".join(texts) + "\r\n").encode())
    pq.write_table(pa.table({"text": texts, "other": list(range(20))}), tmp_path / "a.parquet")
    found = [made(tmp_path, [tmp_path / f"a.{kind}"], subset=kind)["shards"] for kind in ("txt", "jsonl", "parquet")]
    assert found[0] == found[1] == found[2]
    assert sorted(kept(tmp_path / "data", "txt", "train") + kept(tmp_path / "data", "txt", "held_out")) == sorted(texts)


def test_the_manifest_says_what_is_on_disk(tmp_path):
    file = jsonl(tmp_path / "bn.jsonl", [*TEXTS["bn"], TEXTS["bn"][3], "  \n", TEXTS["bn"][3]])
    manifest = made(tmp_path, [file], held_out_permille=150, shard_tokens=1000)
    folder = tmp_path / "data"
    assert manifest == json.loads((folder / "bn/manifest.json").read_text())
    assert manifest["documents"] == {"read": 103, "kept": 100, "empty": 1, "duplicate": 2, "elsewhere": 0, "contaminated": 0, "not_nfc": 0}
    assert manifest["inputs"] == [
        {"name": "bn.jsonl", "bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest(), **STATED}
    ]
    assert manifest["tokenizer"]["fingerprint"] == tk.fingerprint(TOKENIZER) == data.Tokens(folder).fingerprint
    assert manifest["tokenizer"]["gate"]["bn"]["ceiling"] > 4
    assert len([s for s in manifest["shards"] if s["split"] == "train"]) > 3
    for split in shards.SPLITS:
        texts = kept(folder, "bn", split)
        of = [s for s in manifest["shards"] if s["split"] == split]
        assert manifest["splits"][split] == {
            "documents": len(texts),
            "characters": sum(map(len, texts)),
            "bytes": sum(len(text.encode()) for text in texts),
            "tokens": sum(s["tokens"] for s in of),
        }
        assert [hashlib.sha256((folder / "bn" / s["name"]).read_bytes()).hexdigest() for s in of] == [s["sha256"] for s in of]
        assert all(s["tokens"] >= 1000 for s in of[:-1])
        assert [len(np.load(folder / "bn" / s["name"])) for s in of] == [s["tokens"] for s in of]


def test_held_out_follows_its_rule_and_shares_no_document(tmp_path):
    made(tmp_path, [jsonl(tmp_path / "a.jsonl", TEXTS["bn"])], subset="one", held_out_permille=150)
    made(tmp_path, [jsonl(tmp_path / "b.jsonl", TEXTS["bn"][::-1])], subset="two", held_out_permille=150)
    train, held = (set(kept(tmp_path / "data", "one", split)) for split in shards.SPLITS)
    assert not train & held
    assert train | held == set(TEXTS["bn"])
    rule = [text for text in TEXTS["bn"] if int(hashlib.sha256(text.encode()).hexdigest()[:16], 16) % 1000 < 150]
    assert held == set(rule) == set(kept(tmp_path / "data", "two", "held_out"))  # the order of the files does not matter


@given(text=st.text(max_size=50), low=st.integers(0, 1000), high=st.integers(0, 1000))
def test_the_held_out_rule_nests(text, low, high):
    """What 50 of 1000 hold out, 150 hold out too: the default subset's held-out documents never trained the default tokenizer."""
    low, high = sorted((low, high))
    assert documents.is_held_out(text, low) <= documents.is_held_out(text, high)
    assert documents.is_held_out(text, 1000)
    assert not documents.is_held_out(text, 0)


def test_the_held_out_rule_is_below_and_not_up_to():
    texts = (str(number) for number in itertools.count())
    at_150 = next(text for text in texts if int(hashlib.sha256(text.encode()).hexdigest()[:16], 16) % 1000 == 150)
    assert not documents.is_held_out(at_150, 150)
    assert documents.is_held_out(at_150, 151)


def test_the_screen_is_deaf_to_case_and_punctuation(tmp_path):
    path = jsonl(tmp_path / "eval.jsonl", [])
    path.write_text('{"question": "Why did the Old man wave at the hill?"}\n')
    evaluated = screen.evaluation([path], 8)
    assert evaluated.holds("so, WHY DID THE OLD MAN -- wave at the hill")
    assert not evaluated.holds("so, why did the old man wave at a hill")


def test_copies_in_another_subset_are_left_out_on_request(tmp_path):
    made(tmp_path, [jsonl(tmp_path / "a.jsonl", TEXTS["bn"][:30])], subset="one")
    again = jsonl(tmp_path / "b.jsonl", TEXTS["bn"][20:60])
    assert made(tmp_path, [again], subset="both")["documents"]["kept"] == 40
    manifest = made(tmp_path, [again], subset="rest", against=["one"])
    assert (manifest["documents"]["kept"], manifest["documents"]["elsewhere"], manifest["deduplication"]["against"]) == (30, 10, ["one"])
    with pytest.raises(ValueError, match="a prepared subset"):
        made(tmp_path, [again], subset="other", against=["three"])
    hashes = tmp_path / "data/one/documents.npy"
    hashes.write_bytes(hashes.read_bytes()[:-1] + b"!")
    with pytest.raises(ValueError, match=r"documents.npy with SHA-256"):
        made(tmp_path, [again], subset="other", against=["one"])
    with pytest.raises(ValueError, match=r"no document left of 40.*elsewhere"):
        made(tmp_path, [again], subset="none", against=["both"])


QUESTION = "দোকান বন্ধ করার আগে বৃদ্ধ লোকটি প্রতিদিন পাহাড়ের দিকে তাকিয়ে একবার হাত নাড়তেন কেন?"


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        (QUESTION, 1),
        (unicodedata.normalize("NFC", QUESTION).replace("ড\u09bc", "\u09dc"), 1),  # the other spelling of one letter
        (QUESTION.replace(" ", "\n").replace("?", "!"), 1),
        (" ".join(QUESTION.split()[:8]), 1),  # eight of its words in a row
        (" ".join(QUESTION.split()[:7]), 0),
        (" ".join(QUESTION.split()[::-1]), 0),
        ("উত্তর হলো সে পাহাড়কে বিদায় জানাত", 1),  # question and right choice, at its own short length
    ],
    ids=["whole", "other spelling", "other punctuation", "eight words", "seven words", "reversed", "short item"],
)
def test_evaluation_text_inside_a_document_is_left_out(tmp_path, inside, found):
    evaluation = tmp_path / "eval.jsonl"
    items = [
        {"question": QUESTION, "choices": ["জানি না", "অভ্যাস"], "answer": 1},
        {"nested": {"question": "উত্তর হলো", "choices": ["সে ঘুমাত", "সে পাহাড়কে বিদায় জানাত"], "answer": 1}},
        {"question": "উত্তর হলো", "choices": ["সে ঘুমাত", "সে পাহাড়কে বিদায় জানাত"], "answer": 1},
    ]
    evaluation.write_text("".join(json.dumps(item) + "\n" for item in items))
    hidden = f"{TEXTS['bn'][0]} {inside} {TEXTS['bn'][1]}"
    file = jsonl(tmp_path / "a.jsonl", [*TEXTS["bn"][:10], hidden])
    manifest = made(tmp_path, [file], evaluation=[evaluation], ngram=8)
    assert manifest["documents"]["contaminated"] == found
    assert manifest["documents"]["kept"] == 11 - found
    assert manifest["contamination"]["ngram_words"] == 8
    assert (manifest["contamination"]["records"], manifest["contamination"]["records_too_short"]) == (3, 1)
    assert manifest["contamination"]["files"][0]["sha256"] == hashlib.sha256(evaluation.read_bytes()).hexdigest()
    assert made(tmp_path, [file], subset="unscreened")["contamination"] is None


@given(words=st.lists(st.sampled_from(["কলা", "গাছ", "নদী", "the", "river", "a", "১২"]), min_size=5, max_size=14), n=st.integers(5, 9))
@settings(max_examples=60, deadline=None)
def test_the_screen_finds_exactly_the_shared_runs(tmp_path_factory, words, n):
    path = tmp_path_factory.mktemp("screen") / "eval.txt"
    path.write_text("কলা গাছ নদী the river a ১২ কলা নদী", encoding="utf-8")
    of = path.read_text(encoding="utf-8").split()
    runs = {tuple(of[i : i + n]) for i in range(len(of) - n + 1)}
    expected = any(tuple(words[i : i + n]) in runs for i in range(len(words) - n + 1))
    assert screen.evaluation([path], n).holds("; ".join(words)) == expected


def test_the_screen_refuses_what_would_screen_nothing(tmp_path):
    short = tmp_path / "eval.jsonl"
    short.write_text('{"question": "too short"}\n')
    for paths, n, said in (([short], 8, "no text of 5 words"), ([short], 4, "n-grams of 4"), ([tmp_path / "no.jsonl"], 8, "no file")):
        with pytest.raises(ValueError, match=said):
            screen.evaluation(paths, n)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"good\n\nbad \xff\n", "a.txt, line 3"),
        ("a.jsonl", b'{"text": "x"}\n{"text": \n', "a.jsonl, line 2"),
        ("a.jsonl", b'{"text": "x"}\n\n{"body": "y"}\n', "a.jsonl, line 3: NoneType in 'text'"),
        ("a.jsonl", b'{"text": 5}\n', "line 1: int in 'text'"),
        ("a.jsonl", b'["x"]\n', "line 1: NoneType"),
        ("a.jsonl", b'{"text": "\\ud800"}\n', "line 1: 'utf-8' codec can't encode"),
        ("a.parquet", b"PAR1", "a Parquet file"),
        ("a.csv", b"x", "ends in .txt, .jsonl, .parquet"),
        ("none.txt", None, "correct the path"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_place(tmp_path, name, content, said):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"(?s)found: .*wanted: .*do this:") as refused:
        made(tmp_path, [tmp_path / name])
    assert said in str(refused.value)


def test_parquet_by_its_columns(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"body": [TEXTS["bn"][0], None]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="columns body"):
        made(tmp_path, [tmp_path / "a.parquet"])
    with pytest.raises(ValueError, match="row 1: NoneType"):
        made(tmp_path, [tmp_path / "a.parquet"], field="body")


def test_source_and_licence_are_demanded(tmp_path):
    file = jsonl(tmp_path / "a.jsonl", TEXTS["bn"])
    with pytest.raises(ValueError, match=r"a.jsonl without source and licence"):
        made(tmp_path, [file], source="", licence="")
    beside = tmp_path / "a.source.json"
    beside.write_text(json.dumps({**STATED, "url": "https://example.org"}))
    (of,) = made(tmp_path, [file], source="", licence="")["inputs"]
    assert (of["url"], of["licence"]) == ("https://example.org", "CC0-1.0")
    assert made(tmp_path, [file], subset="b", source="", licence="MIT")["inputs"][0]["licence"] == "MIT"
    for content in ("[]", "{"):
        beside.write_text(content)
        with pytest.raises(ValueError, match=r"a JSON object with source and licence"):
            made(tmp_path, [file], subset="c", source="", licence="")


def test_tokenizers_are_refused(tmp_path):
    file = jsonl(tmp_path / "a.jsonl", TEXTS["bn"])
    bad = tk.train([text for of in TEXTS.values() for text in of], vocab=1024, pre="gpt2")
    with pytest.raises(ValueError, match=r"bn: ceiling 1\."):
        made(tmp_path, [file], tokenizer=bad)
    with pytest.raises(ValueError, match="on the block list that was given"):
        made(tmp_path, [file], blocked=[tk.fingerprint(TOKENIZER)])
    endless = tk.train(TEXTS["bn"], vocab=1024)
    endless = type(endless).from_str(endless.to_str().replace(tk.END, "<|other|>"))
    with pytest.raises(ValueError, match="end of a document"):
        made(tmp_path, [file], tokenizer=endless)
    assert not (tmp_path / "data").exists()  # nothing refused has left a trace
    made(tmp_path, [file])
    kept_file = tmp_path / "data" / "tokenizer.json"
    content = kept_file.read_text()
    for bad_content in ("[]", "{", "5"):
        kept_file.write_text(bad_content)
        with pytest.raises(ValueError, match=r"found: .*tokenizer.json: "):
            made(tmp_path, [file], subset="other")
    kept_file.write_text(content)
    with pytest.raises(ValueError, match="is tokenizer"):
        made(tmp_path, [file], subset="other", tokenizer=bad, gated=False)
    with pytest.raises(ValueError, match="1001 held out"):
        made(tmp_path, [file], subset="third", held_out_permille=1001)
    with pytest.raises(ValueError, match="no files"):
        made(tmp_path, [], subset="third")


def test_a_run_that_dies_leaves_no_subset_and_the_next_one_works(tmp_path):
    many = [f"{number} {text}" for number in range(6) for text in TEXTS["bn"]]  # more than one turn of the loop that encodes
    good, bad = jsonl(tmp_path / "a.jsonl", many), tmp_path / "b.jsonl"
    bad.write_text("{")
    with pytest.raises(ValueError, match="line 1"):
        made(tmp_path, [good, bad], shard_tokens=500, gated=False)  # the gate would have read that line before anything was written
    assert list((tmp_path / "data/.bn.partial").iterdir())
    with pytest.raises(ValueError, match="no subset"):
        data.Tokens(tmp_path / "data")
    made(tmp_path, [good])
    assert [path.name for path in sorted((tmp_path / "data").iterdir())] == ["bn", "tokenizer.json"]


def test_a_document_is_encoded_whole_and_as_text(tmp_path):
    """A tokenizer straight from the library would end the document at the text of the end token, and cut it at its truncation."""
    raw = type(TOKENIZER).from_str(TOKENIZER.to_str())
    raw.enable_truncation(8)
    text = f"{TEXTS['bn'][0]} {tk.END} {TEXTS['bn'][1]}"
    assert 0 in raw.encode(tk.END).ids
    made(tmp_path, [jsonl(tmp_path / "a.jsonl", [text])], tokenizer=raw, held_out_permille=0)
    assert kept(tmp_path / "data", "bn", "train") == [text]
