"""The tables that the page is drawn from: a row a record, the worst of a square, and the newest of a framework."""

from __future__ import annotations

import math
from collections import Counter

import drawn_page
import pytest

from harness.errors import BadInput
from harness.report import table
from harness.verdict import STATUSES

run = drawn_page.run


def test_frame_has_one_row_a_record_and_counts_checks(run):
    tidy = table.frame(run.records)
    assert len(tidy) == len(run.records)
    row = tidy.iloc[next(i for i, r in enumerate(run.records) if r["status"] == "silent" and r["case"] == "low_precision_sum")]
    assert (row["checks"], row["failed"], row["row"]) == (2, 1, "low_precision_sum")
    assert row["worst_ratio"] == pytest.approx(1488522.1)


@pytest.mark.parametrize("wrong", [{"status": "fine"}, {"schema": 2}])
def test_frame_refuses_what_it_cannot_read(run, wrong):
    with pytest.raises(BadInput, match="schema"):
        table.frame([{**run.records[0], **wrong}])


@pytest.mark.parametrize("better", range(1, len(STATUSES)))
def test_the_worst_status_wins_the_square(run, better):
    names = list(STATUSES)
    cells = [{**run.records[0], "dtype": d, "status": s} for d, s in (("float64", names[better]), ("float32", names[better - 1]))]
    (square,) = table.squares(table.frame(cells)).to_dict("records")
    assert (square["status"], square["cells"]) == (names[better - 1], 2)
    assert {s: square[s] for s in names if square[s]} == {names[better]: 1, names[better - 1]: 1}


def test_squares_lose_no_cell(run):
    tidy = table.frame(run.records)
    squares = table.squares(tidy)
    assert squares["cells"].sum() == len(run.records)
    assert (
        squares[list(STATUSES)].sum().to_dict()
        == table.summary(tidy)
        == {s: Counter(r["status"] for r in run.records)[s] for s in STATUSES}
    )
    assert not squares.duplicated(["row", "column"]).any()


def test_latest_keeps_the_last_answer_of_a_cell(run):
    old, new = {**run.records[0], "status": "silent", "at": "2026-01-01T00:00:00Z"}, {**run.records[0], "at": "2026-01-02T00:00:00Z"}
    assert table.latest(table.frame([new, old]))["status"].tolist() == ["ok"]


def test_columns_newest_is_the_newest_stable_and_a_prerelease_sorts_before_its_release(run):
    versions = ["0.9.2", "0.23.0-pre.1", "0.11.1", "0.11.0"]
    cells = [{**run.records[0], "framework": "burn", "version": v, "column": f"burn-{v}"} for v in versions]
    heads = table.columns(table.frame([*cells, run.records[0]]), ["torch", "burn"])
    assert [h.label for h in heads] == ["0.9.2", "0.11.0", "0.11.1", "0.23.0-pre.1", "2.4.6"]
    assert [(h.id, h.newest) for h in heads if h.newest] == [("burn-0.11.1", True), ("numpy-2.4.6", True)]
    assert [h.pre for h in heads] == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([("", "float64", "eager", "silent"), ("composed", "float64", "eager", "ok")], ["composed ok"]),
        ([("", "float64", "eager", "ok"), ("composed", "float64", "eager", "silent")], ["default ok", "composed silent"]),
        ([("", "float64", "eager", "ok"), ("", "bfloat16", "eager", "silent")], ["in bfloat16"]),
        ([("", "float64", "eager", "ok"), ("", "float64", "compiled", "silent")], ["when compiled"]),
        ([("", "float32", "eager", "ok"), ("", "float64", "eager", "error")], ["error in float64"]),
        ([("", "float64", "eager", "silent"), ("", "float32", "eager", "silent")], []),
        ([("", "float64", "eager", "ok"), ("composed", "float64", "eager", "ok")], []),
    ],
)
def test_fold_says_how_the_parts_fared(cells, said):
    assert table.fold([dict(zip(("variant", "dtype", "mode", "status"), c, strict=True)) for c in cells]) == said


@pytest.mark.parametrize(("said", "meant"), [("inf", math.inf), ("nan", math.inf), (None, math.inf), (0.5, 0.5)])
def test_a_ratio_that_is_no_number_never_looks_small(said, meant):
    assert table.number(said) == meant
