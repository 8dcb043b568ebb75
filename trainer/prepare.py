"""Text in, token shards and a manifest out; careful that whatever is left out is counted, and that nothing enters without source and licence."""

from __future__ import annotations

import itertools
import os
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainer import documents, screen, shards
from trainer import tokenizer as tk
from trainer.errors import refusal

if TYPE_CHECKING:
    from tokenizers import Tokenizer

GATED = 100_000  # characters of a subset that its tokenizer is gated on


def prepare(
    files: Sequence[Path],
    *,
    out: Path,
    subset: str,
    language: str,
    tokenizer: Tokenizer,
    source: str = "",
    licence: str = "",
    field: str = "text",
    held_out_permille: int = 50,
    against: Sequence[str] = (),
    evaluation: Sequence[Path] = (),
    ngram: int = 13,
    shard_tokens: int = 1 << 25,
    gated: bool = True,
    blocked: Iterable[str] = tk.BLOCKED,
    progress: bool = False,
) -> shards.Manifest:
    """Tokenize files into ``out/subset`` and return its manifest.

    Where ``source`` (a URL or a description) and ``licence`` are not given, each file's own ``.source.json`` must name them. ``against`` are the
    subsets of ``out`` whose documents are left out of this one; a document that shares an n-gram with an ``evaluation`` file is left out too.
    ``gated=False`` with ``blocked=()`` lets a defective tokenizer in, for planting it; the manifest then holds no measurement.
    """
    if not 0 <= held_out_permille <= 1000:
        raise refusal(f"{held_out_permille} held out of 1000", "0 to 1000", "correct --held-out-permille")
    inputs = [_input(path, source, licence) for path in files]
    if not inputs:
        raise refusal("no files", f"files that end in {', '.join(documents.SUFFIXES)}", "name them")
    tokenizer = tk.plain(tokenizer)
    found = tk.fingerprint(tokenizer)
    tk.refuse_blocked(found, blocked)
    end = tokenizer.token_to_id(tk.END)
    if end is None:
        raise refusal(
            f"tokenizer {found[:16]} without {tk.END}", "a token for the end of a document", "train one: python -m trainer.tokenizer train"
        )
    gate = None
    if gated:
        gate = {key: asdict(value) for key, value in tk.gate(tokenizer, {language: "\n".join(_head(files, field))}).items()}
    evaluated = screen.evaluation(evaluation, ngram) if evaluation else None
    copies = screen.Copies(elsewhere=frozenset().union(*(screen.hashes(out / name) for name in against)))
    tokenizer_file = _same_tokenizer(out, found)
    writer = shards.Writer(out / subset, tokenizer.get_vocab_size(), shard_tokens)

    counts: Counter[str] = Counter()
    totals = {split: Counter[str](documents=0, characters=0, bytes=0, tokens=0) for split in shards.SPLITS}
    kept = _kept(_tracked(files, field, progress=progress), counts, copies, evaluated)
    while chunk := list(itertools.islice(kept, 512)):
        for text, encoded in zip(chunk, tokenizer.encode_batch(chunk, add_special_tokens=False), strict=True):
            split = "held_out" if documents.is_held_out(text, held_out_permille) else "train"
            ids = [*encoded.ids, end]
            writer.add(split, ids)
            totals[split].update(documents=1, characters=len(text), bytes=len(text.encode()), tokens=len(ids))
    if not counts["kept"]:
        raise refusal(f"no document left of {counts['read']}: {dict(counts)}", "at least one", "look at what was dropped, and why")
    hashes = copies.save(writer.partial)
    tokenizer_file.write_text(tokenizer.to_str(), encoding="utf-8")
    return writer.seal(
        {
            "subset": subset,
            "language": language,
            "inputs": inputs,
            "documents": {key: counts[key] for key in ("read", "kept", "empty", "duplicate", "elsewhere", "contaminated", "not_nfc")},
            "hashes": hashes,
            "splits": {split: dict(total) for split, total in totals.items()},
            "deduplication": {"rule": "SHA-256 of the exact text; the first copy is kept", "against": list(against)},
            "contamination": None
            if evaluated is None
            else {
                "ngram_words": ngram,
                "files": list(evaluated.files),
                "records": evaluated.records,
                "records_too_short": evaluated.unscreened,
            },
            "held_out": {"rule": documents.held_out_rule(held_out_permille), "permille": held_out_permille},
            "tokenizer": {"fingerprint": found, "vocab_size": tokenizer.get_vocab_size(), "end": end, "gate": gate},
        }
    )


def sample(out: Path, *, vocab: int = 2048, pre: str = "marks") -> Path:
    """The shipped Bangla and English sample as a data folder, with a tokenizer trained on its train split: seconds, no network.

    ``pre="gpt2"`` plants the tokenizer defect: neither gate nor block list is asked here, so `Tokens` must be told ``blocked=()`` to open it.
    """
    if out.exists():
        raise refusal(f"{out} is there already", "a new folder", "choose another --out, or remove that folder")
    planted, writing = pre != "marks", out.with_name(f".{out.name}.{os.getpid()}.writing")  # half of it would read as a smaller sample
    shutil.rmtree(writing, ignore_errors=True)
    texts = tk.sample_texts()
    kept = [text for of in texts.values() for text in of if not documents.is_held_out(text, tk.HELD_OUT)]
    trained = tk.train(kept, vocab=vocab, pre=pre)
    for language in texts:
        file = tk.SAMPLE / f"{language}.jsonl"
        prepare(
            [file],
            out=writing,
            subset=language,
            language=language,
            tokenizer=trained,
            held_out_permille=tk.HELD_OUT,
            gated=not planted,
            blocked=() if planted else tk.BLOCKED,
        )
    try:
        writing.rename(out)
    except OSError:
        shutil.rmtree(writing)
        if not (out / shards.TOKENIZER).exists():  # else another process was faster: the same sample
            raise
    return out


def _input(path: Path, source: str, licence: str) -> dict[str, Any]:
    path = Path(path)
    if path.suffix not in documents.SUFFIXES or not path.is_file():
        raise refusal(f"{path}", f"a file that ends in {', '.join(documents.SUFFIXES)}", "correct the path, or convert the file")
    named = documents.source(path)
    stated = {**named, **({"source": source} if source else {}), **({"licence": licence} if licence else {})}
    missing = [key for key in ("source", "licence") if not stated.get(key)]
    if missing:
        raise refusal(
            f"{path.name} without {' and '.join(missing)}", "where the text is from and under which licence", "give --source and --licence"
        )
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": shards.hash_file(path), **stated}


def _tracked(files: Sequence[Path], field: str, *, progress: bool) -> Iterator[str]:
    every = (text for path in files for text in documents.read(Path(path), field))
    if not progress:
        return every
    from rich.console import Console
    from rich.progress import track

    return iter(track(every, description="documents", console=Console(stderr=True)))


def _head(files: Sequence[Path], field: str) -> Iterator[str]:
    seen = 0
    for text in _tracked(files, field, progress=False):
        if seen > GATED:
            return
        seen += len(text)
        yield text


def _kept(texts: Iterable[str], counts: Counter[str], copies: screen.Copies, evaluated: screen.Evaluation | None) -> Iterator[str]:
    for text in texts:
        counts["read"] += 1
        reason = copies.reason(text) if text.strip() else "empty"
        if not reason and evaluated is not None and evaluated.holds(text):
            reason = "contaminated"
        counts[reason or "kept"] += 1
        if not reason:
            copies.keep(text)
            counts["not_nfc"] += not unicodedata.is_normalized("NFC", text)  # one word in two spellings is two words to a tokenizer
            yield text


def _same_tokenizer(out: Path, found: str) -> Path:
    path = out / shards.TOKENIZER
    there = tk.fingerprint_file(path) if path.exists() else found
    if there != found:
        raise refusal(f"{path} is tokenizer {there[:16]}", f"the one given, {found[:16]}", "use that tokenizer, or another --out")
    return path
