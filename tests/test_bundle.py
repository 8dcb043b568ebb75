"""A bundle of a fake's lost gradient, on every form that is described; and a check that is shown to object to what is wrong."""

import dataclasses
import json
import re
import subprocess
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from harness import pins, record
from harness.__main__ import app
from harness.ask import Asker
from harness.bisect import answer as answers
from harness.bisect import question
from harness.bundle import check, collect, form, gather, write
from harness.errors import BadInput
from harness.matrix import all_cells
from harness.project import Project

CELL = "scale/lost_gradient@float32"
FORMS = [f.name for f in form.forms()]
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


@pytest.mark.parametrize("name", FORMS)
def test_a_bundle_fits_its_form(made, name):
    folder = made(name)
    assert check.problems(folder) == []
    for document in (
        "expected_actual.md",
        "versions.md",
        "env.txt",
        "human.md",
        "duplicates.md",
        "policy.md",
        "bundle.json",
        "repro/repro.py",
    ):
        assert (folder / document).stat().st_size, document
    texts = "".join(p.read_text() for p in folder.rglob("*") if p.is_file())
    assert "no gradient" in texts
    assert "{{" not in texts
    assert WORDS in (folder / "form" / f"{form.named(name).fields[0].id}.md").read_text()


@pytest.mark.parametrize("name", [f.name for f in form.forms() if f.human])
def test_where_a_person_must_write_there_is_no_address_before(made, name):
    folder = made(name, words=False)
    assert not (folder / "open.url").exists()
    first = form.named(name).fields[0].id
    assert any(f"form/{first}.md: required and empty" in p for p in check.problems(folder))
    assert not (folder / "form" / f"{first}.md").read_text(), "no sentence of ours in a person's place"
    folder = made(name)
    assert (folder / "open.url").exists()
    assert json.loads((folder / "bundle.json").read_text())["human"] == {"required": True, "missing": []}


def test_what_a_person_wrote_stays(made):
    folder = made("mlx")
    before = (folder / "human.md").read_text()
    made("mlx", words=False)
    assert (folder / "human.md").read_text() == before


def test_an_address_opens_the_form_filled_in(made):
    folder = made("candle_incorrect_output")
    address = (folder / "open.url").read_text().strip()
    asked = {k: v[0] for k, v in parse_qs(urlsplit(address).query).items()}
    assert (asked["template"], asked["backend"]) == ("incorrect_output.yml", "CPU")
    assert asked["actual"] == (folder / "form" / "actual.md").read_text().strip()
    assert len(address) <= form.LIMIT_BYTES
    pasted = {f["id"] for f in json.loads((folder / "bundle.json").read_text())["fields"] if f["pasted"]}
    assert pasted == {"conditions"}


def test_what_is_too_long_for_an_address_is_pasted(made, repro):
    (repro / "repro.py").write_text("x = 1\n" * 3000)
    folder = made("candle_incorrect_output")
    assert len((folder / "open.url").read_text().strip()) <= form.LIMIT_BYTES
    assert {"reproduction", "conditions"} <= {f["id"] for f in json.loads((folder / "bundle.json").read_text())["fields"] if f["pasted"]}
    assert len((made("burn") / "open.url").read_text().strip()) <= form.LIMIT_BYTES


def test_what_bisect_found_is_said(fakes, known, repro, made):
    entries = [
        answers.entry(v, [dataclasses.replace(known).record | {"status": s}], ("silent",), source="asked")
        for v, s in (("1.0", "ok"), ("2.0", "silent"))
    ]
    found = {
        "schema": 1,
        "kind": "bisect",
        "cell": known.cell.address,
        "framework": "fake",
        "backend": "",
        "package": "fake",
        "from": "1.0",
        "to": "2.0",
        "bad": ["silent"],
        "pre": False,
        "fresh": False,
        "complete": True,
        "scanned": False,
        "first_bad": "2.0",
        "last_good": "1.0",
        "first_good": None,
        "last_bad": None,
        "flips": [{"before": "1.0", "after": "2.0", "to": "bad", "between": ["1.5"]}],
        "versions": entries,
        "not_asked": [],
        "not_built": {"1.5": "error: no"},
        "yanked": {},
        "pre_releases": [],
        "disagreements": [],
        "commits": None,
        "asked_anew": 2,
        "seconds": 1.0,
        **answers.stamp(),
    }
    answers.write(answers.path(fakes, known.cell.address, "fake"), found)
    facts = gather.gather(fakes, CELL, "fake-1.0", repro)
    assert facts.turned == ("2.0", "1.0", "bisect")
    folder = repro.parent / "with"
    write.write(facts, folder)
    said = (folder / "versions.md").read_text()
    assert "First bad 2.0, last good 1.0 (bisect)" in said
    assert "1.5 could not be asked" in said
    assert "bisect fake" not in said
    assert check.problems(folder) == []
    assert known.turned == ("1.0", "", "matrix")


# ------------------------------------------------------------------------------------------------------------ planted defects


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


# ------------------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("cell", "column", "found"),
    [
        ("scale@float32", "fake-1.0", "is ok"),
        ("scale/lost_gradient@float64", "fake-1.0", "one of float32"),
        ("scale/nan", "fake-1.0", "no current record"),
        (CELL, "fake-*", "names 2 columns"),
        (CELL, "fake-9", "no column"),
    ],
)
def test_bad_input_is_named(fakes, known, repro, cell, column, found):
    with pytest.raises(BadInput, match=re.escape(found)):
        gather.gather(fakes, cell, column, repro)


def test_a_record_of_an_older_question_is_not_reported(fakes, known, repro):
    old, _ = record.read_folder(fakes.baseline)
    record.write_folder(fakes.baseline, [{**r, "asked": "f" * 16} for r in old])
    with pytest.raises(BadInput, match="no current record"):
        gather.gather(fakes, CELL, "fake-1.0", repro)


def test_a_missing_repro_is_named(fakes, known):
    with pytest.raises(BadInput, match=r"no repro of scale/lost_gradient@float32 fake-1\.0"):
        gather.gather(fakes, CELL, "fake-1.0")


def test_the_repro_of_the_latest_results_is_found(fakes, known, repro):
    place = fakes.latest / "repros" / "any"
    place.parent.mkdir(parents=True)
    repro.rename(place)
    assert gather.gather(fakes, CELL, "fake-1.0").repro.folder == place


def test_the_command_makes_and_checks(fakes, known, repro, monkeypatch):
    monkeypatch.setenv("SILENTBENCH_RESULTS", str(fakes.root / "results"))
    base = ["--project", str(fakes.root), "bundle"]
    done = CliRunner().invoke(app, [*base, CELL, "fake-1.0", "--repro", str(repro)])
    assert done.exit_code == 0, done.output
    folder = next((fakes.latest / "bundles").iterdir())
    assert (folder / "env.txt").read_text().startswith("not collected: the collector ended with 1"), "the fake is no distribution"
    assert CliRunner().invoke(app, [*base, "--check", str(folder)]).exit_code == 0
    (folder / "form" / "describe.md").write_text("")
    broken = CliRunner().invoke(app, [*base, "--check", str(folder)])
    assert (broken.exit_code, "required and empty" in broken.output) == (1, True)


# ------------------------------------------------------------------------------------------------------------------- the forms


def test_every_pinned_framework_has_a_form_for_every_failure():
    for column in pins.read(Project().pins):
        for status in ("silent", "crash", "hang", "unstable", "slow", "loud", "differs"):
            for mode in ("eager", "compiled"):
                assert form.choose(column.framework, status, mode).fields
    assert form.choose("candle", "silent", "eager").template == "incorrect_output.yml"
    assert form.choose("candle", "crash", "eager").template == "bug_report.yml"
    assert form.choose("torch", "silent", "compiled").template == "pt2-bug-report.yml"
    assert form.choose("jax", "silent", "eager").kind == "generic"
    with pytest.raises(BadInput, match="is ok"):
        form.choose("torch", "ok", "eager")


def table(**more):
    field = {"id": "a", "kind": "textarea", "fill": "description", "heading": "A"}
    return {
        "project": "a/b",
        "template": "t",
        "kind": "form",
        "read": "2026-11-30",
        "frameworks": [],
        "statuses": ["silent"],
        "fields": [{**field, **more}],
    }


@pytest.mark.parametrize(
    ("more", "said"),
    [({"fill": "poem"}, "no template poem"), ({"kind": "dropdown"}, "no options"), ({"color": "red"}, "color")],
)
def test_a_form_that_cannot_be_filled_in_does_not_load(more, said):
    assert form.parse("x", table()).fields[0].id == "a"
    with pytest.raises(BadInput, match=said):
        form.parse("x", table(**more))


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


def test_a_rust_repro_goes_with_its_manifest_and_lock(known, tmp_path, monkeypatch):
    folder = tmp_path / "rust"
    (folder / "src").mkdir(parents=True)
    (folder / "target").mkdir()
    (folder / "target" / "big").write_text("not copied")
    (folder / "src" / "main.rs").write_text("fn main() {\n    std::process::exit(1)\n}\n")
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "repro"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\ncandle-core = "=0.11.1"\n'
    )
    (folder / "Cargo.lock").write_text("version = 4\n")
    said = {"cell": CELL, "status": "reproduced", "code": 1, "lines": 3, "output": "dx: no gradient"}
    (folder / "repro.json").write_text(json.dumps(said))
    repro = gather.Repro(folder=folder, said=said, main=folder / "src" / "main.rs")
    monkeypatch.setattr(form, "choose", lambda *_: form.named("candle_incorrect_output"))
    made = write.write(dataclasses.replace(known, repro=repro), tmp_path / "made")
    assert check.problems(tmp_path / "made") == []
    assert {n for n in made["files"] if n.startswith("repro/")} == {
        f"repro/{n}" for n in ("Cargo.toml", "Cargo.lock", "src/main.rs", "repro.json")
    }
    code = (tmp_path / "made" / "form" / "reproduction.md").read_text()
    assert code.startswith('// candle-core = "=0.11.1"\nfn main()'), "the form sets it as code: no fence of ours"
    (tmp_path / "made" / "repro" / "Cargo.lock").unlink()
    assert any("Cargo.lock" in p for p in check.problems(tmp_path / "made"))


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


def test_what_the_tracker_says_of_a_sweeps_operation():
    column = next(c for c in pins.read(Project().pins) if c.framework == "mlx")
    cells = question.read(Project(), "grad_index:embedding_outside").cells(Project(), column)
    assert "undefined" in cells[0].spec.tracker("mlx")
    cells = question.read(Project(), "grad_index:embedding").cells(Project(), column)
    assert cells[0].spec.tracker("mlx").startswith("related: ")
