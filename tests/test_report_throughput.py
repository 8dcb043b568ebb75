"""Throughput is what a reader computes from the rounds of one run, and a number that is missing is a dash."""

from __future__ import annotations

import math

import drawn_page
import pytest
from drawn_page import one

from harness.report import table, text, throughput

run = drawn_page.run


def timed(run, **changes):
    records = [r | changes.get(r["framework"], {}) for r in run.records if r["speed"]]
    heads = {h.id: h for h in table.columns(table.frame(records))}
    return throughput.blocks(records, heads)


def test_throughput_is_what_a_reader_computes_from_the_rounds(run):
    (block,) = timed(run)
    line = next(x for x in block.lines if x.column.id == "burn-0.21.0")
    record, torch = one(run, case="slow_backward", column="burn-0.21.0"), one(run, case="slow_backward", column="torch-2.15.0")
    forward, step = (sorted(record["speed"]["cpu_s"][k])[2] for k in ("forward", "step"))
    assert line.step_flops_s == pytest.approx(10.2e9 / step)
    assert line.backward_forward == pytest.approx((step - forward) / forward)
    assert line.reference_ratio == pytest.approx(step / sorted(torch["speed"]["cpu_s"]["step"])[2])
    peak = max(1.07e9 / sorted(r["speed"]["cpu_s"]["gemm"])[2] for r in run.records if r["speed"])
    assert (block.peak_flops_s, block.peak_column) == (pytest.approx(peak), "torch-2.15.0")
    assert line.peak_share == pytest.approx(10.2e9 / step / peak)


def test_throughput_never_sets_two_runs_side_by_side(run):
    blocks = timed(run, torch={"run": "another"})
    assert len(blocks) == 2
    ours = next(b for b in blocks if b.run != "another")
    assert ours.reference == ""
    assert ours.peak_column != "torch-2.15.0"
    assert all(math.isnan(x.reference_ratio) for x in ours.lines)


def test_throughput_of_a_wrong_answer_is_marked_and_is_no_reference(run):
    (block,) = timed(run, torch={"status": "silent"})
    assert block.reference == ""
    assert {x.column.id for x in block.lines if not x.comparable} == {"torch-2.15.0", "candle-0.11.0"}


@pytest.mark.parametrize("x", [None, math.nan])
def test_a_number_that_is_missing_reads_as_a_dash(x):
    assert {text.seconds(x), text.size(x), text.rate(x), text.ratio(x), text.share(x), text.count(x)} == {text.NOTHING}
