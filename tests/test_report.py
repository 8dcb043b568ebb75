"""What the page says of a run: every status, the evidence, what changed, what is missing, and first of all whether it can be relied on."""

from __future__ import annotations

import json
import re
from collections import Counter

import drawn_page
import pytest
from drawn_page import Page, blobs_of, one, page_of, squares_of

from harness.errors import BadInput
from harness.record import row_of
from harness.report import table
from harness.report.render import TEMPLATES
from harness.verdict import STATUSES

run, html, page, blobs = drawn_page.run, drawn_page.html, drawn_page.page, drawn_page.blobs


def test_every_status_has_a_glyph_a_word_and_a_meaning(page, html):
    for status, meaning in STATUSES.items():
        assert f'<symbol id="g-{status}"' in html
        assert f'class="chip {status}"' in html
        assert meaning in page.words()


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_text_stands_out_in_both_themes(theme):
    style = (TEMPLATES / "palette.j2").read_text()
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", style.split("{% set dark %}")[theme]))
    pairs = [(f"{s}-ink", f"{s}-fill") for s in (*STATUSES, "new", "fixed", "changed")]
    pairs += [("error-ink", "error-stripe"), ("alarm-ink", "alarm"), ("ink", "bar")]
    pairs += [(f"code-{c}", "soft") for c in "cskfnb"]
    pairs += [(ink, ground) for ink in ("ink", "muted", "link") for ground in ("page", "panel", "soft")]
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    too_weak = {p: round(contrast(colours[p[0]], colours[p[1]]), 2) for p in pairs if contrast(colours[p[0]], colours[p[1]]) < 4.5}
    assert not too_weak


def test_a_square_names_its_status_and_links_to_its_evidence(html):
    link = "/c/rms_norm_backward/candle-0.11.1"
    assert re.search(rf'<a class="sq silent" id="{link}" href="#{link}">.*?silent</span><small>composed ok</small></a>', html)


def test_the_evidence_is_the_records_themselves(run, blobs):
    found = squares_of(blobs)
    kept = [r for row in found.values() for records in row.values() for r in records]
    environments = blobs["index"]["environments"]
    assert sorted(json.dumps({**r, "environment": environments[r["environment"]]}) for r in kept) == sorted(
        json.dumps(r).replace("Infinity", '"inf"') for r in run.records
    )


def test_the_index_says_what_the_records_say(run, blobs):
    index = blobs["index"]
    for (row, *_), flat in zip(index["rows"], index["squares"], strict=True):
        for column, place in zip(flat[::2], flat[1::2], strict=True):
            status, _, _, kinds = index["types"][place]
            mine = [r for r in run.records if row_of(r) == row and r["column"] == index["columns"][column]["id"]]
            assert Counter(index["kinds"][k][3] for k in kinds) == Counter(r["status"] for r in mine)
            assert status == table.worst(r["status"] for r in mine)


def case_of(blobs, case):
    return blobs[f"case-{[c[0] for c in blobs['index']['cases']].index(case)}"]


def test_what_a_case_allows_and_links_is_carried_once_a_row(blobs):
    about = case_of(blobs, "rms_norm_backward")["rows"]["rms_norm_backward"]
    assert about["allowed"][0] == ["every output", "float64", 8 * 2.0**-52, 2.0**-52, "a sum of 4 products: at most 8 roundings of 2^-52"]
    assert "open: fused norms have no backward" in about["tracker"]["candle"]
    assert about["explained"] == {"dy:first row reused": "the two rows are equal by construction"}


def test_a_run_file_is_carried_once_and_one_that_changed_is_called_so(run, html, blobs):
    files = [f for name, b in blobs.items() if name.startswith("case-") for f in b["files"].values()]
    assert sorted(f["path"] for f in files) == sorted({r["file"] for r in run.records if r["file"]})
    assert not any(f["note"] for f in files)
    rust = next(f for f in files if f["path"].endswith("rms_norm_backward/run_candle.rs"))
    source = "\n".join("".join(piece for _, piece in line) for line in rust["lines"])
    assert source.strip() == (run.root / rust["path"]).read_text().strip()
    assert ["k", "use "] in [p for line in rust["lines"] for p in line]
    record = one(run, case="rope_axis", column="candle-0.11.1")
    changed = blobs_of(page_of(run, [{**record, "file_sha256": "0" * 64}]))
    assert "changed since this run" in json.dumps(changed["case-0"])


def test_changes_are_those_that_the_judge_of_changes_says(run):
    plain = page_of(run, change=lambda now, _: "new" if now["column"] == "mlx-0.32.4" and now["case"] == "rope_axis" else "same")
    listed = re.findall(
        r'<li><span class="chip [a-z]+">.*?</li>', plain.split('id="changes-new"')[1].split('id="changes-fixed"')[0], flags=re.DOTALL
    )
    assert len(listed) == 1
    assert "rope_axis/mlx-0.32.4" in listed[0]


def test_harness_verdict_is_the_judge_where_none_is_given(html, page):
    assert "▲ new 5 ▽ fixed 2 ◇ changed 0" in page.words()
    assert 'href="#?q=is:new"' in html


def test_without_a_baseline_nothing_is_marked(run):
    html = page_of(run, baseline=[])
    assert 'class="mark' not in html
    assert "No baseline of this platform yet" in html


def test_what_was_not_measured_is_not_zero(run):
    words = Page(page_of(run, title_facts={})).words()
    assert "Planted errors noticed not measured" in words
    assert "Healthy twins accused not measured" in words


def test_the_cost_of_the_harness_and_what_was_left_out_are_said(run):
    facts = {**run.facts, "overhead": {"per_cell_cpu_s": 0.0123, "cells": 389}, "broken_lines": 2}
    words = Page(page_of(run, title_facts=facts)).words()
    assert "12.3 ms of CPU a cell, over 389 cells" in words
    assert "2 unreadable lines of the record files left out" in words


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"mutants": {"killed": 410, "total": 415, "explained": 3}}, "2 planted errors of 415 went unnoticed"),
        ({"twins_accused": 1}, "1 healthy twins were accused"),
        ({"harness_errors": 2}, "2 cells could not be asked through a fault of the harness"),
    ],
)
def test_a_page_that_cannot_be_relied_on_says_so_first(run, page, facts, says):
    assert "Do not rely on this page yet" not in page.words()
    assert says in Page(page_of(run, title_facts={**run.facts, **facts})).words()


def test_an_accused_control_is_said_first(run):
    records = [{**r, "status": "silent"} if r["column"] == "numpy-2.4.6" and r["case"] == "rope_axis" else r for r in run.records]
    assert "The control column is accused: rope_axis (silent)" in Page(page_of(run, records)).words()


def test_our_own_trainer_is_marked_and_is_nobodys_choice(run, page):
    records = [
        {**r, "framework": "trainer", "column": "trainer-0.1.0", "version": "0.1.0"} if r["framework"] == "torch" else r
        for r in run.records
    ]
    html = page_of(run, records)
    assert '<span class="version">0.1.0</span> <span class="tag">ours</span>' in html
    assert "<b>trainer</b>" not in html.partition('id="maintaining"')[0]
    assert "<b>ours</b>" in html
    assert " ours" not in page.words()


def test_a_square_without_a_record_is_drawn_as_such_and_a_row_without_any_is_named(run):
    records = [r for r in run.records if r["case"] != "muon_dimensionality" and not (r["case"] == "rope_axis" and r["framework"] == "burn")]
    html = page_of(run, records)
    assert html.count('<span class="gap">not in this run</span>') == 2
    assert "1 known row not in this run" in Page(html).words()
    assert 'id="/r/muon_dimensionality"' not in html


def test_a_record_whose_case_is_gone_is_kept(run):
    words = Page(page_of(run, [{**run.records[0], "case": "gone_case"}])).words()
    assert "no case of this name any more" in words


def test_choosing_counts_rows_asked_of_the_newest_version(page):
    assert "candle 0.11.1 4 silent of 12 asked rows (1 absent)" in page.words()


def test_no_records_is_refused(run):
    with pytest.raises(BadInput, match="no records"):
        page_of(run, [])
