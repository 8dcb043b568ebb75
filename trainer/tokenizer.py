r"""Bangla-first byte-level BPE; careful that a pre-tokenizer which splits letters from their marks caps every later vocabulary.

GPT-2's regular expression joins letters (\p{L}) only. Three in ten code points of Bangla prose are marks (vowel signs, hasanta, nukta), so every
word falls into pieces of about 1.5 characters, and no merge ever crosses a piece: a larger vocabulary changes nothing, nothing is raised, text
round-trips, and a Bangla sequence is three times as long as an English one. Hence `gate`: it measures the ceiling before anything is trained on it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainer import documents
from trainer.errors import Refused, refusal

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from tokenizers.pre_tokenizers import PreTokenizer

END = "<|end|>"  # after every document; always id 0
# Marks (\p{M}), ZWNJ and ZWJ stay with the letters they are written on. Digits go by three, so that numbers cannot fill the vocabulary.
MARKS = r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}\p{M}" "\u200c\u200d" r"]+| ?\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}" "\u200c\u200d" r"]+|\s+(?!\S)|\s+"
HELD_OUT = (
    150  # of 1000 documents: what a tokenizer is gated on and not trained on. The rule nests: it holds the 50 that `prepare` holds out
)
SAMPLE = Path(__file__).parent / "sample"
PRE_TOKENIZERS = ("marks", "gpt2")  # "gpt2" is the defect, kept so that it can be planted and shown to be refused

CEILING = 3.0  # characters a pre-token, every language: GPT-2's regex gives Bangla about 1.5, English 5; with marks both are above 4
FERTILITY = 1.0  # characters a token: below one, a language is spelled in bytes (a tokenizer trained on English alone gives Bangla 0.38)
SHARE = 0.5  # of the best language's fertility

# Fingerprints of tokenizers that must not be trained on again, with the reason. The first is reproduced by tests/test_trainer_tokenizer.py.
REASONS: Mapping[str, str] = {
    "bc123f5021edf06d33bd46b790d3a254b38282125a6d7f4a6c750e85824d7042": "the sample's, made with GPT-2's regex: Bangla at 1.5 characters a token",
}
BLOCKED: frozenset[str] = frozenset(REASONS)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What `gate` found for one language; ``one_byte_share`` is shown and never judged: it is lower for the defective tokenizer."""

    characters: int
    ceiling: float
    fertility: float
    one_byte_share: float
    lost_lines: int


def train(texts: Iterable[str], *, vocab: int, pre: str = "marks") -> Tokenizer:
    """A byte-level BPE tokenizer whose id 0 is `END`. It is not gated: `gate` is, and `python -m trainer.tokenizer train` writes nothing that fails."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    if pre not in PRE_TOKENIZERS:
        raise refusal(f"pre-tokenizer {pre!r}", " or ".join(PRE_TOKENIZERS), "name one of them; 'marks' is the one to train on")
    if vocab < 257:
        raise refusal(f"a vocabulary of {vocab}", "at least 257: 256 bytes and the end of a document", "raise --vocab")
    tokenizer = Tokenizer(models.BPE())
    if pre == "marks":
        split = pre_tokenizers.Split(Regex(MARKS), behavior="isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    # All 256 bytes from the start: without them a character unseen in training vanishes without an error.
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    ends = [AddedToken(END, special=True, normalized=False)]
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=vocab, special_tokens=ends, initial_alphabet=alphabet, show_progress=False)
    )
    return plain(tokenizer)


def load(path: str | Path, blocked: Iterable[str] = BLOCKED) -> Tokenizer:
    """Read a tokenizer.json; refuse a blocked one. Truncation and padding kept in the file are switched off: they lose or add tokens silently."""
    from tokenizers import Tokenizer

    try:
        tokenizer = plain(Tokenizer.from_str(Path(path).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise refusal(f"no {path}", "a tokenizer.json", "make one: python -m trainer.tokenizer train --out PATH") from None
    except Exception as bad:  # noqa: BLE001  tokenizers raises bare Exception
        raise refusal(f"{path}: {bad}", "a tokenizer.json that tokenizers can read", "make it again, or copy it again") from None
    refuse_blocked(fingerprint(tokenizer), blocked)
    return tokenizer


def plain(tokenizer: Tokenizer) -> Tokenizer:
    """A copy that encodes text whole and as text: nothing truncated, nothing padded, and ``<|end|>`` inside a document never the end of it."""
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    copy.encode_special_tokens = True
    return copy


def fingerprint(tokenizer: Tokenizer) -> str:
    """SHA-256 of what decides the ids: the canonical JSON without truncation and padding, which are a run's state."""
    return fingerprint_json(tokenizer.to_str())


def fingerprint_json(text: str) -> str:
    """The same from a tokenizer.json that this library version wrote; needs no tokenizers."""
    content = json.loads(text)
    if not isinstance(content, dict):
        raise ValueError(f"a JSON {type(content).__name__}, no object")  # noqa: TRY004  as of text that is no JSON at all: see fingerprint_file
    content = {key: value for key, value in content.items() if key not in {"truncation", "padding"}}
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def fingerprint_file(path: Path) -> str:
    try:
        return fingerprint_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as bad:
        raise refusal(f"{path}: {bad}", "the tokenizer.json of the data", "copy it again, or prepare the data again") from None


def refuse_blocked(found: str, blocked: Iterable[str] = BLOCKED) -> None:
    if found in set(blocked):
        reason = REASONS.get(found, "on the block list that was given")
        raise refusal(
            f"tokenizer {found[:16]}, blocked: {reason}",
            "a tokenizer that is not on the block list",
            "train one: python -m trainer.tokenizer train",
        )


def ceiling(splitter: Tokenizer | PreTokenizer, text: str) -> float:
    """Characters a pre-token: fertility can never exceed it, whatever the vocabulary, because no merge crosses a pre-token."""
    normalizer = getattr(splitter, "normalizer", None)
    inner = getattr(splitter, "pre_tokenizer", splitter)
    if inner is None:  # the whole text is one piece
        return float(len(text))
    pieces = len(inner.pre_tokenize_str(normalizer.normalize_str(text) if normalizer else text))
    return len(text) / max(pieces, 1)


def fertility(tokenizer: Tokenizer, text: str) -> float:
    """Characters a token (the paper's measure; more is better)."""
    encodings = tokenizer.encode_batch(text.splitlines(keepends=True), add_special_tokens=False)
    return len(text) / max(sum(len(encoding.ids) for encoding in encodings), 1)


def round_trip(tokenizer: Tokenizer, lines: Sequence[str]) -> list[tuple[str, str]]:
    """The lines that do not come back, each with what came back instead."""
    ids = [encoding.ids for encoding in tokenizer.encode_batch(list(lines), add_special_tokens=False)]
    back = tokenizer.decode_batch(ids, skip_special_tokens=False)
    return [(line, got) for line, got in zip(lines, back, strict=True) if line != got]


def byte_lengths(tokenizer: Tokenizer) -> list[int]:
    """UTF-8 bytes of each id, 0 for the end of a document: what turns nats a token into bits a byte, exactly."""
    from tokenizers import decoders, pre_tokenizers

    if not isinstance(tokenizer.decoder, decoders.ByteLevel):
        raise refusal(f"a tokenizer with decoder {tokenizer.decoder}", "a byte-level one", "train one: python -m trainer.tokenizer train")
    alphabet = set(pre_tokenizers.ByteLevel.alphabet())
    special = {index for index, added in tokenizer.get_added_tokens_decoder().items() if added.special}
    tokens = [tokenizer.id_to_token(index) or "" for index in range(tokenizer.get_vocab_size())]
    assert all(set(token) <= alphabet for index, token in enumerate(tokens) if index not in special)
    return [0 if index in special else len(token) for index, token in enumerate(tokens)]


def measure(tokenizer: Tokenizer, text: str) -> Measured:
    lines = text.splitlines()
    tokens = [token for encoding in tokenizer.encode_batch(lines, add_special_tokens=False) for token in encoding.tokens]
    return Measured(
        characters=len(text),
        ceiling=ceiling(tokenizer, text),
        fertility=fertility(tokenizer, text),
        one_byte_share=sum(len(token) == 1 for token in tokens) / max(len(tokens), 1),
        lost_lines=len(round_trip(tokenizer, lines)),
    )


def gate(tokenizer: Tokenizer, samples: Mapping[str, str]) -> dict[str, Measured]:
    """Measure every language and refuse the tokenizer, with the numbers, if one of them is cut too fine, falls behind or does not come back."""
    empty = [language for language, text in samples.items() if not text.strip()]
    if empty or not samples:
        raise refusal(
            f"no text for {', '.join(empty) or 'any language'}", "some thousand characters a language", "give the gate a sample of each"
        )
    if tokenizer.truncation is not None or tokenizer.padding is not None:
        raise refusal("a tokenizer that truncates or pads", "neither: both change tokens silently", "call no_truncation() and no_padding()")
    measured = {language: measure(tokenizer, text) for language, text in samples.items()}
    best = max(numbers.fertility for numbers in measured.values())
    found = fingerprint(tokenizer)
    faults = [f"tokenizer {found[:16]} is blocked: {REASONS[found]}"] if found in BLOCKED else []
    for language, numbers in measured.items():
        if numbers.ceiling < CEILING:
            faults.append(f"{language}: ceiling {numbers.ceiling:.2f} characters a pre-token, below {CEILING}")
        if numbers.fertility < FERTILITY:
            faults.append(f"{language}: {numbers.fertility:.2f} characters a token, below {FERTILITY}: spelled in bytes")
        if numbers.fertility < SHARE * best:
            faults.append(f"{language}: {numbers.fertility:.2f} characters a token, below half of the best language's {best:.2f}")
        if numbers.lost_lines:
            line, got = round_trip(tokenizer, samples[language].splitlines())[0]
            faults.append(f"{language}: {numbers.lost_lines} lines do not come back, first {line[:40]!r} as {got[:40]!r}")
    if faults:
        raise refusal(
            "\n         ".join(faults),
            f"ceiling >= {CEILING}, characters a token >= {FERTILITY} and >= half of the best language's, every line back unchanged",
            "keep marks with letters (pre='marks'), train on every language, and leave out normalizers that rewrite text",
        )
    return measured


def sample_texts() -> dict[str, list[str]]:
    """Language -> the documents of the shipped sample."""
    return {language: list(documents.read(SAMPLE / f"{language}.jsonl")) for language in ("bn", "en")}


def _named(arguments: Sequence[str]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for argument in arguments:
        language, equals, path = argument.partition("=")
        if not equals:
            raise refusal(repr(argument), "LANGUAGE=FILE, for example bn=text.jsonl", "name the language of each file")
        texts.setdefault(language, []).extend(documents.read(Path(path)))
    return texts or sample_texts()


def _show(measured: Mapping[str, Measured], found: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "language", "characters", "a pre-token (ceiling)", "a token", "one-byte tokens", "lines lost", title=f"tokenizer {found[:16]}"
    )
    for language, n in measured.items():
        table.add_row(language, f"{n.characters:,}", f"{n.ceiling:.2f}", f"{n.fertility:.2f}", f"{n.one_byte_share:.1%}", str(n.lost_lines))
    Console().print(table)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m trainer.tokenizer", description="Train a tokenizer, or gate one. Without files: the shipped sample."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("train", help="train, gate on held-out documents, write tokenizer.json")
    make.add_argument("--out", type=Path, required=True)
    make.add_argument("--vocab", type=int, default=16384)
    make.add_argument("--pre", default="marks", choices=PRE_TOKENIZERS)
    check = commands.add_parser("check", help="gate a tokenizer.json")
    check.add_argument("--tokenizer", type=Path, required=True)
    for command in (make, check):
        command.add_argument("files", nargs="*", metavar="LANGUAGE=FILE")
    options = parser.parse_args(argv)
    try:
        texts = _named(options.files)
        if options.command == "check":
            tokenizer = load(options.tokenizer)
            _show(gate(tokenizer, {language: "\n".join(of) for language, of in texts.items()}), fingerprint(tokenizer))
            return 0
        kept = {language: [text for text in of if not documents.is_held_out(text, HELD_OUT)] for language, of in texts.items()}
        tokenizer = train((text for of in kept.values() for text in of), vocab=options.vocab, pre=options.pre)
        held = {language: "\n".join(text for text in of if documents.is_held_out(text, HELD_OUT)) for language, of in texts.items()}
        _show(gate(tokenizer, held), fingerprint(tokenizer))
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(tokenizer.to_str(pretty=True), encoding="utf-8")
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
