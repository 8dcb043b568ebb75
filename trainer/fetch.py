"""A larger Bangla and English text from Debian packages, on request only; careful that each file says its package, version and licence.

Packages are downloaded and unpacked, never installed. A package whose text has shrunk to under half of what was measured is refused: its layout
changed, and a reader that finds little would otherwise look like a small corpus.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trainer.errors import refusal

DOCUMENT = 1000  # characters: short strings of one file are joined up to this size, because a document of two words teaches only its end
BANGLA = re.compile("[\u0985-\u09b9\u09dc-\u09df]")  # a letter, not only a digit or a mark


@dataclass(frozen=True, kw_only=True)
class Text:
    """One file to make: ``read`` turns the folder of an unpacked package into documents."""

    name: str
    language: str
    package: str  # empty: the running Python's own documentation
    licence: str
    characters: int  # measured, Debian 12, Python 3.11
    read: Callable[[Path], Iterator[str]]


def fetch(out: Path) -> list[Path]:
    """Write ``out/NAME.jsonl``, ``NAME.source.json`` and each package's copyright file; return the JSONL files."""
    missing = [tool for tool in ("apt-get", "dpkg-deb") if shutil.which(tool) is None]
    if missing:
        raise refusal(f"no {' and no '.join(missing)}", "a Debian or Ubuntu machine", "fetch there, or prepare text of your own")
    from rich.console import Console
    from rich.progress import track

    out.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    with tempfile.TemporaryDirectory() as scratch:
        unpacked: dict[str, tuple[Path, str]] = {}
        for text in track(TEXTS, description="packages", console=Console(stderr=True)):
            if text.package and text.package not in unpacked:
                unpacked[text.package] = unpack(text.package, Path(scratch))
                copy_licence(unpacked[text.package][0], text, out)
            folder, version = unpacked.get(text.package, (Path(), ""))
            made.append(write(text, folder, version, out))
    return made


def unpack(package: str, scratch: Path) -> tuple[Path, str]:
    """Download a package into a folder of its own and unpack it: the folder and the version."""
    folder = scratch / package
    folder.mkdir()
    got = subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True, text=True, check=False, env=_environment())
    debs = sorted(folder.glob("*.deb"))
    if got.returncode or not debs:
        said = (got.stderr.strip().splitlines() or ["nothing"])[-1]
        raise refusal(
            f"apt-get download {package} said: {said}", "a package that apt can reach", "run apt-get update, or check the network"
        )
    subprocess.run(["dpkg-deb", "-x", str(debs[0]), str(folder / "root")], check=True)
    field = subprocess.run(["dpkg-deb", "--field", str(debs[0]), "Version"], check=True, capture_output=True, text=True)
    return folder / "root", field.stdout.strip()


def copy_licence(root: Path, text: Text, out: Path) -> None:
    path = root / "usr/share/doc" / text.package / "copyright"
    stated = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if text.licence not in stated:
        raise refusal(
            f"{text.package}: no {text.licence} in its copyright file",
            "the licence that was recorded",
            "read that file before using the text",
        )
    (out / f"{text.package}.copyright").write_text(stated, encoding="utf-8")


def write(text: Text, folder: Path, version: str, out: Path) -> Path:
    documents = list(dict.fromkeys(text.read(folder)))
    characters = sum(map(len, documents))
    if characters < text.characters // 2:
        raise refusal(
            f"{text.name}: {characters:,} characters from {text.package or 'pydoc_data'} {version}",
            f"about {text.characters:,}",
            "its layout has changed: correct its reader in trainer/fetch.py",
        )
    path = out / f"{text.name}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": document}, ensure_ascii=False) + "\n" for document in documents)
    source = f"Debian package {text.package} {version}" if text.package else "pydoc_data.topics of the running Python"
    url = f"https://packages.debian.org/{text.package}" if text.package else "https://docs.python.org/3/reference/"
    stated = {"source": source, "url": url, "licence": text.licence, "language": text.language}
    path.with_suffix(".source.json").write_text(json.dumps(stated, indent=2) + "\n", encoding="utf-8")
    return path


def joined(strings: Iterable[str]) -> Iterator[str]:
    """Strings in their order, as lines of documents of about `DOCUMENT` characters."""
    lines: list[str] = []
    for string in dict.fromkeys(strings):
        lines.append(string)
        if sum(map(len, lines)) >= DOCUMENT:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def catalogue(data: bytes) -> Iterator[tuple[str, str]]:
    """(English, translation) of a compiled gettext file, without contexts, plurals and the marks of keyboard accelerators."""
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    count, keys, values = struct.unpack_from(f"{order}3I", data, 8)
    for i in range(count):
        pair = []
        for table in (keys, values):
            size, start = struct.unpack_from(f"{order}2I", data, table + 8 * i)
            string = data[start : start + size].decode().split("\0")[0].split("\x04")[-1]
            pair.append(re.sub(r"\(~\w\)|~", "", string).strip())
        if pair[0]:  # the empty key holds the file's header
            yield pair[0], pair[1]


def _libreoffice(side: int) -> Callable[[Path], Iterator[str]]:
    def read(root: Path) -> Iterator[str]:
        paths = sorted(root.glob("usr/lib/libreoffice/program/resource/bn/LC_MESSAGES/*.mo"))
        pairs = (pair for path in paths for pair in catalogue(path.read_bytes()))
        return joined(pair[side] for pair in pairs if BANGLA.search(pair[1]))

    return read


def messages(text: str) -> Iterator[str]:
    """The values of a Fluent or properties file; a value on several lines is joined, a comment or a key is not a value."""
    value = ""
    for line in [*text.splitlines(), ""]:
        starts = re.match(r"(?:-?[\w.-]+|\s+\.[\w-]+)\s*=\s*(.*)|\s+\*?\[[^\]]*\]\s*(.*)", line)
        if starts or not line.startswith((" ", "\t")) or line.strip() in {"", "}"}:
            if value:
                yield value.replace("\\n", " ")
            value = (starts.group(1) or starts.group(2) or "") if starts and not line.startswith("#") else ""
        elif not line.strip().endswith("->"):
            value = f"{value} {line.strip()}".strip()


def _firefox(root: Path) -> Iterator[str]:
    def values() -> Iterator[str]:
        for path in sorted(root.glob("usr/lib/firefox-esr/browser/extensions/langpack-bn@*.xpi")):
            with zipfile.ZipFile(path) as pack:
                for name in sorted(pack.namelist()):
                    if name.endswith((".ftl", ".properties")):
                        yield from messages(pack.read(name).decode())

    return joined(value for value in values() if BANGLA.search(value))


def prose(text: str) -> Iterator[str]:
    """The running paragraphs of a formatted manual, joined up to twice `DOCUMENT`; contents, tables and terminal sessions are left out."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        paragraph = " ".join(block.split())
        if len(paragraph) < 60 or paragraph[-1] not in ".:?!" or paragraph[0] in "$#|+[" or "--+" in paragraph or "  $ " in block:
            continue
        lines.append(paragraph)
        if sum(map(len, lines)) >= 2 * DOCUMENT:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def _debian_reference(root: Path) -> Iterator[str]:
    for path in sorted(root.glob("usr/share/debian-reference/debian-reference.en.txt.gz")):
        yield from prose(gzip.decompress(path.read_bytes()).decode())


def _pydoc(_: Path) -> Iterator[str]:
    from pydoc_data.topics import topics

    yield from topics.values()


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}


TEXTS = (
    Text(name="bn-libreoffice", language="bn", package="libreoffice-l10n-bn", licence="MPL-2.0", characters=243_000, read=_libreoffice(1)),
    Text(name="en-libreoffice", language="en", package="libreoffice-l10n-bn", licence="MPL-2.0", characters=239_000, read=_libreoffice(0)),
    Text(name="bn-firefox", language="bn", package="firefox-esr-l10n-bn", licence="MPL-2.0", characters=256_000, read=_firefox),
    Text(
        name="en-debian-reference",
        language="en",
        package="debian-reference-en",
        licence="GPL-2+",
        characters=274_000,
        read=_debian_reference,
    ),
    Text(name="en-pydoc", language="en", package="", licence="PSF-2.0", characters=464_000, read=_pydoc),
)
