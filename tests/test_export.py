"""What is exported and where to: the selection, the command line, and what a bad option or a full disk costs."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from export_readers import kinds, read_junit
from test_cli import harness, publish

from harness import pins, record
from harness.errors import BadInput, CannotKeep, Exit
from harness.export import gather, place, write
from harness.matrix import all_cells
from harness.project import ROOT


@pytest.fixture
def run(fakes, asker):
    """Three answers of the fakes, the first of them the baseline's too."""
    cells = {c.variant: c for c in all_cells(fakes, pins.select(pins.read(fakes.pins), ["fake-1.0"])) if c.spec.id == "scale"}
    answers = [asker.ask(cells[v]) for v in ("", "lost_gradient", "swapped_axis")]
    run = "20261130T010000Z-0001"
    answers = [{**r, "run": run} for r in answers]
    record.write_folder(fakes.latest, answers)
    record.write_folder(fakes.baseline, [answers[0], {**answers[2], "status": "ok", "checks": []}])
    return answers


def variants(selection):
    return [r["variant"] for r in selection.records]


def test_the_latest_run_against_its_baseline(fakes, run):
    selection = gather.select(fakes)
    assert {r["variant"]: selection.change(r) for r in selection.records} == {"": "same", "lost_gradient": "new", "swapped_axis": "new"}
    assert (selection.stale, list(selection.broken), selection.failure(run[0])) == (0, [], "missing-gradient")


def test_filters_are_those_of_run(fakes, run):
    assert variants(gather.select(fakes, keyword="lost_gradient or swapped")) == ["lost_gradient", "swapped_axis"]
    assert variants(gather.select(fakes, keyword="scale and not (lost_gradient or swapped)")) == [""]
    assert len(gather.select(fakes, columns=["fake-*"]).records) == 3
    assert variants(gather.select(fakes, since="baseline")) == ["lost_gradient", "swapped_axis"]
    assert len(gather.select(fakes, since="20261130T005959Z-ffff").records) == 3


def test_the_committed_records_have_nothing_to_compare_with(fakes, run):
    selection = gather.select(fakes, committed=True)
    assert (len(selection.records), {selection.change(r) for r in selection.records}) == (2, {""})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ["none-*"]}, "no records of column 'none-\\*'"),
        ({"keyword": "scale and"}, "-k 'scale and'"),
        ({"keyword": "nothing_like_it"}, "no record of all columns, -k 'nothing_like_it'"),
        ({"since": "yesterday"}, "--since yesterday"),
        ({"since": "20261130T010000Z-0001"}, "since 20261130T010000Z-0001"),
    ],
)
def test_what_cannot_be_chosen_is_said(fakes, run, options, words):
    with pytest.raises(BadInput, match=words):
        gather.select(fakes, **options)


def test_no_records_are_said(fakes):
    with pytest.raises(BadInput, match="no records in") as said:
        gather.select(fakes)
    assert "--baseline" in said.value.do
    with pytest.raises(BadInput, match="no records in"):
        gather.select(fakes, committed=True)


def test_since_a_baseline_that_is_not_there(fakes, run):
    (fakes.baseline / "fake-1.0.jsonl").unlink()
    with pytest.raises(BadInput, match="no baseline to compare with"):
        gather.select(fakes, since="baseline")


def test_stale_and_broken_records_are_left_out_and_counted(fakes, run):
    record.write_folder(fakes.latest, [run[0], {**run[1], "asked": "0" * 16}])
    with (fakes.latest / "fake-1.0.jsonl").open("ab") as file:
        file.write(b'{"schema": 1, "message": "\xff\xfe"}\n')
    selection = gather.select(fakes)
    assert (variants(selection), selection.stale, len(selection.broken)) == ([""], 1, 1)
    record.write_folder(fakes.latest, [{**run[1], "asked": "0" * 16}])
    with pytest.raises(BadInput, match="1 records, all of questions that have changed since"):
        gather.select(fakes)


def test_a_status_that_is_not_in_the_list_is_refused(fakes, run):
    record.write_folder(fakes.latest, [{**run[0], "status": "green"}])
    with pytest.raises(BadInput, match="green"):
        gather.select(fakes)


def test_a_place_is_a_line_of_the_project(tmp_path):
    case = tmp_path / "project" / "cases" / "one"
    case.mkdir(parents=True)
    (case / "case.py").write_text('"""A case."""\n\nCASE = 1\n')
    (case / "run_x.py").write_text("import x\n\n\ndef run():\n    pass\n")
    (case / "run_y.rs").write_text("use y;\npub fn r#type() {}\n")
    (case / "broken.py").write_text("def (\n")
    (tmp_path / "secret.py").write_text("def run(): pass\n")
    root = case.parents[1]

    def at(file, function="run"):
        found = place.place(root, {"case": "one", "file": file, "function": function})
        return found.file, found.line

    assert at("cases/one/run_x.py") == ("cases/one/run_x.py", 4)
    assert at("cases/one/run_y.rs", "type") == ("cases/one/run_y.rs", 2)
    assert at("cases/one/broken.py") == ("cases/one/broken.py", 1)
    for nowhere in ("", "../secret.py", str(tmp_path / "secret.py"), "cases/one/gone.py"):
        assert at(nowhere) == ("cases/one/case.py", 3)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    out = tmp_path / "out.txt"
    assert write.put("old", out) == 3
    (tmp_path / "link.txt").symlink_to(out)
    write.put("new", tmp_path / "link.txt")
    assert (out.read_text(), (tmp_path / "link.txt").is_symlink()) == ("new", True)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(CannotKeep, match="No space left on device"):
        write.put("newer", out)
    assert (out.read_text(), sorted(p.name for p in tmp_path.iterdir())) == ("new", ["link.txt", "out.txt"])


def test_a_device_is_written_to_and_stays_one(tmp_path):
    write.put("x", Path("/dev/null"))
    assert not Path("/dev/null").is_file()
    with pytest.raises(CannotKeep, match="No space left on device"):
        write.put("x" * 100_000, Path("/dev/full"))
    assert not Path("/dev/full").is_file()
    with pytest.raises(CannotKeep, match="Is a directory"):
        write.put("x", tmp_path)
    with pytest.raises(CannotKeep, match="No such file or directory"):
        write.put("x", tmp_path / "none" / "out.txt")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["yaml"], "found:   format 'yaml'\nwanted:  one of csv, json, junit"),
        ([], "found:   no format"),
        (["csv", "--all", "x"], "--all beside a format"),
        (["csv"], "found:   no records in"),
    ],
)
def test_bad_input_is_2_with_what_to_do(fakes, arguments, words):
    said = harness(fakes, "export", *arguments)
    assert (said.returncode, said.stdout) == (Exit.USAGE, "")
    assert words in said.stderr
    assert "do this: " in said.stderr


def test_a_full_disk_is_5_and_a_closed_pipe_is_nothing(fakes, run):
    command = [sys.executable, "-m", "harness", "--project", str(fakes.root), "export", "json"]
    environment = {**os.environ, "SILENTBENCH_RESULTS": str(fakes.root / "results")}
    with open("/dev/full", "w") as full:
        said = subprocess.run(command, cwd=ROOT, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert said.returncode == Exit.OURS
    assert re.fullmatch(r"found:   cannot write standard output: No space left on device\nwanted: .*\ndo this: .*\n", said.stderr)
    read, closed = os.pipe()
    os.close(read)
    said = subprocess.run(command, cwd=ROOT, env=environment, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    os.close(closed)
    assert (said.returncode, said.stderr) == (0, "")


def test_all_of_them_into_a_folder(fakes, run, tmp_path):
    said = harness(fakes, "export", "--all", str(tmp_path / "out" / "today"))
    assert (said.returncode, said.stderr) == (0, "")
    files = {p.name: p for p in (tmp_path / "out" / "today").iterdir()}
    assert set(files) == {f.file for f in write.FORMATS.values()} | {"results.schema.json"}
    assert len(said.stdout.splitlines()) == len(files)
    jsonschema.validate(json.loads(files["results.json"].read_text()), json.loads(files["results.schema.json"].read_text()))
    assert files["annotations.txt"].read_text().count("::error ") == 2


def test_a_run_writes_the_same_junit(fakes, tmp_path):
    """Against the baseline: a known failure passes there, and only there."""
    cells = "fake-1 and (lost_gradient or row00)"
    harness(fakes, "run", "-k", cells)
    publish(fakes)
    harness(fakes, "run", "-k", cells, "--fresh", "--junit", str(tmp_path / "run.xml"))
    exported = harness(fakes, "export", "junit")
    (mine, theirs) = read_junit((tmp_path / "run.xml").read_text()), read_junit(exported.stdout)
    assert sorted(t.name for t in mine) == sorted(t.name for t in theirs)
    assert sum(len(t.result) for t in mine) == 0
    assert [kinds(t) for t in theirs if t.result] == [["Failure"]]
    csv_rows = list(csv.DictReader(harness(fakes, "export", "csv", "-k", "lost_gradient").stdout.splitlines()))
    assert {(r["status"], r["change"]) for r in csv_rows} == {("silent", "same")}


def test_every_format_is_in_the_help_and_in_the_docs(fakes):
    said = harness(fakes, "export", "--help").stdout
    documented = (ROOT / "docs" / "exports.md").read_text()
    for name, made in write.FORMATS.items():
        assert re.search(rf"\b{name}\b", said), name
        assert f"| `{name}` |" in documented, name
        assert f"| `{made.file}` |" in documented, name
