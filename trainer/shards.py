"""A subset on disk: token shards, one manifest, sealed by hashes; careful that a flipped byte, a lost shard or an edited count is never read as data.

numpy loads a file with a flipped bit without a word, so every shard is hashed when a subset is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trainer.errors import refusal

MANIFEST = "manifest.json"
TOKENIZER = "tokenizer.json"
SPLITS = ("train", "held_out")
FORMAT = 1
AGAIN = "prepare it again: python -m trainer.data prepare"
Manifest = dict[str, Any]
Shard = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def token_dtype(vocab: int) -> np.dtype[Any]:
    return np.dtype(np.uint16 if vocab <= 1 << 16 else np.uint32)


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Writer:
    """The shards of one subset while they are written: into a folder beside the final one, which appears whole or not at all."""

    def __init__(self, folder: Path, vocab: int, shard_tokens: int) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", folder.name):
            raise refusal(f"subset {folder.name!r}", "letters, digits, - and _", "choose another --subset")
        if folder.exists():
            raise refusal(f"{folder} is there already", "a new subset", "choose another --subset, or remove that folder")
        self.folder, self.dtype, self.shard_tokens = folder, token_dtype(vocab), shard_tokens
        self.partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(self.partial, ignore_errors=True)  # of a run that was killed
        self.partial.mkdir(parents=True)
        self.waiting: dict[str, list[Shard]] = {}
        self.count: Counter[str] = Counter()
        self.shards: list[dict[str, Any]] = []

    def add(self, split: str, ids: Sequence[int]) -> None:
        self.waiting.setdefault(split, []).append(np.asarray(ids, dtype=self.dtype))
        self.count[split] += len(ids)
        if self.count[split] >= self.shard_tokens:
            self._flush(split)

    def _flush(self, split: str) -> None:
        tokens = np.concatenate(self.waiting.pop(split))
        self.count[split] = 0
        name = f"{split}-{sum(s['split'] == split for s in self.shards):05d}.npy"
        np.save(self.partial / name, tokens)
        self.shards.append({"name": name, "split": split, "tokens": len(tokens), "sha256": hash_file(self.partial / name)})

    def seal(self, manifest: Mapping[str, Any]) -> Manifest:
        for split in list(self.waiting):
            self._flush(split)
        whole = {"format": FORMAT, **manifest, "dtype": self.dtype.name, "shards": self.shards}
        whole["sha256"] = hash_manifest(whole)
        (self.partial / MANIFEST).write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(self.partial, self.folder)
        return whole


def hash_manifest(manifest: Mapping[str, Any]) -> str:
    content = {key: value for key, value in manifest.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        manifest: Manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise refusal(f"no {path}", "a prepared subset", AGAIN) from None
    except ValueError as bad:
        raise refusal(f"{path}: {bad}", "the manifest as it was written", AGAIN) from None
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != FORMAT:
        raise refusal(f"{path} of format {found!r}", f"format {FORMAT}", AGAIN)
    if hash_manifest(manifest) != manifest.get("sha256"):
        raise refusal(f"{path} was changed after it was written", "the manifest as it was written", AGAIN)
    return manifest


def open_shards(folder: Path, manifest: Manifest, split: str) -> list[Shard]:
    """The shards of a split, memory-mapped, each compared with its hash first."""
    opened: list[Shard] = []
    for shard in manifest["shards"]:
        if shard["split"] != split:
            continue
        path = folder / shard["name"]
        if not path.is_file():
            raise refusal(f"no {path}", f"the shard of {shard['tokens']:,} tokens that the manifest names", AGAIN)
        if (found := hash_file(path)) != shard["sha256"]:
            raise refusal(f"{path} with SHA-256 {found[:16]}", shard["sha256"][:16], f"copy it again, or {AGAIN}")
        tokens: Shard = np.load(path, mmap_mode="r")
        assert tokens.shape == (shard["tokens"],)
        assert tokens.dtype.name == manifest["dtype"]
        opened.append(tokens)
    return opened
