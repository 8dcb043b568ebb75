"""Folders of files that are whole or not there; careful that a kill at any moment leaves a good one, and that every byte is verified before it is used.

Order of a write: files into a temporary folder of the same filesystem, each fsynced; the manifest last; fsync of the folder; rename; fsync of the parent; only
then are the oldest removed. Names count the saves (`save_000003_step_00000020`), so a run that fell back to an older step still ends with the newest name.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

MANIFEST = "MANIFEST"
NAME = re.compile(r"save_(\d+)_step_(\d+)")
Stage = Callable[[str], None]


class Damaged(Exception):
    """A folder that does not hold what was written; its text is the reason."""


def write(root: Path, step: int, files: Mapping[str, bytes], *, keep: int, stage: Stage = lambda _: None) -> Path:
    """Write one folder and keep the newest ``keep``. ``stage`` is told what was just done, so that a test can kill it there."""
    assert keep >= 1
    _make(root)
    for left in (*root.glob(".writing-*"), *root.glob(".removing-*")):  # of a writer that was killed
        shutil.rmtree(left)
    stage("cleaned")
    temporary = root / f".writing-{os.getpid()}"
    temporary.mkdir()
    stage("made")
    try:
        for name, data in files.items():
            _write_file(temporary / name, data, stage)
        _write_file(temporary / MANIFEST, _manifest(files), stage)
        _sync(temporary)
    except OSError as failed:  # a full disk, mostly: give the room back, and say for what there was none
        shutil.rmtree(temporary, ignore_errors=True)
        what = f"a checkpoint of {sum(map(len, files.values())):,} bytes was not saved; those before it are as they were"
        raise OSError(failed.errno, f"{failed.strerror} ({what})", str(root)) from failed
    stage("folder synced")
    final = root / f"save_{_last_save(root) + 1:06d}_step_{step:08d}"
    temporary.rename(final)
    stage("renamed")
    _sync(root)
    stage("parent synced")
    for old in folders(root)[keep:]:
        gone = root / f".removing-{old.name}"  # out of sight in one step: a half-removed folder would read as damage
        old.rename(gone)
        stage("hidden")
        shutil.rmtree(gone)
        stage("removed")
    return final


def folders(root: Path) -> list[Path]:
    """Finished folders, the last written first."""
    found = [(int(m[1]), path) for path in root.glob("save_*") if (m := NAME.fullmatch(path.name))]
    return [path for _, path in sorted(found, reverse=True)]


def read(folder: Path) -> dict[str, bytes]:
    """All files, each compared with the manifest in the same bytes that are returned.

    Raises:
        Damaged: a file is missing, of another size or another content, or the manifest itself is.
    """
    files = {}
    for name, (size, digest) in _read_manifest(folder / MANIFEST).items():
        data = _bytes(folder / name)
        if len(data) != size:
            raise Damaged(f"{name} has {len(data)} bytes, {size} were written")
        if hashlib.sha256(data).hexdigest() != digest:
            raise Damaged(f"{name} is not what was written (SHA-256 differs)")
        files[name] = data
    return files


def newest(root: Path, say: Callable[[str], None]) -> tuple[Path, dict[str, bytes]] | None:
    """The newest good folder; ``say`` hears why newer ones were passed over."""
    for folder in folders(root):
        try:
            return folder, read(folder)
        except Damaged as reason:
            say(f"passing over {folder.name}: {reason}")
    return None


def _write_file(path: Path, data: bytes, stage: Stage) -> None:
    half = len(data) // 2
    with path.open("wb") as file:
        file.write(data[:half])
        file.flush()
        stage(f"{path.name} half written")
        file.write(data[half:])
        file.flush()
        os.fsync(file.fileno())
    stage(f"{path.name} written")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make(root: Path) -> None:
    new = [path for path in (root, *root.parents) if not path.exists()]
    root.mkdir(parents=True, exist_ok=True)
    for path in new:
        _sync(path.parent)


def _last_save(root: Path) -> int:
    return max((int(m[1]) for path in root.glob("save_*") if (m := NAME.fullmatch(path.name))), default=0)


def _manifest(files: Mapping[str, bytes]) -> bytes:
    """One line of JSON and the SHA-256 of that line: the manifest vouches for itself too."""
    entries = {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in files.items()}
    body = json.dumps(entries, separators=(",", ":")).encode()
    return body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n"


def _read_manifest(path: Path) -> dict[str, tuple[int, str]]:
    body, _, rest = _bytes(path).partition(b"\n")
    if rest != hashlib.sha256(body).hexdigest().encode() + b"\n":
        raise Damaged(f"{MANIFEST} is not what was written (SHA-256 differs)")
    return {name: (size, digest) for name, (size, digest) in json.loads(body).items()}


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Damaged(f"{path.name} cannot be read: {error.strerror}") from None
