"""Keeps what an operation's examples and references are: they are the same for every column and every run until their text changes."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from harness import cell, source
from harness.case import Spec
from harness.project import Project
from harness.sweep import draw, explore, mutants


@contextlib.contextmanager
def of(spec: Spec, folder: Path) -> Iterator[None]:
    """Within it, the operation's examples and references are at hand; what was made anew is kept when it ends."""
    assert spec.op
    name = _name(spec, cell.swept(spec.folder / "case.py", judged=False))
    explore.KNOWN.clear()
    draw.GENERATED.clear()
    with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError, AttributeError, ValueError):
        drawn, known = pickle.loads((folder / name).read_bytes())  # noqa: S301  our own file, of this very text
        draw.GENERATED.update({(spec.op, *asked): examples for asked, examples in drawn.items()})
        explore.KNOWN.update({(spec.op, key): reference for key, reference in known.items()})
    before = len(explore.KNOWN), len(draw.GENERATED)
    yield
    if (len(explore.KNOWN), len(draw.GENERATED)) == before:
        return
    drawn = {asked[1:]: examples for asked, examples in draw.GENERATED.items() if asked[0] is spec.op}
    known = {key: reference for (op, key), reference in explore.KNOWN.items() if op is spec.op}
    _keep(folder, spec, name, pickle.dumps((drawn, known)))


def proof(spec: Spec) -> tuple[dict[str, bool], list[str]]:
    """What `mutants` says of an operation: which wrong answers survive, and which right ones are accused."""
    assert spec.op
    name = _name(spec, cell.swept(spec.folder / "case.py"), Path(mutants.__file__).read_text())
    folder = Project(spec.folder.parents[1]).environments / "sweep"
    with contextlib.suppress(OSError, ValueError):
        judged, accused = json.loads((folder / "proofs" / name).read_text())
        return judged, accused
    with of(spec, folder):
        made = mutants.judged(spec.op), mutants.accused(spec.op)
    _keep(folder / "proofs", spec, name, json.dumps(made).encode())
    return made


def _name(spec: Spec, *texts: str) -> str:
    """A file's name: the operation, and a digest of the texts that its content follows from."""
    return f"{spec.id}.{spec.item}.{source.digest(np.__version__, *texts, source.entry(spec.folder / 'case.py', spec.item))}"


def _keep(folder: Path, spec: Spec, name: str, content: bytes) -> None:
    """In place of what was kept of the operation before."""
    with contextlib.suppress(OSError):  # a full disk costs time, and nothing else
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"{spec.id}.{spec.item}.*"):
            old.unlink()
        part = folder / f"{name}.{os.getpid()}.part"
        part.write_bytes(content)
        part.replace(folder / name)
