"""The tokenizer's gate: what it must let through, and each defect it must refuse with its numbers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tokenizers")

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import normalizers, pre_tokenizers

from trainer import documents
from trainer import tokenizer as tk

pytestmark = pytest.mark.trainer

ROOT = Path(__file__).parents[1]
TEXTS = tk.sample_texts()
KEPT = [text for of in TEXTS.values() for text in of if not documents.is_held_out(text, tk.HELD_OUT)]
HELD = {language: "\n".join(text for text in of if documents.is_held_out(text, tk.HELD_OUT)) for language, of in TEXTS.items()}
GOOD = tk.train(KEPT, vocab=2048)
BAD = tk.train(KEPT, vocab=2048, pre="gpt2")
LENGTHS = {id(tokenizer): tk.byte_lengths(tokenizer) for tokenizer in (GOOD, BAD)}
BOTH = pytest.mark.parametrize("tokenizer", [GOOD, BAD], ids=["marks", "gpt2"])
# Letters, marks and joiners of Bangla beside anything UTF-8 can hold.
TEXT = st.lists(
    st.sampled_from([*"কখযর়ািুে্ৎংঁড়১২।", "\u200c", "\u200d", " ", "\n", "the", tk.END, "'s"]) | st.text(max_size=5), max_size=30
).map("".join)


def test_the_ceiling_of_both_regular_expressions():
    joined = {language: "\n".join(of) for language, of in TEXTS.items()}
    assert tk.ceiling(BAD, joined["bn"]) < 1.6
    assert tk.ceiling(BAD, joined["en"]) > 4
    assert min(tk.ceiling(GOOD, text) for text in joined.values()) > 4
    assert tk.ceiling(pre_tokenizers.ByteLevel(add_prefix_space=False), joined["bn"]) == tk.ceiling(BAD, joined["bn"])


def test_a_word_with_joiners_and_marks_is_one_piece():
    assert GOOD.pre_tokenizer is not None
    assert len(GOOD.pre_tokenizer.pre_tokenize_str("উদ্\u200cযাপন র\u200d্যালি কাঁঠালও")) == 3


@BOTH
@given(text=TEXT.filter(len))
def test_no_vocabulary_exceeds_the_ceiling(tokenizer, text):
    line = text.replace("\n", " ")
    assert tk.fertility(tokenizer, line) <= tk.ceiling(tokenizer, line) + 1e-9


def test_a_larger_vocabulary_does_not_lift_the_ceiling():
    wide = tk.train(KEPT, vocab=8192, pre="gpt2")
    assert wide.get_vocab_size() > BAD.get_vocab_size()
    assert tk.fertility(wide, HELD["bn"]) < 1.6
    with pytest.raises(ValueError, match=r"bn: ceiling 1\.[45]\d characters a pre-token, below 3"):
        tk.gate(wide, HELD)


def test_the_gate_passes_the_tokenizer_that_keeps_marks():
    measured = tk.gate(GOOD, HELD)
    assert set(measured) == {"bn", "en"}
    assert all(numbers.lost_lines == 0 and numbers.ceiling > numbers.fertility > 2 for numbers in measured.values())


def test_the_gate_refuses_gpt2s_regex_with_the_numbers():
    with pytest.raises(ValueError, match=r"(?s)found: .*wanted: .*do this:") as refused:
        tk.gate(BAD, HELD)
    assert "bn: ceiling 1." in str(refused.value)
    assert "en:" not in str(refused.value)
    with pytest.raises(ValueError, match=r"bn: ceiling 1\.") as early:  # small, where fertility alone would still pass it
        tk.gate(tk.train(KEPT, vocab=512, pre="gpt2"), HELD)
    assert "a token" not in str(early.value).split("wanted:")[0]


def test_one_byte_tokens_do_not_show_the_defect():
    """The paper's second alarm would pass it: fewer one-byte tokens in the bad tokenizer than in the good one."""
    assert tk.measure(BAD, HELD["bn"]).one_byte_share < tk.measure(GOOD, HELD["bn"]).one_byte_share


def test_the_gate_refuses_a_tokenizer_that_never_saw_bangla():
    english = tk.train(TEXTS["en"], vocab=2048)
    with pytest.raises(ValueError, match=r"bn: 0\..* spelled in bytes"):
        tk.gate(english, HELD)
    with pytest.raises(ValueError, match="below half of the best language"):
        tk.gate(english, HELD)


@pytest.mark.parametrize(
    ("normalizer", "text"),
    [
        (normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]), HELD["bn"]),
        (normalizers.NFC(), "পাহাড\u09bc আর পাহা\u09dc দেখতে এক রকম"),  # U+09DC is rewritten to two code points
        (normalizers.BertNormalizer(lowercase=False), "উদ্\u200cযাপন শুরু হলো"),  # joiners vanish
    ],
    ids=["marks stripped", "nukta rewritten", "joiners cleaned"],
)
def test_the_gate_refuses_a_normalizer_that_rewrites_text(normalizer, text):
    changed = tk.train(KEPT, vocab=2048)
    changed.normalizer = normalizer
    with pytest.raises(ValueError, match="lines do not come back"):
        tk.gate(changed, {"bn": text})


def test_the_gate_refuses_truncation_and_missing_text():
    short = tk.train(KEPT, vocab=2048)
    short.enable_truncation(8)
    with pytest.raises(ValueError, match="truncates"):
        tk.gate(short, HELD)
    for samples in ({}, {"bn": " \n"}):
        with pytest.raises(ValueError, match="no text for"):
            tk.gate(GOOD, samples)


def test_the_block_list_holds_the_defective_tokenizer_of_the_sample(tmp_path):
    """If the sample was changed on purpose, the fingerprint below is the one to put in REASONS."""
    assert tk.fingerprint(BAD) in tk.BLOCKED, tk.fingerprint(BAD)
    assert tk.fingerprint(GOOD) not in tk.BLOCKED
    BAD.save(str(tmp_path / "bad.json"))
    with pytest.raises(ValueError, match="blocked: the sample's, made with GPT-2's regex"):
        tk.load(tmp_path / "bad.json")
    assert tk.fingerprint(tk.load(tmp_path / "bad.json", blocked=())) == tk.fingerprint(BAD)
    with pytest.raises(ValueError, match="on the block list that was given"):
        tk.refuse_blocked("f" * 64, blocked=["f" * 64])


def test_a_fingerprint_is_of_what_decides_the_ids(tmp_path):
    found = tk.fingerprint(GOOD)
    GOOD.save(str(tmp_path / "kept.json"), pretty=True)
    kept = json.loads((tmp_path / "kept.json").read_text())
    assert tk.fingerprint_json(json.dumps(dict(reversed(kept.items())))) == found
    padded = tk.load(tmp_path / "kept.json")
    padded.enable_truncation(8)
    padded.enable_padding()
    assert tk.fingerprint(padded) == found
    padded.save(str(tmp_path / "padded.json"))
    loaded = tk.load(tmp_path / "padded.json")
    assert (loaded.truncation, loaded.padding) == (None, None)
    merges = kept["model"]["merges"]
    merges[0], merges[1] = merges[1], merges[0]
    assert tk.fingerprint_json(json.dumps(kept)) != found
    assert tk.fingerprint(tk.train(KEPT, vocab=2048)) == found


@BOTH
@given(text=TEXT)
@settings(max_examples=200)
def test_text_comes_back_and_every_byte_is_counted(tokenizer, text):
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert tokenizer.decode(ids, skip_special_tokens=False) == text
    assert sum(LENGTHS[id(tokenizer)][index] for index in ids) == len(text.encode())
    assert 0 not in ids  # the end of a document is never made from text, not even from the text that spells it


def test_the_end_is_id_zero_and_has_no_bytes():
    assert GOOD.token_to_id(tk.END) == 0
    lengths = tk.byte_lengths(GOOD)
    assert (len(lengths), lengths[0], min(lengths[1:])) == (GOOD.get_vocab_size(), 0, 1)


@pytest.mark.parametrize(("options", "said"), [({"vocab": 256}, "at least 257"), ({"vocab": 300, "pre": "whitespace"}, "marks or gpt2")])
def test_train_refuses(options, said):
    with pytest.raises(ValueError, match=said):
        tk.train(["a"], **options)


def test_load_refuses_what_is_no_tokenizer(tmp_path):
    with pytest.raises(ValueError, match="do this: make one"):
        tk.load(tmp_path / "none.json")
    (tmp_path / "broken.json").write_text('{"model": 1}')
    with pytest.raises(ValueError, match="that tokenizers can read"):
        tk.load(tmp_path / "broken.json")


def test_the_command_line(tmp_path, capsys):
    out = tmp_path / "made" / "tokenizer.json"
    assert tk.main(["train", "--out", str(out), "--vocab", "2048"]) == 0
    assert tk.fingerprint(tk.load(out)) == tk.fingerprint(GOOD)
    assert tk.main(["check", "--tokenizer", str(out)]) == 0
    assert tk.fingerprint(GOOD)[:16] in capsys.readouterr().out
    refused = tmp_path / "refused.json"
    assert tk.main(["train", "--out", str(refused), "--vocab", "1024", "--pre", "gpt2"]) == 1
    assert "bn: ceiling 1." in capsys.readouterr().err
    assert not refused.exists()
    assert tk.main(["check", "--tokenizer", str(out), "sample.txt"]) == 1
    assert "LANGUAGE=FILE" in capsys.readouterr().err


def test_training_does_not_depend_on_threads():
    code = f"from trainer import tokenizer as tk; print(tk.fingerprint(tk.train({KEPT[:40]!r}, vocab=600)))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "RAYON_NUM_THREADS": n}, check=True, capture_output=True, text=True
        ).stdout
        for n in ("1", "3")
    }
    assert len(found) == 1
