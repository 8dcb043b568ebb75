"""tokenizer_fertility names what a tokenizer does to Bangla, whoever made it, and accuses none that leaves text whole."""

import json

import pytest

from gradarbiter import __main__ as cli
from gradarbiter.runs.tokenizer_fertility import BLOCKED, marks_cut, pieces_a_word, single_code_points, tokenizer_fertility, why
from gradarbiter.tokenizers import fingerprint, token_bytes

pytestmark = pytest.mark.arbiter
VOCAB = 1500


@pytest.fixture(scope="module")
def texts():
    from trainer import tokenizer as tk

    return tk.sample_texts()


@pytest.fixture(scope="module")
def samples(texts):
    return {language: "\n".join(of) for language, of in texts.items()}


def quiet(*args, **options):
    return tokenizer_fertility(*args, say=lambda _: None, **options)


def said(result):
    return {(f.kind, f.parameter) for f in result.accusations}


def made(texts, pre, normalizer=None):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre, decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=VOCAB, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator((text for of in texts.values() for text in of), trainer)
    return tokenizer


def split(pattern):
    from tokenizers import Regex, pre_tokenizers

    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behavior="isolated"), bytes_])


CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LETTERS = r"[\p{L}\p{N}]+|[^\p{L}\p{N}]+"


@pytest.mark.parametrize("vocab", [400, 500, 2048])
def test_healthy_trainer(texts, samples, vocab):
    """As small as the trainer's own tests take it: half of the tokens are bytes then, and nothing is wrong."""
    from trainer import tokenizer as tk

    tokenizer = tk.train((text for of in texts.values() for text in of), vocab=vocab)
    for asked in (tokenizer, (lambda text: tokenizer.encode(text).ids, lambda ids: tokenizer.decode(ids, skip_special_tokens=False))):
        result = quiet(asked, samples)
        assert result.status == "ok", result


@pytest.mark.parametrize(
    ("fault", "kind"), [("tokenizer_fertility", "marks cut"), ("marks_stripped", "marks stripped"), ("text_recomposed", "text recomposed")]
)
def test_trainer_fault(texts, samples, fault, kind):
    from trainer import faults
    from trainer import tokenizer as tk

    with faults.plant(fault):
        tokenizer = tk.train((text for of in texts.values() for text in of), vocab=400)
    assert said(quiet(tokenizer, samples)) == {(kind, "bn")}


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [(CL100K, {("marks cut", "bn")}), (LETTERS, {("marks cut", "bn")}), (O200K, set())],
    ids=["cl100k", "letters", "o200k"],
)
def test_expressions_of_known_tokenizers(texts, samples, pattern, wanted):
    assert said(quiet(made(texts, split(pattern)), samples)) == wanted


def test_without_the_pre_tokenizer_tokens_show_it(texts, samples):
    bad = made(texts, split(CL100K))
    found = quiet((lambda text: bad.encode(text).ids, bad.decode), samples)
    assert said(found) in ({("marks cut", "bn")}, set())  # of cl100k's pieces some marks are inside; of GPT-2's hardly any
    from tokenizers import pre_tokenizers

    worse = made(texts, pre_tokenizers.ByteLevel(add_prefix_space=False))
    assert said(quiet((lambda text: worse.encode(text).ids, worse.decode), samples)) == {("marks cut", "bn")}


def test_a_language_that_was_never_seen(texts, samples):
    tokenizer = made({"en": texts["en"]}, split(O200K))
    assert said(quiet(tokenizer, samples)) == {("spelled in bytes", "bn")}
    assert said(quiet(tokenizer, samples, spelled=["bn"])) == set()


def test_normalizers_that_lose_text(texts, samples):
    from tokenizers import normalizers, pre_tokenizers

    kinds = {}
    for name, normalizer in {
        "lower": normalizers.Lowercase(),
        "bert": normalizers.BertNormalizer(lowercase=False, strip_accents=False),
        "nmt": normalizers.Nmt(),
    }.items():
        kinds[name] = said(quiet(made(texts, split(O200K), normalizer), samples))
    assert kinds["lower"] == {("case lost", "en")}
    assert kinds["bert"] == {("joiners lost", "bn")}
    assert {kind for kind, _ in kinds["nmt"]} <= {"text changed", "spaces changed", "characters lost", "joiners lost"}
    assert kinds["nmt"]
    prefix = made(texts, pre_tokenizers.Sequence([pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)]))
    result = quiet(prefix, samples)
    assert {kind for kind, _ in said(result)} == {"leading spaces"}
    assert quiet(prefix, samples, lossless=False).status == "ok"


def test_fingerprint_and_block_list(texts, samples, tmp_path):
    from trainer import tokenizer as tk

    tokenizer = made(texts, split(O200K))
    path = tmp_path / "tokenizer.json"
    path.write_text(tokenizer.to_str(pretty=True))
    found = fingerprint(path.read_text())
    assert found == fingerprint(tokenizer.to_str()) == tk.fingerprint(tokenizer)
    assert said(quiet(path, samples, blocked={found: "it was bad"})) == {("blocked", "tokenizer")}
    tokenizer.enable_truncation(4)
    shortened = quiet(tokenizer, samples)
    assert shortened.status == "ok"  # measured without, and said
    assert "truncation" in {f.kind for f in shortened.findings}
    assert tokenizer.truncation is not None  # the caller's is as it was
    assert BLOCKED.keys() == tk.BLOCKED


def test_a_fast_tokenizer_of_transformers(texts, samples):
    from transformers import PreTrainedTokenizerFast

    assert quiet(PreTrainedTokenizerFast(tokenizer_object=made(texts, split(O200K))), samples).status == "ok"


def test_what_is_missing_is_said(samples):
    assert "less than" in quiet((str, str), {"bn": "abc"}).reason
    assert "give a tokenizer.json" in quiet(3, samples).reason


def test_byte_share_is_shown_and_never_judged(texts, samples):
    from tokenizers import pre_tokenizers

    shares = []
    for pre in (pre_tokenizers.ByteLevel(add_prefix_space=False), split(O200K)):
        result = quiet(made(texts, pre), samples)
        shares.append(next(f for f in result.findings if f.kind == "fertility" and f.parameter == "bn").numbers["one_byte_share"])
    assert shares[0] < shares[1]  # the bad one has fewer


def test_counting():
    text = "কাজ"  # letter, mark, letter
    assert marks_cut([text], [{0, 1, 2}]) == (1, 1)
    assert marks_cut([text], [{0, 2}]) == (0, 1)
    assert pieces_a_word(["one two"], [{0, 1, 4}]) == 1.5
    assert pieces_a_word(["日本語"], [{0, 1, 2}]) == 1
    assert single_code_points()["\u09a1\u09bc"] == "\u09dc"


@pytest.mark.parametrize(
    ("line", "back", "kind"),
    [
        (" a", "a", "leading spaces"),
        ("\u09dc", "\u09a1\u09bc", "text recomposed"),
        ("ﬁ", "fi", "compatibility characters replaced"),
        ("ক্\u200cষ", "ক্ষ", "joiners lost"),
        ("কাজ", "কজ", "marks stripped"),
        ("Ab", "ab", "case lost"),
        ("a b", "ab", "spaces changed"),
        ("abc", "ac", "characters lost"),
        ("abc", "abd", "text changed"),
    ],
)
def test_why(line, back, kind):
    assert why(line, back) == kind


def test_bytes_of_tokens(texts):
    tokenizer = made(texts, split(O200K))
    of = token_bytes(tokenizer)
    line = texts["bn"][0]
    assert b"".join(of[i] for i in tokenizer.encode(line).ids).decode() == line


def test_the_command(texts, samples, tmp_path, capsys):
    path = tmp_path / "tokenizer.json"
    path.write_text(made(texts, split(CL100K)).to_str())
    for language, text in samples.items():
        (tmp_path / f"{language}.txt").write_text(text)
    arguments = [str(path), f"bn={tmp_path}/bn.txt", f"en={tmp_path}/en.txt", "--json", str(tmp_path / "report.json")]
    assert cli.main(["tokenizer-fertility", *arguments]) == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["results"][0]["status"] == "fail"
    out = capsys.readouterr()
    assert "encodes and decodes" in out.err
    assert cli.main(["tokenizer-fertility", str(path), "text.txt"]) == 2
