"""What the page carries and draws: texts made visible, rates, several runs, scales, repros, and a benchmark that says what it measures."""

import math

import pytest
import synthetic

from harness import record
from harness.report import evidence, nights, packed, payload, plots, render, table, throughput

# ---------------------------------------------------------------------------------------------------------------- packed


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", "\N{SYMBOL FOR ESCAPE}[31mred"),
        ("a\x00b\x7f", "a\N{SYMBOL FOR NULL}b\N{SYMBOL FOR DELETE}"),
        ("line\n\ttab", "line\n\ttab"),
        ("over\u202ewritten\u2069", "over\ufffdwritten\ufffd"),
        ("lone \ud800", "lone \ufffd"),
        ("\x9b1m", "\ufffd1m"),
        ("naïve ∞ 🙂", "naïve ∞ 🙂"),
    ],
)
def test_what_would_not_be_seen_is_made_visible(raw, shown):
    assert packed.tidy({"log": raw, raw: [raw]}) == {"log": shown, shown: [shown]}


def test_a_plain_value_is_left_as_it_is():
    value = {"log": "ok", "checks": [{"ratio": 0.5}]}
    assert packed.tidy(value) is value


def test_a_long_log_keeps_its_end_and_any_other_text_its_beginning():
    tidy = packed.tidy({"log": "x" * 9_000 + "end", "message": "begin" + "y" * 9_000})
    assert tidy["log"].startswith("[7003 characters before this are in the record]\n")
    assert tidy["log"].endswith("end")
    assert tidy["message"].startswith("begin")
    assert tidy["message"].endswith("[5005 more characters are in the record]")


@pytest.mark.parametrize(("number", "word"), [(math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan")])
def test_json_has_no_infinity(number, word):
    assert packed.tidy({"ratio": number}) == {"ratio": word}
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed.blob([number])


def test_a_blob_opens_to_what_went_in_and_is_the_same_each_time():
    value = {"a": ["</script>", "\N{SYMBOL FOR NULL}"], "n": 1.5}
    assert packed.opened(packed.blob(value)) == value
    assert packed.blob(value) == packed.blob(value)


# -------------------------------------------------------------------------------------------------------------- evidence


def cell(**changes):
    return {"status": "silent", "dtype": "float32", "message": "", "checks": [], **changes}


def failed(note):
    return [{"check": "value", "holds": False, "note": note}]


@pytest.mark.parametrize(
    ("record", "rate"),
    [
        (cell(status="unstable", message="fails 3 of 10 (95 % interval 11% to 60%): y"), (3, 10)),
        (cell(status="unstable", message="fails now and then"), None),
        (cell(message="fails 3 of 10"), None),  # only an unstable cell was asked more than once
        (cell(dtype="all", checks=failed("y; float32; x [2]; 24 of 60 examples")), (24, 60)),
        (cell(dtype="all", checks=failed("y; 60 of 60 examples")), None),
        (cell(dtype="all", status="ok", checks=failed("y; 24 of 60 examples")), None),
    ],
)
def test_a_rate_is_what_was_counted_and_neither_none_nor_all(record, rate):
    assert evidence.rate(record) == rate


def test_a_chunk_of_records_is_bounded_and_no_row_is_lost(tmp_path):
    run = synthetic.make(tmp_path, cells=2_000)
    heads = {h.id: h for h in table.columns(table.frame(run.records))}
    (rows,) = [
        c.rows for c in evidence.Evidence(specs={}, change=lambda _: "", columns=heads).cases(run.records) if c.id == "layout_mismatch"
    ]
    chunks = list(payload._chunks(rows))
    assert len(chunks) > 2
    assert [r for chunk in chunks for r in chunk] == list(rows)
    assert all(sum(len(s.records) for r in chunk for s in r.squares.values()) <= payload.CHUNK for chunk in chunks)


def test_what_could_not_be_asked_is_counted_by_its_reason():
    errors = [{"status": "error", "cause": "device", "message": "no GPU"}] * 3 + [{"status": "error", "cause": None, "message": ""}]
    assert payload.reasons([*errors, {"status": "ok"}]) == [("device", "no GPU", 3), ("unknown", "", 1)]


# ------------------------------------------------------------------------------------------------------- runs and scales


def kept_run(run, folder, **changes):
    found = [{**r, "run": folder.name, **changes.get(r["column"], {})} for r in run.records]
    record.write_folder(folder, found)


def test_earlier_runs_are_read_in_order_and_what_changed_is_kept(tmp_path):
    run = synthetic.make(tmp_path / "project")
    for name in ("20261101", "20261102"):
        kept_run(run, tmp_path / "nightly" / name, **({"jax-0.10.2": {"status": "silent"}} if name == "20261101" else {}))
    (tmp_path / "nightly" / "20261102" / "torn-1.0.jsonl").write_text('{"schema":')
    runs = nights.read(tmp_path / "nightly")
    assert [name for name, _ in runs] == ["20261101", "20261102"]
    heads = {h.id: h for h in table.columns(table.frame(run.records))}
    view = nights.view(runs, run.records, heads)
    assert view.runs == ("20261101", "20261102", "now")
    assert view.statuses["rms_norm_backward/jax-0.10.2"] == ["silent", "ok", "ok"]
    assert "rms_norm_backward/torch-2.15.0" not in view.statuses
    ratios = view.ratios["slow_backward", "torch-2.15.0", "", "float32"]
    assert ratios == [1.0, 1.0, 1.0]
    assert math.isnan(view.ratios["slow_backward", "jax-0.10.2", "", "float32"][0])  # wrong then: its speed is not comparable


def test_without_earlier_runs_there_is_nothing_to_draw(tmp_path):
    assert nights.read(tmp_path) == []
    assert nights.view([], [], {}).runs == ()
    assert nights.view([], [], {}).compared == ()


def test_the_baseline_is_a_run_to_compare_with_and_no_point_of_a_sparkline(tmp_path):
    run = synthetic.make(tmp_path)
    heads = {h.id: h for h in table.columns(table.frame(run.records))}
    view = nights.view([], run.records, heads, run.baseline)
    assert (view.runs, view.compared, view.ratios) == ((), ("baseline", "now"), {})
    assert view.statuses["rope_axis/burn-0.21.0"] == ["ok", "silent"]


def test_a_page_with_runs_has_sparklines_and_one_without_has_none(tmp_path):
    run = synthetic.make(tmp_path)
    page = {
        bool(runs): render.render(run.records, run.baseline, run.specs, root=tmp_path, title_facts=run.facts, runs=runs)
        for runs in ([], [("20261101", run.records)])
    }
    assert '<svg class="spark"' in page[True]
    assert '<svg class="spark"' not in page[False]


@pytest.mark.parametrize(("x", "place"), [(0.25, 0), (1, plots.WIDTH * 2 / 7), (32, plots.WIDTH), (1000, plots.WIDTH), (0, 0)])
def test_the_scale_is_logarithmic_and_ends_at_its_edges(x, place):
    assert plots.ratio(x) == pytest.approx(place)
    assert plots.leaves(x) == (x in (0, 1000))


def test_a_sparkline_is_cut_where_a_run_has_no_number():
    assert plots.spark([1.0, math.nan]) == ""
    line = plots.spark([1.0, 1.1, math.nan, 1.2])
    assert (line.count("M"), line.count("L")) == (2, 1)
    heights = [float(p.split(",")[1]) for p in line.replace("L", "M").split("M")[1:]]
    assert heights == sorted(heights, reverse=True)  # slower is higher


def test_a_bar_is_torchs_time_by_its_own_and_a_wrong_answer_has_none(tmp_path):
    run = synthetic.make(tmp_path)
    heads = {h.id: h for h in table.columns(table.frame(run.records))}
    shares = throughput.shares(throughput.blocks(run.records, heads))
    assert shares["slow_backward", "torch-2.15.0"] == 1
    assert 0.2 < shares["slow_backward", "candle-0.11.1"] < 0.7
    assert ("slow_backward", "candle-0.11.0") not in shares


def test_the_arithmetic_of_a_backward_is_that_of_its_step_less_the_forward(tmp_path):
    run = synthetic.make(tmp_path)
    heads = {h.id: h for h in table.columns(table.frame(run.records))}
    (block,) = throughput.blocks(run.records, heads)
    assert block.arithmetic == pytest.approx((10.2 - 3.4) / 3.4)
    low, high = next(x.reference_spread for x in block.lines if x.column.id == "jax-0.10.2")
    assert low <= next(x.reference_ratio for x in block.lines if x.column.id == "jax-0.10.2") <= high
