"""Publishing: what becomes the baseline, and what never does. And verify's comparison."""

import pytest

from harness import pins, record, verify
from harness.ask import Asker
from harness.errors import BadInput
from harness.matrix import all_cells
from harness.report import page


@pytest.fixture
def run(fakes, asker):
    cells = {c.variant: c for c in all_cells(fakes, pins.select(pins.read(fakes.pins), ["fake-1.0"])) if c.spec.id == "scale"}
    answers = [asker.ask(cells[v]) for v in ("", "lost_gradient")]
    record.write_folder(fakes.latest, answers)
    return answers


def test_the_latest_run_becomes_the_baseline_and_the_page(fakes, run):
    path = page.write(fakes, publish=True)
    assert path == fakes.root / "results" / "matrix.html"
    published, bad = record.read_folder(fakes.baseline)
    assert (bad, {record.address(r): r for r in published}) == ([], {record.address(r): r for r in run})
    assert "lost_gradient" in path.read_text()


def test_drawing_alone_publishes_nothing(fakes, run):
    page.write(fakes, publish=False)
    assert not fakes.baseline.exists()


def test_a_cell_that_could_not_be_asked_is_not_published(fakes, run):
    record.write_folder(fakes.latest, [{**run[0], "status": "error", "cause": "install"}, run[1]])
    with pytest.raises(BadInput, match="1 records cannot be published"):
        page.write(fakes, publish=True)
    assert not fakes.baseline.exists()


def test_a_cell_without_its_device_is_published_as_that(fakes, run):
    record.write_folder(fakes.latest, [{**run[0], "status": "error", "cause": "device"}, run[1]])
    page.write(fakes, publish=True)
    assert {r["cause"] for r in record.read_folder(fakes.baseline)[0] if r["status"] == "error"} == {"device"}


def test_a_local_column_is_drawn_and_not_published(fakes, run):
    local = {**run[0], "column": "fake-local", "environment": {**run[0]["environment"], "local": "a checkout"}}
    record.write_folder(fakes.latest, [*run, local])
    assert "fake-local" in page.write(fakes, publish=False).read_text()
    page.write(fakes, publish=True)
    assert {r["column"] for r in record.read_folder(fakes.baseline)[0]} == {"fake-1.0"}


def test_a_stale_record_is_neither_drawn_nor_published(fakes, run):
    record.write_folder(fakes.latest, [run[0], {**run[1], "asked": "0" * 16}])
    page.write(fakes, publish=True)
    assert [r["variant"] for r in record.read_folder(fakes.baseline)[0]] == [""]


def test_a_partial_run_keeps_the_rest_of_the_baseline(fakes, run):
    page.write(fakes, publish=True)
    (fakes.baseline / "gone-1.0.jsonl").write_text("")
    (fakes.latest / "fake-1.0.jsonl").unlink()
    record.write_folder(fakes.latest, run[:1])
    page.write(fakes, publish=True)
    assert len(record.read_folder(fakes.baseline)[0]) == 2
    assert not (fakes.baseline / "gone-1.0.jsonl").exists()


def check(name, *, holds, got):
    return {"check": name, "holds": holds, "got": got}


@pytest.mark.parametrize(
    ("now", "differences"),
    [
        ([check("y", holds=False, got=256.0), check("dx", holds=True, got=1.0)], []),
        ([check("y", holds=False, got=257.0), check("dx", holds=True, got=5.0)], []),
        ([check("y", holds=False, got=300.0), check("dx", holds=True, got=1.0)], ["y: got"]),
        ([check("y", holds=False, got="no gradient"), check("dx", holds=True, got=1.0)], ["y: got"]),
        ([check("y", holds=True, got=256.0), check("dx", holds=True, got=1.0)], ["y"]),
        ([check("y", holds=False, got=256.0)], ["dx"]),
    ],
)
def test_verify_compares_failures_and_their_values(run, now, differences):
    old = {**run[1], "checks": [check("y", holds=False, got=256.0), check("dx", holds=True, got=1.0)]}
    assert [d.what for d in verify.compare(old, {**old, "checks": now})] == differences


def test_verify_sees_a_changed_status(run):
    assert [d.what for d in verify.compare(run[0], {**run[0], "status": "loud"})] == ["status"]


def test_the_asker_is_left_clean(fakes):
    with Asker(fakes, run="test") as asker:
        folder = asker.folder
        assert folder.exists()
    assert not folder.exists()
