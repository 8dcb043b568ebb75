"""Between two releases the commit is found in a worktree of a clone, which itself is left alone."""

import shutil
import subprocess
import sys

import bisected
import pytest
from bisected import search

from harness import environment
from harness.bisect import answer as answers
from harness.bisect import column as columns
from harness.bisect import commits
from harness.errors import BadInput

built = bisected.built


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
