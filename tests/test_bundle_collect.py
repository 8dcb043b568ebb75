"""What a bundle tells of the machine: what the framework's own collector says, and no absolute path."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import pins
from harness.bundle import collect
from harness.project import Project

NAME = st.text(st.sampled_from("abcxyz019._-+@"), min_size=1, max_size=6).filter(lambda s: s.strip("."))


@given(st.lists(NAME, min_size=2, max_size=5), st.sampled_from(["", "at ", '"', "(", "path=", "\n"]))
def test_no_absolute_path_survives(parts, before):
    text = collect.portable(f"{before}/{'/'.join(parts)}", Project())
    assert not collect.ABSOLUTE.search(text)
    assert parts[-1] in text


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/pytorch/pytorch/issues/1",
        "a/b and c // d",
        "#!/usr/bin/env python3",
        "/dev/null",
        "candle/burn/torch",
        "1 / 2 / 3",
    ],
)
def test_what_is_no_path_of_a_machine_stays(text):
    assert collect.portable(text, Project()) == text


def test_cargos_tree_is_the_collector_of_a_crate(tmp_path, monkeypatch):
    asked = []

    def run(argv, folder, env):
        asked.append(argv[0:2])
        text = "0repro v0.0.0 (/home/someone/repro)\n1candle-core v0.11.1\n" if "tree" in argv else "rustc 1.95.0\nhost: x86_64\n"
        return subprocess.CompletedProcess(argv, 0, text, "")

    monkeypatch.setattr(collect.cargo, "run", run)
    column = next(c for c in pins.read(Project().pins) if c.framework == "candle")
    text = collect.collect(Project(), column, tmp_path)
    assert asked == [["rustc", "-Vv"], ["cargo", "tree"]]
    assert "candle-core v0.11.1" in text
    assert "/home" not in text
