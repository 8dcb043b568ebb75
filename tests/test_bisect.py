"""A search over the releases of a fake whose answer changes at 3.0, as its user meets it."""

import dataclasses
import json
import shutil
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from harness import environment, pins, record
from harness.__main__ import app
from harness.bisect import answer as answers
from harness.bisect import column as columns
from harness.bisect import command, commits, run, versions
from harness.bisect.question import read as question
from harness.errors import BadInput, CannotBuild, CannotKeep, Exit
from harness.pins import release_key, unpinned
from harness.project import Project
from harness.report import payload

RELEASED = ["1.0", "1.1", "2.0", "2.1", "2.2", "3.0", "3.1", "4.0", "4.1rc1"]
CELL = "many:row00@float32"
BROKEN = {"y": "x * x", "dx": "x + x + x"}


@pytest.fixture
def built(fakes, monkeypatch):
    """The versions that were built, in their order; 2.1 does not build."""
    order = []

    def make(project, column, spec):
        order.append(column.version)
        adhoc = columns.AdHoc(project.root)
        made = environment.Environment(column=column.id, python=sys.executable, toolchain="test")
        if column.version == "2.1":
            made = environment.failed(column, CannotBuild("build", "error[E0]: it does not compile", "a build", "nothing"))
        environment.write(adhoc, made, column)
        return adhoc, made

    monkeypatch.setattr(columns, "make", make)
    releases = versions.Releases(package="fake", versions=RELEASED, yanked={"2.3": "wrong wheel"})
    monkeypatch.setattr(versions, "released", lambda *_, **__: releases)
    answer = "".join(f"    out[{name!r}] = {value}\n" for name, value in BROKEN.items())
    (fakes.cases / "many" / "run_fake@3.0.py").write_text(f"def row00(x):\n    out = {{}}\n{answer}    return out\n")
    return order


def search(project, cell=CELL, **options):
    said = []
    return run.open_(project, question(project, cell), "fake", run.Options(**options), said.append).run()


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


# ------------------------------------------------------------------------------------------------------------- the versions


PIP = """Found link https://x.org/a/jax-0.4.31-py3-none-any.whl#sha256=0 (from https://x.org/simple/jax/), version: 0.4.31
  Skipping link: yanked for reason: <none given>: https://x.org/a/jax-0.4.32-py3-none-any.whl (from https://x.org/simple/jax/) (requires-python:>=3.10)
  Skipping link: yanked for reason: broken: on arm: https://x.org/a/jax-0.4.5.tar.gz#sha256=1 (from https://x.org/simple/jax/)
{"name": "jax", "versions": ["0.10.2", "0.10.0rc1", "0.4.31"], "latest": "0.10.2"}
"""


def test_pips_listing():
    found = versions.distribution("jax", PIP)
    assert found.versions == ["0.4.31", "0.10.0rc1", "0.10.2"]
    assert found.yanked == {"0.4.32": "<none given>", "0.4.5": "broken: on arm"}


def entry(*lines):
    """A file of cargo's cache: a header, then of each version its name and its line of the index."""
    parts = [
        b"\x03\x02\x00\x00\x00etag",
        *(p for v, y in lines for p in (v.encode(), json.dumps({"name": "c", "vers": v, "yanked": y}).encode())),
    ]
    return b"\0".join(parts) + b"\0"


def test_cargos_index_entry():
    found = versions.crate("c", entry(("0.10.0", False), ("0.9.0", True), ("0.9.1", False), ("0.9.2-alpha.1", False)))
    assert found.versions == ["0.9.1", "0.9.2-alpha.1", "0.10.0"]
    assert list(found.yanked) == ["0.9.0"]
    assert found.between("0.9.1", "0.10.0", pre=False) == ["0.9.1", "0.10.0"]
    assert found.between("0.9.1", "0.10.0", pre=True) == ["0.9.1", "0.9.2-alpha.1", "0.10.0"]
    with pytest.raises(CannotBuild, match="another form"):
        versions.crate("c", b"\x04nothing that is known")


def test_a_listing_is_kept_for_a_day(fakes, monkeypatch):
    asked = []

    def list_(package, python):
        asked.append((package, python))
        return versions.Releases(package=package, versions=["1.0"], read_at=time.time())

    monkeypatch.setattr(versions, "_distribution", list_)
    column = pins.read(fakes.pins)[0]
    first, second = (versions.released(column, fakes.root) for _ in range(2))
    assert (asked, first.cached, second.cached) == ([("fake", "3.11")], False, True)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + versions.DAY_S + 60)
    versions.released(column, fakes.root)
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("framework", "version", "holds"),
    [
        ("candle", "0.9.0", {"crates": ("candle-core", "candle-nn"), "language": "rust", "lock": "candle-0.9.0.Cargo.lock"}),
        ("jax", "0.4.36", {"requires": ("jax==0.4.36", "optax==0.2.5", "numpy==2.4.6", "safetensors==0.8.0")}),
        ("jax", "0.10.1", {"python": "3.11"}),
        ("jax", "0.4.30", {"id": "jax-0.4.30"}),
        ("burn", "0.22.0", {"features": ("std", "ndarray", "autodiff")}),
        ("burn", "0.23.0", {"features": ("std", "flex", "autodiff", "optim", "linalg")}),
    ],
)
def test_a_version_without_a_pin_takes_the_nearest_pins_options(framework, version, holds):
    column = unpinned(Project().pins, framework, version)
    assert {name: getattr(column, name) for name in holds} == holds
    assert column.tags == (framework, "bisect")


def test_a_pinned_version_is_its_own_nearest():
    for column in pins.read(Project().pins):
        if not column.source:
            made = unpinned(Project().pins, column.framework, column.version, column.backend)
            assert dataclasses.replace(made, tags=()) == dataclasses.replace(column, tags=())


def test_a_folder_of_ours_has_no_releases():
    with pytest.raises(BadInput, match="trainer"):
        unpinned(Project().pins, "trainer", "0.1.0")
    assert release_key("0.23.0-pre.1") < release_key("0.23.0")


def test_an_ad_hoc_column_is_apart_from_the_pinned_ones(fakes, monkeypatch):
    asked = []
    monkeypatch.setattr(
        columns.build, "build", lambda project, column, specs, venv: asked.append(project) or environment.Environment(column=column.id)
    )
    monkeypatch.setattr(columns.build, "lock", lambda project, column: (project.locks / column.lock).write_text("resolved"))
    monkeypatch.setattr(columns, "_venv", lambda *_: fakes.root)
    spec = question(fakes, CELL).spec
    (fakes.locks / "fake-2.0.txt").write_text("pinned")
    for version, lock in (("2.0", "pinned"), ("2.1", "resolved")):
        project, _ = columns.make(fakes, unpinned(fakes.pins, "fake", version), spec)
        assert (project.locks / f"fake-{version}.txt").read_text() == lock
        assert project.locks.is_relative_to(fakes.environments / "bisect")
        assert asked[-1].environments == fakes.environments / "bisect"


# -------------------------------------------------------------------------------------------------------------- the commits


@pytest.fixture
def clone(tmp_path):
    """A clone with a commit a number, tagged like releases at both ends; 5 cannot be asked, from 7 on it is bad."""
    folder = tmp_path / "clone"
    folder.mkdir()

    def git(*arguments):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    for number in range(12):
        (folder / "number").write_text(str(number))
        git("add", "number")
        git("commit", "-q", "-m", f"commit {number}")
    git("tag", "v1.0", "HEAD~11")
    git("tag", "2.0")
    return folder, git


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_git_finds_the_commit_and_the_clone_is_left_alone(clone, tmp_path):
    folder, git = clone
    before = git("status", "--porcelain", "--branch"), git("rev-parse", "HEAD")
    one = commits.Clone(folder, tmp_path / "work")
    old, new = one.commit("1.0", "", ("c",)), one.commit("2.0", "", ("c",))
    asked = []

    def ask(commit):
        number = int((tmp_path / "work" / "number").read_text())
        asked.append(number)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return None if number == 5 else number >= 7

    one.begin(old, new)
    with pytest.raises(KeyboardInterrupt):
        commits.walk(one, ask, bad_before=False)
    one.begin(old, new)  # goes on
    first, candidates = commits.walk(one, ask, bad_before=False)
    assert (git("log", "-1", "--format=%s", first), candidates) == ("commit 7", [])
    assert asked.count(asked[0]) == 1, "what was answered before the stop is not asked again"
    one.end()
    assert not (tmp_path / "work").exists()
    assert before == (git("status", "--porcelain", "--branch"), git("rev-parse", "HEAD"))


def test_commits_that_cannot_be_asked_are_all_named(clone, tmp_path):
    folder, git = clone
    one = commits.Clone(folder, tmp_path / "work")
    one.begin(one.commit("1.0", "", ()), one.commit("2.0", "", ()))

    def ask(commit):
        number = int((tmp_path / "work" / "number").read_text())
        return None if number in (6, 7) else number >= 7

    first, candidates = commits.walk(one, ask, bad_before=False)
    assert first is None
    assert sorted(git("log", "-1", "--format=%s", c) for c in candidates) == ["commit 6", "commit 7", "commit 8"]


def test_a_release_without_a_tag_is_named(clone, tmp_path):
    folder, _ = clone
    with pytest.raises(BadInput, match=r"no commit of 9\.9"):
        commits.Clone(folder, tmp_path / "work").commit("9.9", "", ("c",))


def test_a_search_goes_on_in_a_clone(fakes, built, clone):
    folder, git = clone
    make = columns.make

    def from_checkout(project, column, spec):
        if not column.local:
            return make(project, column, spec)
        # What a build of this checkout answers: the old file's way before commit 7, the new one's after.
        bad = int((fakes.environments / "bisect" / "git").glob("*").__next__().joinpath("number").read_text()) >= 7
        file = fakes.cases / "many" / "run_fake.py"
        wanted = "x + x + x" if bad else "x + x"
        file.write_text(f"def row00(x):\n    return {{'y': x * x, 'dx': {wanted}}}\n")
        from harness import source

        source.functions.cache_clear()
        adhoc = columns.AdHoc(project.root)
        made = environment.Environment(column=column.id, python=sys.executable, local=column.local)
        environment.write(adhoc, made, column)
        return adhoc, made

    columns.make = from_checkout
    try:
        answer = search(fakes, local=folder, old="v1.0", new="2.0")
    finally:
        columns.make = make
    assert git("log", "-1", "--format=%s", answer["commits"]["first"]) == "commit 7"
    assert answer["commits"]["complete"]
    assert any(answer["commits"]["first"] in line for line in answers.lines(answer))
