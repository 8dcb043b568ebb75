"""The shipped sample is what it says it is; fetching reads the packages' formats and refuses a package that changed; the command line."""

import gzip
import json
import re
import shutil
import struct
import unicodedata
import zipfile

import pytest

from trainer import data, documents, fetch, screen
from trainer import tokenizer as tk

TEXTS = tk.sample_texts()
CHOICES = list(documents.records(tk.SAMPLE / "choices.jsonl"))


@pytest.mark.parametrize("language", ["bn", "en"])
def test_the_sample_is_distinct_prose_in_one_spelling(language):
    texts = TEXTS[language]
    assert len(texts) == len(set(texts)) >= 60
    assert all(unicodedata.is_normalized("NFC", text) for text in texts)
    letters = [c for text in texts for c in text if unicodedata.category(c)[0] in "LM"]
    ours = [c for c in letters if ("\u0980" <= c <= "\u09ff") == (language == "bn")]
    assert len(ours) / len(letters) > 0.99
    assert all(2 <= len(re.findall(r"[।.?!]", text)) <= 12 for text in texts)
    held = sum(documents.is_held_out(text, tk.HELD_OUT) for text in texts)
    assert 8 <= held <= 0.3 * len(texts)
    assert documents.source(tk.SAMPLE / f"{language}.jsonl")["licence"] == "Apache-2.0"


def test_the_choices_are_well_formed_and_give_nothing_away():
    assert len({item["id"] for item in CHOICES}) == len(CHOICES) >= 20
    assert {item["language"] for item in CHOICES} == {"bn", "en"}
    assert all(0 <= item["answer"] < len(item["choices"]) == len(set(item["choices"])) for item in CHOICES)
    assert {len(item["choices"]) for item in CHOICES} >= {3, 4, 5}  # chance is not one number
    for position in range(4):
        assert sum(item["answer"] == position for item in CHOICES) <= len(CHOICES) / 2
    for pick in (min, max):  # choosing by length alone must stay near chance, 0.26 here
        by_length = [item["choices"].index(pick(item["choices"], key=len)) == item["answer"] for item in CHOICES]
        assert sum(by_length) <= len(CHOICES) / 2


def test_no_choice_item_is_in_the_sample():
    evaluation = screen.evaluation([tk.SAMPLE / "choices.jsonl"], 5)
    assert evaluation.grams
    assert [text for of in TEXTS.values() for text in of if evaluation.holds(text)] == []
    assert evaluation.holds(f"x {CHOICES[0]['question']} y")


@pytest.mark.trainer
def test_sample_makes_a_data_folder(tmp_path):
    pytest.importorskip("tokenizers")
    tokens = data.Tokens(data.sample(tmp_path / "data"))
    assert set(tokens.manifests) == {"bn", "en"}
    assert tokens.vocab_size == 2048
    assert tokens.windows("train", 64) > 100
    assert tokens.windows("held_out", 64) > 20
    assert tokens.batch(0, seed=0, batch=4, length=64).shape == (4, 65)
    again = data.Tokens(data.sample(tmp_path / "again"))
    assert again.digest == tokens.digest


@pytest.mark.trainer
def test_half_a_sample_is_never_there(tmp_path, monkeypatch):
    """A run that is killed while it makes the sample must not leave a folder with one language, which the next run would train on."""
    from trainer import prepare

    one, out = prepare.prepare, tmp_path / "sample"

    def killed(*args, subset, **options):
        assert not out.exists()
        if subset == "en":
            raise KeyboardInterrupt
        return one(*args, subset=subset, **options)

    with monkeypatch.context() as patch:
        patch.setattr(prepare, "prepare", killed)
        with pytest.raises(KeyboardInterrupt):
            data.sample(out, vocab=500)
    assert not out.exists()
    digest = data.Tokens(data.sample(out, vocab=500)).digest
    with pytest.raises(ValueError, match="is there already"):
        data.sample(out, vocab=500)

    other = tmp_path / "other"

    def slower(*args, **options):
        if options["subset"] == "en" and not other.exists():
            patch.setattr(prepare, "prepare", one)
            shutil.copytree(data.sample(out.with_name("another process"), vocab=500), other)
        return one(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(prepare, "prepare", slower)
        assert data.sample(other, vocab=500) == other
    assert data.Tokens(other).digest == digest
    assert not list(tmp_path.glob(".other*"))


@pytest.mark.trainer
def test_the_planted_tokenizer_is_refused_unless_asked_for(tmp_path):
    pytest.importorskip("tokenizers")
    planted = data.sample(tmp_path / "planted", pre="gpt2")
    with pytest.raises(ValueError, match="blocked"):
        data.Tokens(planted)
    opened = data.Tokens(planted, blocked=())
    assert opened.manifests["bn"]["tokenizer"]["gate"] is None
    healthy = data.Tokens(data.sample(tmp_path / "healthy"))
    of = [tokens.manifests["bn"]["splits"]["train"] for tokens in (opened, healthy)]
    planted_ratio, healthy_ratio = (split["characters"] / split["tokens"] for split in of)
    assert planted_ratio < 1.5
    assert healthy_ratio > 2.5


@pytest.mark.trainer
def test_the_command_line(tmp_path, capsys):
    pytest.importorskip("tokenizers")
    out, file = tmp_path / "data", tmp_path / "more.jsonl"
    assert data.main(["sample", "--out", str(out), "--vocab", "1024"]) == 0
    file.write_text(json.dumps({"body": "\n".join(TEXTS["en"])}) + "\n")
    options = [
        "--out",
        str(out),
        "--language",
        "en",
        "--tokenizer",
        str(out / "tokenizer.json"),
        "--field",
        "body",
        "--held-out-permille",
        "0",
    ]
    assert data.main(["prepare", str(file), "--subset", "more", *options]) == 1
    assert "without source and licence" in capsys.readouterr().err
    stated = ["--source", "a test", "--licence", "CC0-1.0", "--against", "bn", "en", "--evaluation", str(tk.SAMPLE / "choices.jsonl")]
    assert data.main(["prepare", str(file), "--subset", "more", *options, *stated]) == 0
    assert data.main(["show", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "CC0-1.0" in shown
    assert data.Tokens(out).fingerprint[:16] in shown
    (out / "more" / "train-00000.npy").unlink()
    assert data.main(["show", str(out)]) == 1
    assert "do this:" in capsys.readouterr().err


def mo(pairs):
    """A compiled gettext file, little-endian."""
    pairs = sorted((key.encode(), value.encode()) for key, value in pairs.items())
    blob, tables, at = b"", ([], []), 28 + 16 * len(pairs)
    for side in (0, 1):
        for pair in pairs:
            tables[side].append(struct.pack("<2I", len(pair[side]), at + len(blob)))
            blob += pair[side] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + b"".join(tables[0]) + b"".join(tables[1]) + blob


MO = {"": "Language: bn\n", "ctx\x04~Save all": "সব সংরক্ষণ (~S)", "one\0many": "একটি\0অনেক", "Kept": "Kept"}


def test_catalogue_reads_gettext():
    assert list(fetch.catalogue(mo(MO))) == [("Kept", "Kept"), ("Save all", "সব সংরক্ষণ"), ("one", "একটি")]


FLUENT = """\
# note = no
close =
    .title = বন্ধ করুন
    .key = K
long =
    প্রথম অংশ
    দ্বিতীয় অংশ
-term = শব্দ
count =
    { $n ->
        [one] একটি
       *[other] অনেক
    }
"""


def test_messages_reads_fluent_and_properties():
    assert list(fetch.messages(FLUENT)) == ["বন্ধ করুন", "K", "প্রথম অংশ দ্বিতীয় অংশ", "শব্দ", "একটি", "অনেক"]
    assert list(fetch.messages("# ক = খ\na.label=এক\\nদুই\nb = তিন\n")) == ["এক দুই", "তিন"]


def test_prose_leaves_out_contents_tables_and_sessions():
    good = "    This is a paragraph of the manual which is\n    long enough, and it ends as a sentence does."
    bad = "1.1. Contents\n1.2. More\n\n    |a|b|\n    +---+\n\n    $ ls -l something somewhere, with output that is long enough to count."
    assert list(fetch.prose(f"{bad}\n\n{good}\n")) == [" ".join(good.split())]


def test_short_strings_are_joined_once_each():
    made = list(fetch.joined(["ক" * 400, "খ" * 400, "ক" * 400, "গ" * 400, "ঘ"]))
    assert [len(text) for text in made] == [1202, 1]


@pytest.fixture
def apt(tmp_path, monkeypatch):
    """An apt-get and a dpkg-deb of shell that hand out the packages laid under ``root``."""
    root, tools = tmp_path / "root", tmp_path / "bin"
    tools.mkdir()
    (tools / "apt-get").write_text(
        f'#!/bin/sh\n[ -d "{root}/$2" ] || {{ echo "E: Unable to locate package $2" >&2; exit 100; }}\n: > "$2_1_all.deb"\n'
    )
    (tools / "dpkg-deb").write_text(
        f'#!/bin/sh\nif [ "$1" = -x ]; then name=$(basename "$2"); cp -r "{root}/${{name%%_*}}" "$3"; else echo 1:2.3-4; fi\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    for package, licence in (("libreoffice-l10n-bn", "MPL-2.0"), ("firefox-esr-l10n-bn", "MPL-2.0"), ("debian-reference-en", "GPL-2+")):
        doc = root / package / "usr/share/doc" / package
        doc.mkdir(parents=True)
        (doc / "copyright").write_text(f"License: {licence}\n")
    catalogues = root / "libreoffice-l10n-bn/usr/lib/libreoffice/program/resource/bn/LC_MESSAGES"
    catalogues.mkdir(parents=True)
    (catalogues / "sw.mo").write_bytes(mo({**MO, **{f"word {i}" * 9: f"শব্দ {i}" * 12 for i in range(3000)}}))
    packs = root / "firefox-esr-l10n-bn/usr/lib/firefox-esr/browser/extensions"
    packs.mkdir(parents=True)
    with zipfile.ZipFile(packs / "langpack-bn@firefox-esr.mozilla.org.xpi", "w") as pack:
        pack.writestr("a.ftl", "".join(f"key-{i} = {'মান' * 30} {i}\n" for i in range(2500)))
    manual = root / "debian-reference-en/usr/share/debian-reference"
    manual.mkdir(parents=True)
    (manual / "debian-reference.en.txt.gz").write_bytes(gzip.compress("\n\n".join(f"{'word ' * 40}{i}." for i in range(1000)).encode()))
    return root


def test_fetch_writes_text_with_its_source_and_licence(apt, tmp_path):
    made = fetch.fetch(tmp_path / "out")
    assert [path.stem for path in made] == [text.name for text in fetch.TEXTS]
    assert {documents.source(path)["licence"] for path in made} == {"MPL-2.0", "GPL-2+", "PSF-2.0"}
    assert documents.source(made[0])["source"] == "Debian package libreoffice-l10n-bn 1:2.3-4"
    assert all(any(documents.read(path)) for path in made)
    assert len(list((tmp_path / "out").glob("*.copyright"))) == 3
    assert "Kept" not in "".join(documents.read(made[1]))  # untranslated: its text is English on both sides


def test_fetch_refuses(apt, tmp_path, monkeypatch):
    def refused(said):
        with pytest.raises(ValueError, match=said) as error:
            fetch.fetch(tmp_path / "out")
        assert "do this:" in str(error.value)

    copyright_file = apt / "firefox-esr-l10n-bn/usr/share/doc/firefox-esr-l10n-bn/copyright"
    copyright_file.write_text("License: other")
    refused("no MPL-2.0 in its copyright file")
    copyright_file.write_text("License: MPL-2.0")
    manual = apt / "debian-reference-en/usr/share/debian-reference/debian-reference.en.txt.gz"
    manual.unlink()
    refused("en-debian-reference: 0 characters")
    shutil.rmtree(apt / "libreoffice-l10n-bn")
    refused("E: Unable to locate package libreoffice-l10n-bn")
    monkeypatch.setenv("PATH", str(tmp_path))
    refused("no apt-get and no dpkg-deb")
    assert data.main(["fetch", "--out", str(tmp_path / "out")]) == 1
