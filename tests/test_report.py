"""The page and its tables: what must be on it, what must never get through, and that it reads without a script."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
import time
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
import synthetic

from harness.errors import BadInput
from harness.record import row_of
from harness.report import table, text, throughput
from harness.report.render import TEMPLATES, render
from harness.verdict import STATUSES

VOID = {"meta", "input", "br", "path", "use", "wbr", "img", "link", "base"}


class Page(HTMLParser):
    """Elements with their attributes and text; refuses tags that do not nest."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> at line {self.getpos()[0]} closes something else"

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.text.append(data)

    def attributes(self, name):
        return [a[name] for _, a in self.elements if name in a]

    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return synthetic.make(tmp_path_factory.mktemp("project"))


def page_of(run, records=None, **options):
    given = {"baseline": run.baseline, "specs": run.specs, "title_facts": run.facts, **options}
    return render(run.records if records is None else records, given.pop("baseline"), given.pop("specs"), root=run.root, **given)


@pytest.fixture(scope="module")
def html(run):
    return page_of(run)


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def blobs_of(html):
    found = re.findall(r'<script type="application/octet-stream" id="blob-([a-z0-9-]+)">([A-Za-z0-9+/=]*)</script>', html)
    return {name: json.loads(gzip.decompress(base64.b64decode(content))) for name, content in found}


def squares_of(blobs):
    """Row -> column -> its records."""
    return {row: found for name, b in blobs.items() if name.startswith("records-") for row, found in b.items()}


def case_of(blobs, case):
    return blobs[f"case-{[c[0] for c in blobs['index']['cases']].index(case)}"]


@pytest.fixture(scope="module")
def blobs(html):
    return blobs_of(html)


def one(run, **wanted):
    return next(dict(r) for r in run.records if all(r[k] == v for k, v in wanted.items()))


# ---------------------------------------------------------------------------------------------------------------- tables


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


# ------------------------------------------------------------------------------------------------------- self-contained


def test_page_is_well_formed_and_every_link_inside_it_arrives(page, blobs):
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    inside = {h[1:] for h in page.attributes("href") if h.startswith("#")}
    filters = {h for h in inside if h.startswith("?q=")}
    drawn = {f"/c/{row}/{column}" for row, found in squares_of(blobs).items() for column in found}
    assert inside - filters - drawn <= set(ids)  # a square of a folded group is drawn by the script
    assert filters
    assert not any(re.search(r"\s", i) for i in ids)


def test_page_fetches_nothing(page, html):
    assert not {t for t, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "form", "base", "audio", "video"}
    assert not page.attributes("src")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML|insertAdjacentHTML|document\.write|eval\(", html)
    policy = next(a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    assert re.fullmatch(
        "default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'", policy
    )
    for tag, body in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        (content,) = re.findall(body, html, flags=re.DOTALL)
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'" in policy
    assert not page.attributes("style")
    outside = [h for h in page.attributes("href") if not h.startswith("#")]

    assert all(h.startswith("https://") for h in outside)


def test_page_without_a_script_says_the_same(html):
    bare = Page(re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL))
    assert bare.words() == Page(html).words()
    hidden = [a for _, a in bare.elements if "hidden" in a]
    assert all("scripted" in a.get("class", "") or a.get("id") == "drawer" for a in hidden)  # what a script shows


HOSTILE = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href='javascript:alert(3)'>"


def test_nothing_a_framework_prints_gets_through(run):
    records = [dict(r) for r in run.records]
    for record in records:
        record |= {"message": HOSTILE, "log": HOSTILE * 3, "cause": "build" if record["status"] == "error" else None}
        record["checks"] = [{**c, "got": HOSTILE, "note": HOSTILE, "check": HOSTILE} for c in record["checks"]]
        record["environment"] = {**record["environment"], "cpu": HOSTILE, "facts": {HOSTILE: HOSTILE}}
    records += [
        {
            **records[0],
            "case": HOSTILE,
            "column": HOSTILE,
            "variant": HOSTILE,
            "dtype": HOSTILE,
            "run": HOSTILE,
            "at": HOSTILE,
            "file": HOSTILE,
        }
    ]
    facts = {**run.facts, "command": HOSTILE, "cpu": HOSTILE}
    dirty = Page(page_of(run, records, title_facts=facts))
    clean = Page(page_of(run))
    assert (
        [a for t, a in dirty.elements if t == "script" and "type" not in a]
        == [{}]
        == [a for t, a in clean.elements if t == "script" and "type" not in a]
    )
    assert {a["type"] for t, a in dirty.elements if t == "script" and a} == {"application/octet-stream"}
    assert "img" not in {t for t, _ in dirty.elements}
    assert not [a for _, attributes in dirty.elements for a in attributes if a.startswith("on")]
    assert not [h for h in dirty.attributes("href") if not h.startswith(("#", "https://"))]
    assert "alert(1)" in dirty.words()  # shown, as text


def test_a_note_links_only_to_the_web():
    assert text.links("see https://a.org/x?y=1. javascript:alert(1)") == [
        ("see ", False),
        ("https://a.org/x?y=1", True),
        (". javascript:alert(1)", False),
    ]


def test_four_hundred_cells_are_small_and_fast(tmp_path):
    run = synthetic.make(tmp_path, cells=400)
    start = time.process_time()
    html = page_of(run)
    assert time.process_time() - start < 2
    assert len(html.encode()) < 1_500_000
    assert len(run.records) >= 400


# -------------------------------------------------------------------------------------------------------- what is on it


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


@pytest.mark.parametrize("path", ["../secret.txt", "cases/gone.py", "/etc/hostname"])
def test_a_file_outside_the_project_is_never_read(run, path):
    (run.root.parent / "secret.txt").write_text("the secret")
    carried = json.dumps(blobs_of(page_of(run, [{**run.records[0], "file": path}])))
    assert "the secret" not in carried
    assert "not in the project any more" in carried


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


@pytest.mark.parametrize(("said", "meant"), [("inf", math.inf), ("nan", math.inf), (None, math.inf), (0.5, 0.5)])
def test_a_ratio_that_is_no_number_never_looks_small(said, meant):
    assert table.number(said) == meant


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


# ------------------------------------------------------------------------------------------------------------ throughput


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


def test_source_files_stay_short():
    folder = Path(TEMPLATES).parent
    assert {
        p.name: n for p in folder.rglob("*") if p.suffix in (".py", ".j2", ".js") and (n := len(p.read_text().splitlines())) > 300
    } == {}
