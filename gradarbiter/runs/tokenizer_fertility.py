r"""What a tokenizer does to each language: pieces, tokens, round trip, fingerprint; careful that neither a loss nor byte fallback shows a bad one.

GPT-2's regular expression joins letters (\p{L}) only. Three in ten code points of Bangla are marks, so words fall into pieces of 1.5 characters, no merge
crosses a piece, and no vocabulary is large enough. One-byte tokens are *rarer* in that tokenizer than in a good one: their share is shown, never judged.
"""

from __future__ import annotations

import argparse
import functools
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradarbiter import runs, tokenizers
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.runs import accusation, note
from gradarbiter.tokenizers import Tokenizer, fingerprint

CEILING = 3.0  # characters a piece: GPT-2's expression has 1.5 on Bangla and 5.1 on English; with marks handled both are above 4
WORD = 1.5  # pieces a word (a run of letters and marks): every other word cut, whatever the vocabulary
CUT = 0.05  # of marks that a piece begins with: 0 where marks are handled, stray ones in real text aside
ALWAYS = 0.9  # of marks that a token begins with: rare words may be cut anywhere, so only nearly all of them show a rule
BYTES = 1.5  # a token, and less than a character each: the language is spelled in bytes
MARKS = 20  # fewer say nothing
VIRAMA = 9  # Unicode's combining class of the sign that silences a vowel: a joiner after it is orthography
TEXT = 1000  # characters of a language, at least
IDEOGRAPHS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")  # one of them is a piece by design in many tokenizers

# Fingerprints that must not be trained on again. Reproduced by tests/test_trainer_tokenizer.py.
BLOCKED: Mapping[str, str] = {
    "bc123f5021edf06d33bd46b790d3a254b38282125a6d7f4a6c750e85824d7042": "silentbench's sample made with GPT-2's expression: Bangla at 1.5 characters a token",
}


def tokenizer_fertility(
    tokenizer: Any,
    samples: Mapping[str, str],
    *,
    blocked: Mapping[str, str] | Iterable[str] = BLOCKED,
    lossless: bool = True,
    spelled: Sequence[str] = (),
    say: runs.Say = runs.say,
) -> Result:
    """Ask a tokenizer for ``samples``, some thousand characters of text in each language.

    ``tokenizer``: the path of a tokenizer.json, a `tokenizers.Tokenizer`, a fast tokenizer of transformers, or a pair (encode, decode) of functions (text
    to ids and back, without begin and end marks); of a pair the pieces cannot be seen, and tokens alone are judged. ``blocked``: fingerprints that are
    refused, with reasons. ``lossless=False``: text need not come back (an uncased model). ``spelled``: languages that bytes or characters are meant for.
    """

    def ask() -> Iterator[Finding]:
        short = [language for language, text in samples.items() if len(text) < TEXT]
        if short or not samples:
            raise NotAsked(f"less than {TEXT} characters of {', '.join(short) or 'any language'}: give a sample of each")
        of = tokenizers.opened(tokenizer)
        size = {language: len(text) for language, text in samples.items()}
        say(f"tokenizer_fertility: encodes and decodes {size} characters about twice")
        yield from _identity(
            of, dict(blocked) if isinstance(blocked, Mapping) else dict.fromkeys(blocked, "on the block list that was given")
        )
        for language, text in samples.items():
            yield from _language(of, language, text, spelled=language in spelled)
            yield from _round_trip(of, language, text, lossless=lossless)

    return runs.answered("tokenizer_fertility", ask)


def _identity(of: Tokenizer, blocked: Mapping[str, str]) -> Iterator[Finding]:
    if of.content is None:
        yield note(
            "not asked", "fingerprint", "a pair of functions has no content: give the tokenizer.json for its fingerprint and the block list"
        )
        return
    found = fingerprint(of.content)
    yield note("fingerprint", "tokenizer", found)
    if found in blocked:
        yield accusation("blocked", "tokenizer", f"tokenizer {found[:16]} is blocked: {blocked[found]}")
    if of.shortens:
        yield note(
            "truncation",
            "tokenizer",
            "truncation or padding is kept in the file (switched off here): it loses or adds tokens without a word",
        )


def _language(of: Tokenizer, language: str, text: str, *, spelled: bool) -> Iterator[Finding]:
    lines = [line for line in text.splitlines() if line.strip()]
    encoded = [of.encode(line) for line in lines]
    tokens, characters = sum(map(len, encoded)), sum(map(len, lines))
    fertility, bytes_each = characters / max(tokens, 1), sum(len(line.encode()) for line in lines) / max(tokens, 1)
    normal = [of.normalized(line) for line in lines]
    pieces = None if of.pieces is None else [of.pieces(line) for line in normal]
    numbers = {"fertility": fertility, "bytes_per_token": bytes_each, "one_byte_share": of.one_byte_share(encoded)}
    shown = f"{fertility:.2f} characters a token; one-byte tokens {numbers['one_byte_share']:.1%} (no sign of anything)"
    starts = [begins(spans) for spans in (pieces or [of.token_spans(line) for line in lines])]
    cut, marks = marks_cut(lines if pieces is None else normal, starts)
    if pieces is not None:
        ceiling = sum(map(len, normal)) / max(sum(map(len, pieces)), 1)
        numbers["ceiling"], shown = ceiling, f"at most {ceiling:.2f} characters a token, as long as its pieces; {shown}"
        words = pieces_a_word(normal, starts)
        if marks < MARKS or cut <= CUT * marks:
            if ceiling < CEILING and words > WORD and not spelled:
                text = f"a word is cut into {words:.1f} pieces before any token is looked up: no vocabulary gives more than {ceiling:.2f} characters a token"
                yield accusation("ceiling", language, text, ceiling=ceiling, words=words)
        else:
            text = f"{cut} of {marks} marks (vowel signs, joiners) are cut off from their letter before any token is looked up"
            yield accusation(
                "marks cut", language, f"{text}: no vocabulary gives more than {ceiling:.2f} characters a token", ceiling=ceiling, cut=cut
            )
    elif marks >= MARKS and cut > ALWAYS * marks and not spelled:
        text = f"{cut} of {marks} marks (vowel signs, joiners) begin a token: {fertility:.2f} characters a token"
        yield accusation("marks cut", language, text, fertility=fertility, cut=cut)
    if fertility < 1 and bytes_each < BYTES and not spelled:
        text = f"{fertility:.2f} characters, {bytes_each:.2f} bytes a token: the tokenizer has hardly seen it, and spells it in bytes"
        yield accusation("spelled in bytes", language, text, fertility=fertility, bytes_per_token=bytes_each)
    yield note("fertility", language, shown, **numbers)


def begins(spans: Sequence[tuple[int, int]]) -> set[int]:
    return {start for start, _ in spans}


def marks_cut(lines: Sequence[str], starts: Sequence[set[int]]) -> tuple[int, int]:
    """How many marks on a letter begin a piece, and how many marks there are. Joiners (U+200C, U+200D) count as marks."""
    cut = marks = 0
    for line, begin in zip(lines, starts, strict=True):
        for at in range(1, len(line)):
            if is_mark(line[at]) and (line[at - 1].isalpha() or is_mark(line[at - 1])):
                marks += 1
                cut += at in begin
    return cut, marks


def pieces_a_word(lines: Sequence[str], starts: Sequence[set[int]]) -> float:
    """Pieces that runs of letters and marks fall into; ideographs and syllables aside."""
    words = inner = 0
    for line, begin in zip(lines, starts, strict=True):
        before = False
        for at, character in enumerate(line):
            inside = (character.isalpha() and not unicodedata.name(character, "").startswith(IDEOGRAPHS)) or is_mark(character)
            words += inside and not before
            inner += inside and before and at in begin
            before = inside
    return 1 + inner / max(words, 1)


def is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" or character in "\u200c\u200d"


def _round_trip(of: Tokenizer, language: str, text: str, *, lossless: bool) -> Iterator[Finding]:
    lines = [line for line in text.splitlines() if line.strip()]
    lines += probes(lines)
    lost = [(line, back) for line in lines if (back := of.decode(of.encode(line))) != line]
    if not lost:
        return
    kinds = [why(line, back) for line, back in lost]
    kind = max(set(kinds), key=kinds.count)
    line, back = next(pair for pair, found in zip(lost, kinds, strict=True) if found == kind)
    said = f"{len(lost)} of {len(lines)} lines, other spellings of them included, do not come back ({kinds.count(kind)}: {kind}): {change(line, back)}"
    make = accusation if lossless else note
    yield make(kind, language, said, lines=len(lost))


def probes(lines: Sequence[str]) -> list[str]:
    """The same text as other writers spell it: letters that are one code point where these have two and NFC has none (U+09DC), joiners after a virama."""
    singles = single_code_points()
    found = []
    for line in lines:
        spelled = line
        for pair in singles.keys() & {line[i : i + 2] for i in range(len(line) - 1)}:
            spelled = spelled.replace(pair, singles[pair])
        virama = next((i for i, c in enumerate(line) if unicodedata.combining(c) == VIRAMA), None)
        found += [spelled] if spelled != line else []
        found += [line[: virama + 1] + "\u200c" + line[virama + 1 :]] if virama is not None and "\u200c" not in line else []
    return found


@functools.cache
def single_code_points() -> dict[str, str]:
    """Two code points -> the one that they are canonically equal to and that NFC does not compose (the composition exclusions of Unicode)."""
    plane = (chr(i) for i in range(0x80, 0xFB50) if not 0xAC00 <= i < 0xE000)  # without Hangul, which is arithmetic, and surrogates
    return {pair: c for c in plane if len(pair := unicodedata.normalize("NFD", c)) == 2 and unicodedata.normalize("NFC", c) == pair}


def change(line: str, back: str) -> str:
    """The first characters that differ, as code points: two spellings of one letter look alike."""
    at = next((i for i, (a, b) in enumerate(zip(line, back, strict=False)) if a != b), min(len(line), len(back)))
    before, after = (" ".join(f"U+{ord(c):04X}" for c in part[at : at + 2]) or "nothing" for part in (line, back))
    return f"{before} became {after} in {line[max(0, at - 8) : at + 8]!r}"


def why(line: str, back: str) -> str:
    """What happened to a line, by what makes the two equal."""
    if back.lstrip(" ") == line.lstrip(" "):
        return "leading spaces"
    if unicodedata.normalize("NFC", line) == unicodedata.normalize("NFC", back):
        return "text recomposed"
    if unicodedata.normalize("NFKC", line) == unicodedata.normalize("NFKC", back):
        return "compatibility characters replaced"
    if "".join(c for c in line if c not in "\u200c\u200d") == back:
        return "joiners lost"
    for form in ("NFC", "NFD"):
        plain = unicodedata.normalize(form, line)
        if len(back) < len(line) and "".join(c for c in plain if not is_mark(c)) == "".join(c for c in back if not is_mark(c)):
            return "marks stripped"
    if line.casefold() == back.casefold():
        return "case lost"
    if "".join(line.split()) == "".join(back.split()):
        return "spaces changed"
    return "characters lost" if len(back) < len(line) else "text changed"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tokenizer", type=Path, help="a tokenizer.json")
    parser.add_argument("samples", nargs="+", metavar="LANGUAGE=FILE", help="text of each language, UTF-8")
    parser.add_argument("--blocked", nargs="*", default=[], metavar="SHA256", help="more fingerprints that are refused")
    parser.add_argument("--lossy", action="store_true", help="text need not come back")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    samples = {}
    for sample in options.samples:
        language, equals, path = sample.partition("=")
        if not equals:
            raise ValueError(f"found:   {sample!r}\nwanted:  LANGUAGE=FILE\ndo this: name the language of each file: bn=text.txt")
        samples[language] = Path(path).read_text(encoding="utf-8")
    blocked = {**BLOCKED, **dict.fromkeys(options.blocked, "on the block list that was given")}
    result = tokenizer_fertility(options.tokenizer, samples, blocked=blocked, lossless=not options.lossy)
    return runs.finished(str(options.tokenizer), result, options)
