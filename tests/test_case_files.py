"""Which run file answers for which column, and which cells a column is asked; a run file that answers for nothing is refused."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from harness import cell, pins, source
from harness.errors import BadInput
from harness.matrix import all_cells
from harness.project import Project


def columns(fakes):
    return pins.read(fakes.pins)


@pytest.mark.parametrize("name", ["run_fake.py.bak", "run_Fake.py", "run_fake.a.b.py", "run_fake@x.py"])
def test_a_misnamed_run_file_is_refused(fakes, name):
    (fakes.cases / "scale" / name).write_text("")
    with pytest.raises(BadInput, match=r"run_FRAMEWORK\[.VARIANT\]"):
        all_cells(fakes, columns(fakes))


def test_a_run_file_of_an_unknown_framework_is_refused(fakes):
    (fakes.cases / "scale" / "run_tensorflow.py").write_text("def run(x, w, dy):\n    return {}\n")
    with pytest.raises(BadInput, match="framework 'tensorflow'"):
        all_cells(fakes, columns(fakes))


def test_a_file_of_the_wrong_language_is_refused(fakes):
    (fakes.cases / "scale" / "run_fake.other.rs").write_text("pub fn run() {}\n")
    with pytest.raises(BadInput, match="for a python framework"):
        all_cells(fakes, columns(fakes))


def test_a_function_that_is_no_item_is_refused(fakes):
    file = fakes.cases / "many" / "run_fake.py"
    file.write_text(file.read_text() + "\n\ndef row99(x):\n    return {}\n")
    source.functions.cache_clear()
    with pytest.raises(BadInput, match="function row99"):
        all_cells(fakes, columns(fakes))


def test_a_misspelt_function_is_refused(fakes):
    file = fakes.cases / "scale" / "run_fake.nan.py"
    file.write_text(file.read_text().replace("def run", "def rum"))
    source.functions.cache_clear()
    with pytest.raises(BadInput, match="function rum"):
        all_cells(fakes, columns(fakes))


def test_a_file_serves_its_version_and_later(fakes):
    (fakes.cases / "scale" / "run_fake@2.0.py").write_text("def run(x, w, dy):\n    return {}\n")
    served = {c.column.version: c.file.path.name for c in all_cells(fakes, columns(fakes)) if c.spec.id == "scale" and not c.variant}
    assert served == {"1.0": "run_fake.py", "2.0": "run_fake@2.0.py"}


def test_a_run_file_of_an_older_interface_serves_no_newer_column():
    names = ("run_burn.rs", "run_burn.plain.rs", "run_burn@0.23.rs")
    files = [
        cell.RunFile(framework="burn", variant="plain" if "plain" in n else "", since="0.23" if "@" in n else "", path=Path(n))
        for n in names
    ]
    columns = {c.version: c for c in pins.read(Project().pins) if c.framework == "burn" and not c.backend}
    served = {v: {variant: f.path.name for variant, f in cell.files_for(files, columns[v]).items()} for v in ("0.21.0", "0.23.0-pre.1")}
    assert served == {"0.21.0": {"": "run_burn.rs", "plain": "run_burn.plain.rs"}, "0.23.0-pre.1": {"": "run_burn@0.23.rs"}}


def test_a_version_has_the_glue_of_its_interface():
    files = {
        c.version: [path.name for path in cell.glue_files(cell.FRAMEWORKS, c)] for c in pins.read(Project().pins) if c.framework == "burn"
    }
    assert files["0.18.0"] == files["0.21.0"] == ["protocol.rs", "tensors.rs", "glue.rs"]
    assert files["0.23.0-pre.1"] == ["protocol.rs", "tensors.rs", "glue@0.23.rs"]


def test_a_case_without_a_run_file_is_untested_and_said(fakes, asker):
    (fakes.cases / "scale" / "run_fake.py").unlink()
    shutil.copytree(fakes.cases / "scale", fakes.cases / "empty", ignore=shutil.ignore_patterns("run_*"))
    one = next(c for c in all_cells(fakes, columns(fakes)) if c.spec.id == "empty")
    assert (one.file, asker.ask(one)["status"]) == (None, "untested")


def test_a_column_may_need_more_time(fakes):
    asked = all_cells(fakes, columns(fakes))[0]
    slow = dataclasses.replace(asked, column=dataclasses.replace(asked.column, patience=5.0))
    assert slow.limit_s == 5 * asked.limit_s == 5 * asked.spec.case.limit_s
    assert slow.asked != asked.asked


def test_a_column_may_have_some_classes_of_failure_only(fakes):
    pins_toml = fakes.pins.read_text()
    everything = all_cells(fakes, pins.read(fakes.pins))
    (kept,) = {c.spec.case.failure for c in everything if c.spec.id == "scale"}
    fakes.pins.write_text(pins_toml.replace('language = "python"', f'language = "python"\nfailures = ["{kept}"]', 1))
    assert {c.spec.case.failure for c in all_cells(fakes, pins.read(fakes.pins)) if c.column.failures} == {kept}
    fakes.pins.write_text(pins_toml.replace('language = "python"', 'language = "python"\nfailures = ["no-such-class"]', 1))
    with pytest.raises(BadInput, match="no-such-class"):
        all_cells(fakes, pins.read(fakes.pins))


def test_a_case_may_be_for_some_frameworks_only(fakes):
    file = fakes.cases / "scale" / "case.py"
    text = file.read_text()
    file.write_text(text.replace("    failure=", '    only=("other",),\n    failure='))
    fakes.pins.write_text(
        f'{fakes.pins.read_text()}\n[other]\nlanguage = "python"\npython = "3.11"\nrequires = []\n[other.versions]\n"1.0" = {{}}\n'
    )
    assert {c.column.framework for c in all_cells(fakes, pins.read(fakes.pins)) if c.spec.id == "scale"} == {"other"}
    file.write_text(text.replace("    failure=", '    only=("no-such-framework",),\n    failure='))
    with pytest.raises(BadInput, match="no-such-framework"):
        all_cells(fakes, pins.read(fakes.pins))


def test_a_framework_of_ours_is_asked_what_it_is_for():
    asked = all_cells(Project(), [c for c in pins.read(Project().pins) if c.source])
    assert asked
    assert [c.id for c in asked if not c.file and c.column.framework not in c.spec.absent] == []
