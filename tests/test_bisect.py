"""A search over the releases of a fake whose answer changes at 3.0, as its user meets it."""

import json

import bisected
import pytest
from bisected import CELL, RELEASED, search
from typer.testing import CliRunner

from harness import record
from harness.__main__ import app
from harness.bisect import answer as answers
from harness.bisect import column as columns
from harness.bisect import command, run
from harness.bisect.question import read as question
from harness.errors import BadInput, CannotKeep, Exit
from harness.report import payload

built = bisected.built


def test_the_first_bad_version_is_found(fakes, built):
    answer = search(fakes)
    assert (answer["last_good"], answer["first_bad"], answer["complete"]) == ("2.2", "3.0", True)
    assert built[:2] == ["1.0", "4.0"], "both ends first"
    assert len(built) < len(RELEASED) - 1
    by_version = {e["version"]: e for e in answer["versions"]}
    assert "dx close: got" in by_version["3.0"]["number"]
    assert (by_version["1.0"]["status"], by_version["1.0"]["bad"]) == ("ok", False)
    for e in answer["versions"]:
        for r in e["records"]:
            record.validate(r)
    assert json.loads(run.open_(fakes, question(fakes, CELL), "fake", run.Options()).file.read_text()) == answer


def test_what_does_not_build_is_stepped_over_and_named_and_yanked_and_pre_releases_too(fakes, built):
    answer = search(fakes, scan=True)
    assert answer["not_built"] == {"2.1": "error: error[E0]: it does not compile; wanted: a build; do: nothing"}
    assert (answer["yanked"], answer["pre_releases"]) == ({"2.3": "wrong wheel"}, [])
    assert answer["scanned"]
    assert answer["to"] == "4.0", "the newest stable one"
    assert search(fakes, pre=True, last="4.1rc1")["versions"][-1]["version"] == "4.1rc1"
    assert search(fakes, first="1.0", last="4.1rc1")["pre_releases"] == [], "an end is asked"


def test_a_repair_is_found_too(fakes, built):
    old, new = fakes.cases / "many" / "run_fake.py", fakes.cases / "many" / "run_fake@3.0.py"
    new.write_text("def row00(x):\n    return {'y': x * x, 'dx': x + x}\n")
    old.write_text(old.read_text().replace('"dx": x + x', '"dx": x', 1))
    answer = search(fakes)
    assert (answer["first_bad"], answer["last_bad"], answer["first_good"]) == (None, "2.2", "3.0")


def test_a_second_search_builds_nothing(fakes, built):
    first = search(fakes)
    n = len(built)
    again = search(fakes)
    assert len(built) == n
    assert again["flips"] == first["flips"]
    assert {e["source"] for e in again["versions"]} == {"earlier"}


def test_an_edited_question_is_asked_again(fakes, built):
    search(fakes)
    n = len(built)
    file = fakes.cases / "many" / "run_fake@3.0.py"
    file.write_text(file.read_text().replace("x + x + x", "x + x"))
    from harness import source

    source.functions.cache_clear()
    assert search(fakes)["flips"] == []
    assert len(built) > n


def test_a_stopped_search_goes_on(fakes, built, monkeypatch):
    make = columns.make

    def stop(project, column, spec):
        if len(built) == 3:
            raise KeyboardInterrupt
        return make(project, column, spec)

    monkeypatch.setattr(columns, "make", stop)
    for fresh in (False, True):
        built.clear()
        with pytest.raises(KeyboardInterrupt):
            search(fakes, fresh=fresh)
        kept = answers.read(answers.path(fakes, CELL, "fake"))
        assert (kept["complete"], len(kept["versions"])) == (False, 3)
        monkeypatch.setattr(columns, "make", make)
        assert search(fakes, fresh=fresh)["first_bad"] == "3.0"
        assert len(built) == len(set(built)), "nothing twice"
        monkeypatch.setattr(columns, "make", stop)


def matrix(fakes, version, **edit):
    """Put what a search said of a version into the matrix's own records."""
    kept = answers.read(answers.path(fakes, CELL, "fake"))
    (r,) = next(e["records"] for e in kept["versions"] if e["version"] == version)
    record.write_folder(fakes.baseline, [{**r, **edit}])
    from harness.bisect import known

    known._column.cache_clear()


def test_what_the_matrix_has_is_reused(fakes, built):
    search(fakes)
    matrix(fakes, "1.0")
    answers.path(fakes, CELL, "fake").unlink()
    built.clear()
    answer = search(fakes)
    assert "1.0" not in built
    assert answer["versions"][0]["source"] == "matrix"
    assert answer["disagreements"] == []


def test_what_was_found_is_published_and_shown(fakes, built):
    """A line a search, without its records; a later search takes the published one's place."""
    answer = search(fakes)
    answers.publish(fakes)
    (line,) = answers.file(fakes).read_text().splitlines()
    assert '"records": [{' not in line
    answers.path(fakes, CELL, "fake").unlink()
    (kept,) = answers.listed(fakes)
    assert (kept["first_bad"], kept["flips"]) == (answer["first_bad"], answer["flips"])
    assert payload._searched(kept).startswith(
        f"fake {answer['from']} to {answer['to']}, {CELL}: asked {len(answer['versions'])} releases on "
    )
    later = search(fakes)
    assert [each["at"] for each in answers.listed(fakes)] == [later["at"]]
    answers.file(fakes).write_text("no JSON")
    answers.path(fakes, CELL, "fake").unlink()
    assert answers.listed(fakes) == []


def test_a_disagreement_with_the_matrix_is_an_error_that_is_shown(fakes, built, capsys):
    search(fakes)
    matrix(fakes, "1.0", status="silent", message="planted")
    answer = search(fakes, fresh=True)
    assert "silent: planted" in answer["disagreements"][0]
    assert command.status(answer) == Exit.NEW
    assert any(line.startswith("DISAGREES") for line in answers.lines(answer))
    matrix(fakes, "1.0")
    assert command.status(search(fakes, fresh=True)) == Exit.CLEAN


def test_an_answer_to_another_question_is_not_reused(fakes, built):
    search(fakes)
    matrix(fakes, "1.0", asked="f" * 16, status="silent")
    answers.path(fakes, CELL, "fake").unlink()
    assert search(fakes)["versions"][0]["source"] == "asked"


def test_two_searches_at_once_are_refused(fakes, built):
    opened = run.open_(fakes, question(fakes, CELL), "fake", run.Options())
    from filelock import FileLock

    (fakes.environments / "bisect").mkdir(parents=True)
    with FileLock(fakes.environments / "bisect" / ".lock"), pytest.raises(CannotKeep, match="another search"):
        opened.run()


@pytest.mark.parametrize(
    ("cell", "options", "found"),
    [
        ("many:row99", {}, "no row"),
        ("nothing", {}, "no case"),
        ("many:row00@int4", {}, "int4"),
        ("many row00", {}, "cell"),
        ("many:row00/other", {}, "nothing of"),
        ("timed", {}, "timed"),
        (CELL, {"first": "2.3"}, "yanked"),
        (CELL, {"first": "9.9"}, "not released"),
        (CELL, {"first": "4.0", "last": "1.0"}, "--from"),
        (CELL, {"bad": ("sad",)}, "--bad"),
        (CELL, {"backend": "wgpu"}, "wgpu"),
    ],
)
def test_bad_input_is_named(fakes, built, cell, options, found):
    with pytest.raises(BadInput, match=found):
        search(fakes, cell, **options)
    assert built == []


def test_the_command_prints_a_table_and_says_what_follows(fakes, built, monkeypatch):
    monkeypatch.setenv("SILENTBENCH_RESULTS", str(fakes.root / "results"))
    done = CliRunner().invoke(app, ["--project", str(fakes.root), "bisect", CELL, "fake"])
    assert done.exit_code == 0, done.output
    assert "last good 2.2, first bad 3.0" in done.output
    assert "<- first bad" in done.output
    as_json = CliRunner().invoke(app, ["--project", str(fakes.root), "bisect", CELL, "fake", "--json"])
    answers.validate(json.loads(as_json.stdout))


def test_loud_can_be_what_is_looked_for(fakes, built):
    (fakes.cases / "many" / "run_fake@3.0.py").write_text("def row00(x):\n    raise ValueError('refused')\n")
    assert search(fakes)["flips"] == []
    assert search(fakes, bad=("loud",))["first_bad"] == "3.0"
