"""Batches of token windows; careful that a batch is a pure function of (seed, step), and that text of another tokenizer is never read.

    DATA/tokenizer.json
    DATA/SUBSET/manifest.json  train-00000.npy ...  held_out-00000.npy ...  documents.npy

Window w of a split is tokens [w * length, w * length + length] of its shards laid end to end: length inputs, and the same shifted by one as targets.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from trainer import order, shards
from trainer import tokenizer as tk
from trainer.errors import Refused, refusal
from trainer.prepare import prepare, sample
from trainer.shards import SPLITS

LEFT_OUT = ("empty", "duplicate", "elsewhere", "contaminated")  # reasons why a document of the files is not in the subset
UNITS = ("documents", "characters", "bytes", "tokens")
__all__ = ["SPLITS", "Tokens", "prepare", "sample"]


class Tokens:
    """The tokens of a data folder, verified when opened. It keeps no position: `batch` is a function of its arguments and of the data alone."""

    def __init__(
        self, folder: str | Path, *, subsets: Sequence[str] = (), tokenizer: str = "", blocked: Iterable[str] = tk.BLOCKED
    ) -> None:
        """Open ``subsets`` (all, if none is named) and refuse data that is not of the tokenizer with fingerprint ``tokenizer`` (any, if empty)."""
        folder = Path(folder)
        names = list(subsets) or sorted(path.parent.name for path in folder.glob(f"[!.]*/{shards.MANIFEST}"))
        if not names:
            raise refusal(f"no subset in {folder}", "a folder made by prepare", "make it: python -m trainer.data sample --out DATA")
        self.manifests = {name: shards.read_manifest(folder / name) for name in names}
        self.fingerprint = _one_tokenizer(folder, self.manifests, tokenizer)
        tk.refuse_blocked(self.fingerprint, blocked)
        first = next(iter(self.manifests.values()))
        self.vocab_size: int = first["tokenizer"]["vocab_size"]
        self.end: int = first["tokenizer"]["end"]
        self.digest = hashlib.sha256(
            "".join(m["sha256"] for m in self.manifests.values()).encode()
        ).hexdigest()  # what a checkpoint compares
        self._shards = {split: [s for n in names for s in shards.open_shards(folder / n, self.manifests[n], split)] for split in SPLITS}
        self._starts = {split: np.cumsum([0, *map(len, of)]) for split, of in self._shards.items()}

    def count(self, split: str) -> int:
        if split not in SPLITS:
            raise refusal(f"split {split!r}", " or ".join(SPLITS), "name one of them")
        return int(self._starts[split][-1])

    def windows(self, split: str, length: int) -> int:
        """How many windows make an epoch; up to ``length`` tokens at the end belong to none."""
        if length < 1:
            raise refusal(f"length {length}", "at least 1", "raise the length")
        return max(self.count(split) - 1, 0) // length

    def batch(self, step: int, *, seed: int, batch: int, length: int, split: str = "train", rank: int = 0, world: int = 1) -> order.Int64s:
        """The ``[batch, length + 1]`` tokens of one rank at one step: rows rank * batch and on of the ``batch * world`` rows of that step."""
        if step < 0 or batch < 1 or not 0 <= rank < world:
            raise refusal(
                f"step {step}, batch {batch}, rank {rank} of {world}", "step >= 0, batch >= 1, 0 <= rank < world", "correct the arguments"
            )
        count = self.windows(split, length)
        if not count:
            raise refusal(
                f"{self.count(split):,} tokens in {split}", f"more than one window of {length}", "shorten the length, or prepare more text"
            )
        rows = slice(rank * batch, (rank + 1) * batch)
        which = order.windows(step, seed=seed, rows=rows, batch=batch * world, count=count)
        return np.stack([self._span(split, int(window) * length, length + 1) for window in which])

    def _span(self, split: str, start: int, size: int) -> order.Int64s:
        out = np.empty(size, dtype=np.int64)
        filled = 0
        shard = int(np.searchsorted(self._starts[split], start, side="right")) - 1
        while filled < size:  # a window may reach over the end of a shard
            offset = start + filled - int(self._starts[split][shard])
            part = self._shards[split][shard][offset : offset + size - filled]
            out[filled : filled + len(part)] = part
            filled += len(part)
            shard += 1
        return out


def _one_tokenizer(folder: Path, manifests: dict[str, shards.Manifest], wanted: str) -> str:
    """The fingerprint that the file, every subset and the caller agree on."""
    kept = tk.fingerprint_file(folder / shards.TOKENIZER)
    wanted = wanted or kept
    for name, of in {f"{folder / shards.TOKENIZER}": kept, **{n: m["tokenizer"]["fingerprint"] for n, m in manifests.items()}}.items():
        if of != wanted:
            raise refusal(
                f"{name} is of tokenizer {of[:16]}",
                f"tokenizer {wanted[:16]}",
                "prepare the text again with that tokenizer, or use this one",
            )
    return kept


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trainer.data", description="Make, fetch and look at training data.")
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("prepare", help="tokenize text, JSONL or Parquet into one subset")
    make.add_argument("files", nargs="+", type=Path)
    make.add_argument("--out", type=Path, required=True, help="the data folder, one tokenizer for all its subsets")
    make.add_argument("--subset", required=True)
    make.add_argument("--language", required=True)
    make.add_argument("--tokenizer", type=Path, required=True)
    make.add_argument("--source", default="", help="URL or description; without it each file needs its own .source.json")
    make.add_argument("--licence", default="")
    make.add_argument("--field", default="text", help="the text field of JSONL and Parquet")
    make.add_argument("--held-out-permille", type=int, default=50)
    make.add_argument("--against", nargs="*", default=(), metavar="SUBSET", help="leave out the documents of these subsets")
    make.add_argument(
        "--evaluation", nargs="*", type=Path, default=(), metavar="FILE", help="leave out documents that share an n-gram with these"
    )
    make.add_argument("--ngram", type=int, default=13)
    small = commands.add_parser("sample", help="the shipped Bangla and English sample as a data folder")
    small.add_argument("--out", type=Path, required=True)
    small.add_argument("--vocab", type=int, default=2048)
    larger = commands.add_parser("fetch", help="text from Debian packages, by apt-get download; nothing is installed")
    larger.add_argument("--out", type=Path, required=True)
    show = commands.add_parser("show", help="verify a data folder and print its manifests")
    show.add_argument("folder", type=Path)
    options = vars(parser.parse_args(argv))
    command = options.pop("command")
    try:
        if command == "prepare":
            options["tokenizer"] = tk.load(options["tokenizer"])
            prepare(**options, progress=True)
            _show(options["out"])
        elif command == "sample":
            _show(sample(**options))
        elif command == "fetch":
            from trainer.fetch import fetch

            print(*fetch(options["out"]), sep="\n")
        else:
            _show(options["folder"])
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    return 0


def _show(folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    tokens = Tokens(folder)
    console = Console()
    console.print(f"{folder.name}: tokenizer {tokens.fingerprint[:16]}, {tokens.vocab_size:,} entries; every shard verified")
    read, held = Table(box=None), Table(box=None)
    for table, columns in (
        (read, ("subset", "read", "kept", *LEFT_OUT, "not NFC", "licence")),
        (held, ("subset", "split", *UNITS, "a token")),
    ):
        for column in columns:
            table.add_column(column, overflow="fold")
    for name, manifest in tokens.manifests.items():
        of = manifest["documents"]
        licence = ", ".join(sorted({made["licence"] for made in manifest["inputs"]}))
        read.add_row(name, *(f"{of[key]:,}" for key in ("read", "kept", *LEFT_OUT, "not_nfc")), licence)
        for split, counts in manifest["splits"].items():
            ratio = f"{counts['characters'] / counts['tokens']:.2f}" if counts["tokens"] else "-"
            held.add_row(name, split, *(f"{counts[unit]:,}" for unit in UNITS), ratio)
    console.print(read, "", held)


if __name__ == "__main__":
    sys.exit(main())
