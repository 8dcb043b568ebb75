"""What keeps a document out of a subset: exact copies and evaluation text; careful that a screen which saw nothing says so by its counts.

The n-gram screen compares words: Unicode NFC (Bangla has two spellings of three of its letters), case folded, punctuation removed. An evaluation
text shorter than n words counts as a whole, down to ``SHORTEST`` words; below that it would match ordinary speech, and a record that has nothing
longer is counted as unscreened.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trainer import documents, shards
from trainer.errors import refusal

SHORTEST = 5
HASHES = "documents.npy"  # the SHA-256 of every kept document, 32 bytes a row, sorted: what other subsets are compared with


@dataclass
class Copies:
    """Says of each document whether it was seen before, here or in the other subsets."""

    elsewhere: frozenset[bytes] = frozenset()
    here: set[bytes] = field(default_factory=set)

    def reason(self, text: str) -> str:
        """``duplicate``, ``elsewhere`` or, for a new one, nothing."""
        digest = documents.digest(text)
        return "duplicate" if digest in self.here else "elsewhere" if digest in self.elsewhere else ""

    def keep(self, text: str) -> None:
        self.here.add(documents.digest(text))

    def save(self, folder: Path) -> dict[str, str]:
        rows = np.frombuffer(b"".join(sorted(self.here)), dtype=np.uint8).reshape(-1, 32)
        np.save(folder / HASHES, rows)
        return {"name": HASHES, "sha256": shards.hash_file(folder / HASHES)}


def hashes(folder: Path) -> frozenset[bytes]:
    """The documents of a prepared subset."""
    wanted = shards.read_manifest(folder)["hashes"]["sha256"]
    path = folder / HASHES
    found = shards.hash_file(path) if path.is_file() else "none"
    if found != wanted:
        raise refusal(f"{path} with SHA-256 {found[:16]}", str(wanted)[:16], f"copy it again, or {shards.AGAIN}")
    return frozenset(row.tobytes() for row in np.load(path))


def words(text: str) -> list[str]:
    """The words of a text as the screen compares them; marks and the joiners inside a word stay."""
    folded = unicodedata.normalize("NFC", text).casefold()
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" or c in "\u200c\u200d" else " " for c in folded)
    return kept.split()


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The n-grams of evaluation files. ``lengths`` are the n-gram lengths present: n, and those of whole texts that are shorter."""

    n: int
    files: tuple[dict[str, str], ...]
    lengths: tuple[int, ...]
    grams: frozenset[bytes]
    records: int
    unscreened: int  # records without a text of SHORTEST words

    def holds(self, text: str) -> bool:
        of = words(text)
        return any(gram in self.grams for length in self.lengths for gram in _grams(of, length))


def evaluation(paths: Sequence[Path], n: int) -> Evaluation:
    if n < SHORTEST:
        raise refusal(
            f"n-grams of {n} words", f"at least {SHORTEST}: shorter ones match ordinary speech", "raise --ngram; 13 and 8 are usual"
        )
    grams: set[bytes] = set()
    lengths: set[int] = set()
    records = unscreened = 0
    for path in paths:
        for texts in _records(path):
            long_enough = [of for of in map(words, texts) if len(of) >= SHORTEST]
            records += 1
            unscreened += not long_enough
            for of in long_enough:
                length = min(n, len(of))
                lengths.add(length)
                grams.update(_grams(of, length))
    if paths and not grams:
        names = ", ".join(path.name for path in paths)
        raise refusal(
            f"no text of {SHORTEST} words in {names}", "evaluation text to screen against", "name the evaluation files themselves"
        )
    files = tuple({"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in paths)
    return Evaluation(n=n, files=files, lengths=tuple(sorted(lengths)), grams=frozenset(grams), records=records, unscreened=unscreened)


def _grams(of: Sequence[str], length: int) -> Iterator[bytes]:
    for start in range(len(of) - length + 1):
        yield hashlib.blake2b(" ".join(of[start : start + length]).encode(), digest_size=12).digest()


def _records(path: Path) -> Iterator[list[str]]:
    """The texts of each record. JSONL: every string, wherever it stands, and the question followed by its right choice; other files: the document."""
    if path.suffix != ".jsonl":
        yield from ([text] for text in documents.read(path))
        return
    for record in documents.records(path):
        texts = list(_strings(record))
        match record:
            case {"question": str(question), "choices": [*choices], "answer": int(answer)} if 0 <= answer < len(choices):
                texts.append(f"{question} {choices[answer]}")
        yield texts


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)
