"""A fake's lost gradient with its answers and its repro, and a bundle of it on any form; careful that no collector runs."""

import json
import re

import pytest

from harness import pins, record
from harness.ask import Asker
from harness.bundle import form, gather, write
from harness.matrix import all_cells

CELL = "scale/lost_gradient@float32"
WORDS = "I scaled a tensor, and its weight never moved."


@pytest.fixture
def repro(tmp_path):
    """What `repro` leaves: a script that was run and failed as its record says."""
    folder = tmp_path / "repro"
    folder.mkdir()
    (folder / "repro.py").write_text("#!/usr/bin/env python3\nimport sys\n\nprint('dx: no gradient')\nsys.exit(1)\n")
    said = {
        "cell": CELL,
        "column": "fake-1.0",
        "status": "reproduced",
        "code": 1,
        "seconds": 0.1,
        "lines": 5,
        "output": "dx: no gradient\n",
    }
    (folder / "repro.json").write_text(json.dumps({**said, "asked": "0" * 16}))
    return folder


@pytest.fixture(scope="module")
def answered(fakes_once):
    """The answers of two versions by two paths: asked once for all tests."""
    columns = pins.read(fakes_once.pins)
    chosen = [
        c for c in all_cells(fakes_once, columns) if c.spec.id == "scale" and c.variant in ("", "lost_gradient") and c.dtype == "float32"
    ]
    with Asker(fakes_once, run="test") as asker:
        return [asker.ask(c) for c in chosen]


@pytest.fixture
def known(fakes, repro, answered):
    """The facts of a cell whose answer is in the baseline, for two versions, with another variant."""
    record.write_folder(fakes.baseline, answered)
    return gather.gather(fakes, CELL, "fake-1.0", repro)


@pytest.fixture
def made(known, tmp_path, monkeypatch):
    """A bundle on the form of that name."""

    def make(name, *, words=True, **options):
        monkeypatch.setattr(form, "choose", lambda *_: form.named(name))
        monkeypatch.setattr(write, "collect", lambda *_: "Python 3.11\n")
        folder = tmp_path / name
        write.write(known, folder, **options)
        if words:
            text = (folder / "human.md").read_text()
            (folder / "human.md").write_text(re.sub(r"<!--.*?-->", WORDS, text))
            write.write(known, folder, **options)
        return folder

    return make
