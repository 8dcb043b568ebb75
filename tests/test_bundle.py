"""A bundle of a fake's lost gradient, on every form that is described, and what stops one from being made."""

import dataclasses
import json
import re
from urllib.parse import parse_qs, urlsplit

import bundled
import pytest
from bundled import CELL, WORDS
from typer.testing import CliRunner

from harness import record
from harness.__main__ import app
from harness.bisect import answer as answers
from harness.bundle import check, form, gather, write
from harness.errors import BadInput

repro, answered, known, made = bundled.repro, bundled.answered, bundled.known, bundled.made
FORMS = [f.name for f in form.forms()]


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
