"""A check of a bundle is shown to object to everything that is wrong with one."""

import bundled
import pytest
from bundled import WORDS

from harness.bundle import check
from harness.errors import BadInput

repro, answered, known, made = bundled.repro, bundled.answered, bundled.known, bundled.made


def edit(folder, name, text):
    (folder / name).write_text(text)


DEFECTS = [
    ("an empty required field", lambda f: edit(f, "form/description.md", "\n"), "form/description.md: required and empty"),
    ("a missing field", lambda f: (f / "form/actual.md").unlink(), "form/actual.md: required and empty"),
    ("an illegal choice", lambda f: edit(f, "form/backend.md", "Abacus\n"), "'Abacus' is no choice"),
    ("an unknown box", lambda f: edit(f, "form/conditions.md", "- [x] Issue is fun\n"), "no box of the form"),
    ("a missing repro", lambda f: (f / "repro/repro.py").unlink(), "no reproduction"),
    ("a repro without a run", lambda f: (f / "repro/repro.json").unlink(), "repro.json is missing"),
    (
        "a repro that does not reproduce",
        lambda f: edit(f, "repro/repro.json", '{"status": "not-reproduced", "code": 0}'),
        "'not-reproduced'",
    ),
    ("a repro that says it is gone", lambda f: edit(f, "repro/repro.json", '{"status": "reproduced", "code": 0}'), "exit status 0"),
    ("an edited repro", lambda f: edit(f, "repro/repro.py", "import sys; sys.exit(1)"), "not what was run"),
    ("a long address", lambda f: edit(f, "open.url", (f / "open.url").read_text().strip() + "x" * 9000), "bytes; wanted"),
    (
        "an address of another form",
        lambda f: edit(f, "open.url", "https://github.com/huggingface/candle/issues/new?template=other.yml"),
        "does not open",
    ),
    ("no address and no reason", lambda f: (f / "open.url").unlink(), "open.url is missing"),
    ("a path of this machine", lambda f: edit(f, "env.txt", "python: /home/someone/venv/bin/python\n"), "env.txt:1: an absolute path"),
    ("a bad bundle.json", lambda f: edit(f, "bundle.json", '{"schema": 1}'), "bundle.json"),
]


@pytest.mark.parametrize(("plant", "said"), [d[1:] for d in DEFECTS], ids=[d[0] for d in DEFECTS])
def test_a_check_objects_to(made, plant, said):
    folder = made("candle_incorrect_output")
    assert check.problems(folder) == []
    plant(folder)
    assert any(said in problem for problem in check.problems(folder)), check.problems(folder)


def test_two_choices_where_one_is_legal(made):
    folder = made("candle_bug_report")
    edit(folder, "form/platform.md", "Linux\nWindows\n")
    assert any("2 choices; wanted: one" in p for p in check.problems(folder))


def test_an_address_before_a_person_wrote(made):
    folder = made("mlx")
    text = (folder / "human.md").read_text().replace(WORDS, "<!-- later -->")
    (folder / "human.md").write_text(text)
    assert any("human.md has no words for describe" in p for p in check.problems(folder))


def test_no_bundle(tmp_path):
    with pytest.raises(BadInput, match="no bundle"):
        check.problems(tmp_path)
