"""The command line as its user meets it: exit statuses, messages, and what a broken input costs."""

import json
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from harness import record
from harness.__main__ import app
from harness.errors import EXIT_TABLE, Exit
from harness.project import ROOT

HEALTHY = "many and row00"


def harness(project, *arguments):
    environment = {**os.environ, "SILENTBENCH_RESULTS": str(project.root / "results")}
    command = [sys.executable, "-m", "harness", "--project", str(project.root), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def publish(project):
    """What `report --publish` does to the records, without drawing."""
    records, _ = record.read_folder(project.latest)
    record.write_folder(project.baseline, records)


def test_clean(fakes):
    run = harness(fakes, "run", "-k", HEALTHY)
    assert (run.returncode, run.stderr) == (Exit.CLEAN, "")
    assert "4 ok" in run.stdout
    said = re.search(r"overhead (\d+) ms of CPU a cell over 4 cells", run.stdout)
    assert said
    assert 1 < int(said[1]) < 5000
    assert not (fakes.latest / "overhead.json").exists(), "of a few cells it is mostly the start: kept of whole runs only"


def test_junit_holds_the_new_failure(fakes, tmp_path):
    harness(fakes, "run", "-k", "fake-1 and (lost_gradient or row00)", "--junit", str(tmp_path / "junit.xml"))
    written = (tmp_path / "junit.xml").read_text()
    assert 'failures="1"' in written
    assert 'tests="3"' in written


def test_a_new_silent_cell_is_1_and_a_known_one_is_0(fakes):
    first = harness(fakes, "run", "-k", "lost_gradient and fake-1")
    assert first.returncode == Exit.NEW
    assert "new      silent   scale/lost_gradient@float32 fake-1.0: dw present: got no gradient, want an array (4,)" in first.stdout
    publish(fakes)
    assert harness(fakes, "run", "-k", "lost_gradient and fake-1").returncode == Exit.CLEAN


def test_a_second_failure_does_not_hide_behind_a_known_one(fakes):
    harness(fakes, "run", "-k", "lost_gradient and fake-1")
    publish(fakes)
    file = fakes.cases / "scale" / "run_fake.lost_gradient.py"
    file.write_text(file.read_text().replace('"dx": dy * w', '"dx": dy'))
    again = harness(fakes, "run", "-k", "lost_gradient and fake-1")
    assert again.returncode == Exit.NEW
    assert "dx close" in again.stdout


def test_a_fixed_cell_is_3(fakes):
    harness(fakes, "run", "-k", "lost_gradient and fake-1")
    publish(fakes)
    healthy = (fakes.cases / "scale" / "run_fake.py").read_text()
    (fakes.cases / "scale" / "run_fake.lost_gradient.py").write_text(healthy)
    assert harness(fakes, "run", "-k", "lost_gradient and fake-1").returncode == Exit.FIXED


def test_what_could_not_be_asked_is_4_and_the_rest_is_asked(fakes):
    (fakes.root / ".nox" / "ready" / "fake-2.0.json").unlink()
    run = harness(fakes, "run", "-k", HEALTHY)
    assert run.returncode == Exit.NOT_ASKED
    assert "2 ok, 2 error" in run.stdout
    assert "fake-2.0: 2 cells could not be asked (install): fake-2.0 is not built" in run.stdout


def test_our_own_error_is_5_and_the_rest_is_asked(fakes):
    run = harness(fakes, "run", "-k", "fake-1 and (typing_error or row00)")
    assert run.returncode == Exit.OURS
    assert "2 ok, 1 error" in run.stdout
    assert "(harness)" in run.stdout


def test_a_vacuous_case_is_refused_and_the_rest_is_asked(fakes):
    file = fakes.cases / "scale" / "case.py"
    file.write_text(file.read_text().replace('"dx": dy * w', '"dx": 0 * dy * w'))
    run = harness(fakes, "run", "-k", "fake-1 and (row00 or lost)")
    assert run.returncode == Exit.OURS
    assert "a lost gradient would pass" in run.stdout
    assert "2 ok, 1 error" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--columns", "tensorflow"], "no column 'tensorflow'"),
        (["run", "-k", "no_such_case"], "no cell matches -k 'no_such_case'"),
        (["run", "--local", "fake=/nowhere"], "nothing there"),
        (["run", "--bogus"], "No such option"),
        (["report"], "no records in"),
        (["show", "nothing"], "no record matches"),
    ],
)
def test_bad_input_is_2_with_what_to_do(fakes, arguments, words):
    run = harness(fakes, *arguments)
    assert words in run.stderr
    assert run.returncode == Exit.USAGE
    assert "Traceback" not in run.stderr
    if "--bogus" not in arguments:
        assert all(part in run.stderr for part in ("found:", "wanted:", "do this:"))


def test_a_project_without_cases_is_said(tmp_path):
    from harness.project import Project

    run = harness(Project(tmp_path), "run")
    assert (run.returncode, "harness/pins.toml" in run.stderr) == (Exit.USAGE, True)


def test_a_full_disk_ends_the_run_with_5_and_keeps_what_was_measured(fakes):
    fakes.latest.mkdir(parents=True)
    (fakes.latest / "fake-2.0.jsonl").symlink_to("/dev/full")
    run = harness(fakes, "run", "-k", HEALTHY)
    assert run.returncode == Exit.OURS
    assert "No space left on device" in run.stderr
    assert [r["status"] for r in record.read(fakes.latest / "fake-1.0.jsonl")[0]] == ["ok", "ok"]


def test_a_corrupt_line_is_warned_of_with_file_and_line(fakes):
    harness(fakes, "run", "-k", HEALTHY)
    with (fakes.latest / "fake-1.0.jsonl").open("a") as file:
        file.write('{"schema": 1, "tru')
    run = harness(fakes, "run", "-k", HEALTHY)
    assert run.returncode == Exit.CLEAN
    assert "fake-1.0.jsonl:3: not JSON" in run.stderr


def test_list_and_show(fakes):
    listed = harness(fakes, "list", "--columns", "fake-1.0", "--json")
    cells = json.loads(listed.stdout)
    assert len(cells) == 24 + 35 + 9
    harness(fakes, "run", "-k", HEALTHY)
    shown = harness(fakes, "show", "many:row00", "fake-1.0")
    assert "many:row00@float64 fake-1.0: ok" in shown.stdout


def test_summary_counts_only_current_records(fakes):
    harness(fakes, "run", "-k", "fake-1 and (row00 or lost_gradient)")
    publish(fakes)
    counted = json.loads(harness(fakes, "summary", "--json").stdout)
    assert (counted["cases"], counted["items"], counted["executed"], counted["stale"]) == (3, 14, 3, 0)
    assert counted["by_status"]["silent"] == 1
    assert counted["squares_by_status"]["silent"] == 1
    assert sum(counted["squares_by_status"].values()) <= sum(counted["by_status"].values())
    assert counted["mutants"]["killed"] == counted["mutants"]["total"]
    file = fakes.cases / "scale" / "case.py"
    file.write_text(file.read_text().replace("rtol=1e-6", "rtol=2e-6"))
    counted = json.loads(harness(fakes, "summary", "--json").stdout)
    assert (counted["executed"], counted["stale"]) == (2, 1)


def test_verify_agrees_and_finds_a_planted_difference(fakes):
    harness(fakes, "run", "-k", "fake-1 and (row00 or lost_gradient)")
    publish(fakes)
    assert harness(fakes, "verify", "--sample", "50").returncode == Exit.CLEAN
    file = fakes.baseline / "fake-1.0.jsonl"
    file.write_text(file.read_text().replace('"status":"ok"', '"status":"loud"', 1))
    run = harness(fakes, "verify", "--sample", "50")
    assert run.returncode == Exit.NEW
    assert "committed loud" in run.stdout


def test_the_exit_table_is_whole():
    assert set(EXIT_TABLE) == set(Exit)


def test_help_shows_the_exit_table(fakes):
    assert "known failures are gone" in " ".join(harness(fakes, "--help").stdout.split())


@pytest.mark.parametrize("command", [c.name or c.callback.__name__ for c in app.registered_commands])
def test_every_command_says_how_it_is_used(command):
    """``[/VARIANT]`` in a help text is markup to rich, and raised."""
    said = CliRunner().invoke(app, [command, "--help"])
    assert said.exit_code == 0, said.exception
