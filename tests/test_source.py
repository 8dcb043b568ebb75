"""A framework that is a folder of ours: what its cells' versions hold, and what they do not."""

import pytest

from harness import pins, source
from harness.errors import BadInput
from harness.matrix import all_cells

RUN = '"""The fake, through a package of ours."""\n\nfrom ours import model\n\n\ndef run(x, w, dy):\n    return model.scale(x, w, dy)\n'
MODEL = '"""A model."""\n\nfrom .parts.gain import gain\n\n\ndef scale(x, w, dy):\n    import ours.late\n\n    return gain(x, w, dy)\n'


@pytest.fixture
def ours(fakes):
    """A package in the fakes' project, and its column."""
    package = fakes.root / "ours"
    texts = {
        "__init__.py": "",
        "model.py": MODEL,
        "parts/__init__.py": "",
        "parts/gain.py": "import numpy\n\n\ndef gain(x, w, dy):\n    return {}\n",
        "late.py": "",
        "elsewhere.py": "",
    }
    for name, text in texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    fakes.pins.write_text(
        fakes.pins.read_text() + '[ours]\nlanguage = "python"\nadapter = "fake"\nsource = "ours"\n[ours.versions]\n"1.0" = {}\n'
    )
    (fakes.cases / "scale" / "run_ours.py").write_text(RUN)
    return package


def asked(fakes):
    source.reached.cache_clear()
    return {c.column.id: c.asked for c in all_cells(fakes, pins.read(fakes.pins)) if c.spec.id == "scale" and not c.variant}


def test_a_version_holds_the_modules_that_an_answer_runs_through(ours):
    assert [line[2:] for line in source.reached(RUN, ours, "ours").splitlines() if line.startswith("# ")] == [
        "ours",
        "ours.late",
        "ours.model",
        "ours.parts",
        "ours.parts.gain",
    ]


@pytest.mark.parametrize("name", ["__init__.py", "model.py", "parts/__init__.py", "parts/gain.py", "late.py"])
def test_an_edit_of_one_changes_the_version_of_this_column_only(fakes, ours, name):
    before = asked(fakes)
    (ours / name).write_text((ours / name).read_text() + "\nX = 1\n")
    after = asked(fakes)
    assert {column for column in before if before[column] != after[column]} == {"ours-1.0"}


def test_what_no_answer_runs_through_changes_none(fakes, ours):
    before = asked(fakes)
    (ours / "elsewhere.py").write_text("X = 1\n")
    (ours / "model.py").write_text("# a comment\n" + MODEL.replace("A model", "Words only"))
    assert asked(fakes) == before


def test_a_checkout_of_it_is_a_column_of_its_own_version(fakes, ours, tmp_path):
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "ours").symlink_to(ours)
    columns = pins.read(fakes.pins)
    for path in (tmp_path / "checkout", ours):
        column = pins.local_column(columns, f"ours={path}")
        assert (column.id, column.source, column.folder) == ("ours-local", str(ours), "fake")
    with pytest.raises(BadInput, match="no package ours"):
        pins.local_column(columns, f"ours={fakes.cases}")


def test_a_source_that_is_no_package_is_refused(fakes, ours):
    (ours / "__init__.py").unlink()
    with pytest.raises(BadInput, match="no package ours"):
        pins.read(fakes.pins)
