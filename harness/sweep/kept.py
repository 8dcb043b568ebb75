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
    case = spec.folder / "case.py"
    text = source.digest(np.__version__, cell.swept(case, judged=False), source.entry(case, spec.item))
    path = folder / f"{spec.id}.{spec.item}.{text}"
    explore.KNOWN.clear()
    draw.GENERATED.clear()
    with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError, AttributeError, ValueError):
        drawn, known = pickle.loads(path.read_bytes())  # noqa: S301  our own file, of this very text
        draw.GENERATED.update({(spec.op, *asked): examples for asked, examples in drawn.items()})
        explore.KNOWN.update({(spec.op, key): reference for key, reference in known.items()})
    before = len(explore.KNOWN), len(draw.GENERATED)
    yield
    if (len(explore.KNOWN), len(draw.GENERATED)) == before:
        return
    drawn = {asked: examples for (op, *rest), examples in draw.GENERATED.items() for asked in [tuple(rest)] if op is spec.op}
    known = {key: reference for (op, key), reference in explore.KNOWN.items() if op is spec.op}
    with contextlib.suppress(OSError):  # a full disk costs time, and nothing else
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"{spec.id}.{spec.item}.*"):
            old.unlink()
        part = path.with_name(path.name + f".{os.getpid()}.part")
        part.write_bytes(pickle.dumps((drawn, known)))
        part.replace(path)


def proof(spec: Spec) -> tuple[dict[str, bool], list[str]]:
    """What `mutants` says of an operation: which wrong answers survive, and which right ones are accused."""
    assert spec.op
    case = spec.folder / "case.py"
    text = source.digest(np.__version__, cell.swept(case), Path(mutants.__file__).read_text(), source.entry(case, spec.item))
    folder = Project(spec.folder.parents[1]).environments / "sweep"
    path = folder / "proofs" / f"{spec.id}.{spec.item}.{text}.json"
    with contextlib.suppress(OSError, ValueError):
        judged, accused = json.loads(path.read_text())
        return judged, accused
    with of(spec, folder):
        made = mutants.judged(spec.op), mutants.accused(spec.op)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(f"{spec.id}.{spec.item}.*"):
            old.unlink()
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(made))
        part.replace(path)
    return made
