"""The repros that the page carries: of today's answer only, cut and visible, and nothing from outside of their folder."""

import json
import shutil

import page_browser
import pytest
import synthetic

from harness import record
from harness.project import Project
from harness.report import repros
from harness.report.packed import blobs, opened
from harness.report.render import render


@pytest.fixture
def run(tmp_path):
    made = synthetic.make(tmp_path)
    page_browser.add_repros(tmp_path, made.records)
    return made


def cell(run, address):
    return next(r for r in run.records if record.address(r) == address)


def folder(run):
    return run.root / "results" / "latest" / "repros" / "rms"


def test_a_repro_that_ran_has_its_files_without_its_lock(run):
    made = repros.read(Project(run.root)).of(cell(run, "rms_norm_backward@float32 candle-0.11.1"))
    assert [name for name, _, _ in made["files"]] == ["src/main.rs", "src/compare.rs", "Cargo.toml"]
    assert (made["lines"], made["seconds"], made["output"]) == (49, 0.015, "dx: WRONG\n")


def test_a_refused_one_has_its_reason_and_no_files(run):
    made = repros.read(Project(run.root)).of(cell(run, "rope_axis@float32 burn-0.21.0"))
    assert (made["status"], "files" in made) == ("cannot", False)
    assert "2556 numbers" in made["reason"]


def test_one_of_an_earlier_answer_is_not_todays(run):
    known = repros.read(Project(run.root))
    today = cell(run, "rms_norm_backward@float32 candle-0.11.1")
    assert known.of({**today, "asked": "0" * 16}) == {"status": "stale"}
    assert known.of({**today, "column": "candle-0.11.0"}) is None


def test_a_link_that_leads_elsewhere_is_not_read(run):
    secret = run.root / "secret.rs"
    secret.write_text("secret")
    (folder(run) / "src" / "other.rs").symlink_to(secret)
    made = repros.read(Project(run.root)).of(cell(run, "rms_norm_backward@float32 candle-0.11.1"))
    assert "secret" not in json.dumps(made)


def test_hostile_and_endless_files_are_made_visible_and_cut(run):
    (folder(run) / "src" / "main.rs").write_bytes(b"\x1b[31m\x00\xff" + b"x" * 10_000_000)
    made = repros.read(Project(run.root)).of(cell(run, "rms_norm_backward@float32 candle-0.11.1"))
    _, text, rest = made["files"][0]
    assert text.startswith("\N{SYMBOL FOR ESCAPE}[31m\N{SYMBOL FOR NULL}\N{REPLACEMENT CHARACTER}")
    assert len(text) == repros.TEXT
    assert rest > 9_000_000


@pytest.mark.parametrize("spoilt", [b"", b"[1]", b"{torn", b"\xff\xfe", b'{"cell": 1}'])
def test_a_folder_or_line_that_cannot_be_read_is_left_out(run, spoilt):
    (folder(run) / "repro.json").write_bytes(spoilt)
    (run.root / "results" / "repros.jsonl").write_bytes(spoilt + b"\n")
    assert not [name for name in repros.read(Project(run.root)).known if "conv1d" not in name]


def test_what_is_on_another_machine_is_as_the_committed_page_shows_it(run):
    project, name = Project(run.root), "rms_norm_backward@float32 candle-0.11.1"
    there = repros.read(project).of(cell(run, name))
    told = json.loads((folder(run) / "repro.json").read_text())
    page = run.root / "results" / "matrix.html"
    page.write_text(render(run.records, run.baseline, run.specs, root=run.root, title_facts=run.facts))
    shutil.rmtree(folder(run).parent)
    assert repros.read(project).of(cell(run, name))["files"] == [list(file) for file in there["files"]]
    assert repros.read(project).of({**cell(run, name), "asked": "0" * 16}) == {"status": "stale"}
    (run.root / "results" / "repros.jsonl").write_text(json.dumps({**told, "executed": True, "valid": True, "asked": "1" * 16}) + "\n")
    assert repros.read(project).of(cell(run, name)) == {"status": "stale"}
    page.write_text(page.read_text().replace('id="blob-repros-0-0">', 'id="blob-repros-0-0">spoilt'))
    assert "files" not in str(repros.read(project).known)


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:20] + packed[24:], lambda packed: packed[: len(packed) // 8 * 4], lambda packed: ""]
)
def test_a_page_that_is_damaged_carries_nothing_over(run, damage):
    drawn = render(run.records, run.baseline, run.specs, root=run.root, title_facts=run.facts)
    packed = blobs(drawn)["repros-0-0"]
    shutil.rmtree(folder(run).parent)
    page = run.root / "results" / "matrix.html"
    page.write_text(drawn)
    assert "files" in str(repros.read(Project(run.root)).known)
    page.write_text(drawn.replace(packed, damage(packed)))
    assert "files" not in str(repros.read(Project(run.root)).known)


def test_the_page_counts_them_and_carries_them_compressed(run):
    html = render(run.records, run.baseline, run.specs, root=run.root, title_facts=run.facts)
    carried = opened(blobs(html)["repros-0-0"])
    (own,) = carried["rms_norm_backward"]["candle-0.11.1"].values()
    assert own["files"][0][1].startswith("fn main()")
    assert "fn main() {" not in html
    assert "<b>1</b> of" in html.partition("<dt>Repros</dt>")[2][:80]
