"""What a reader asks of the page and what it then shows: queries, folds, comparisons, the picker, the findings, and what is saved."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest
from page_visit import drawer, rows, seen_columns

pytest_plugins = ["page_visit"]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("case:rms*", ["rms_norm_backward"]),
        ("case:rms* fw:candle status:silent", ["rms_norm_backward"]),
        ("case:rms* fw:torch status:silent", []),
        ("status:hang,crash", ["layout_mismatch", "embedding_of_strided_ids", "muon_dimensionality"]),
        ("dtype:bf16 status:silent fw:torch", ["low_precision_sum"]),
        ("dtype:f64 status:silent fw:torch", []),
        ("class:low-precision", ["low_precision_sum"]),
        ("variant:composed", ["rms_norm_backward"]),
        ("speed<0.5", ["slow_backward"]),
        ("is:timed", ["slow_backward"]),
        ("is:reproduced", ["rms_norm_backward"]),
        ("is:fixed", ["layout_mismatch", "matmul_broadcast_left"]),
        ("rotary embedding -fw:mlx", ["rope_axis"]),
        ("is:different -class:layout -case:low*", ["rms_norm_backward", "rope_axis", "muon_dimensionality", "slow_backward"]),
    ],
)
def test_a_query_leaves_what_it_means(visit, query, shown):
    page = visit(f"#?q={quote(query)}")
    assert [re.sub(r" \d+ .*", "", r) for r in rows(page)] == shown
    page.fill("#find", "")
    assert len(rows(page)) > len(shown)
    page.fill("#find", query)
    assert [re.sub(r" \d+ .*", "", r) for r in rows(page)] == shown
    assert "?q=" in page.url


def test_a_query_that_is_none_says_so(visit):
    page = visit("#?q=colour:red")
    assert "no term colour:" in page.inner_text("#shown")


def test_a_long_group_is_drawn_when_it_is_unfolded(visit):
    page = visit()
    assert page.locator("[id='/c/layout_mismatch:view_2/jax-0.10.2']").count() == 0
    page.check("tbody.group:has-text('layout_mismatch') .unfold")
    assert page.is_visible("[id='/c/layout_mismatch:view_2/jax-0.10.2']")
    page.uncheck("tbody.group:has-text('layout_mismatch') .unfold")
    assert not page.is_visible("[id='/c/layout_mismatch:view_2/jax-0.10.2']")
    page.fill("#find", "case:layout_mismatch:view_3")
    assert page.is_visible("[id='/c/layout_mismatch:view_3/jax-0.10.2']")
    assert page.locator("tr[data-r]:visible").count() == 1


def test_older_versions_are_folded_into_their_framework(visit):
    page = visit()
    assert seen_columns(page).count("candle") == 1
    page.check("#grid th:has-text('candle') .older")
    assert seen_columns(page).count("candle") == 2
    assert page.is_visible("[id='/c/rms_norm_backward/candle-0.11.0']")
    page.fill("#find", "col:candle-0.11.0")
    assert seen_columns(page) == ["candle"]


def test_a_filter_of_the_top_band_shows_what_turned(visit):
    page = visit()
    page.click(".since a:has-text('new')")
    assert "rope_axis" in rows(page)
    assert "low_precision_sum" not in rows(page)


def test_two_columns_are_compared_and_the_address_keeps_it(visit):
    page = visit()
    page.select_option("#compare-a", "torch-2.15.0")
    page.select_option("#compare-b", "candle-0.11.1")
    assert "candle-0.11.1 beside torch-2.15.0" in page.inner_text("#shown")
    assert seen_columns(page) == ["candle", "torch"]  # in the order of the table
    assert page.locator(".went:has-text('worse')").count() > 0
    shown = rows(page)
    again = visit(page.url[page.url.index("#") :])
    assert rows(again) == shown


def test_two_runs_are_compared_and_each_square_says_how_it_went(visit):
    page = visit()
    page.select_option("#compare-a", "baseline")
    page.select_option("#compare-b", "now")
    assert "now beside baseline" in page.inner_text("#shown")
    assert rows(page)[0].startswith("rope_axis")
    assert page.inner_text("[id='/c/rope_axis/burn-0.21.0'] .was") == "baseline: ok; now: silent"
    assert page.locator(".was").count() == page.locator("#grid td:not(.pale) a.sq .was").count()
    shown = rows(page)
    again = visit(page.url[page.url.index("#") :])
    assert rows(again) == shown
    again.select_option("#compare-b", "torch-2.15.0")
    assert again.inner_text("#shown") == "two columns are compared, or two runs"
    again.click("#clear")
    assert again.locator(".was").count() == 0


def test_the_heads_stay_when_the_table_is_scrolled(visit):
    page = visit()
    top = "() => document.querySelector('#grid thead').getBoundingClientRect().top"
    page.check("tbody.group:has-text('layout_mismatch') .unfold")
    before = page.evaluate(top)
    page.evaluate("() => document.querySelector('.wide-table').scrollTo(400, 500)")
    assert page.evaluate("() => document.querySelector('.wide-table').scrollTop") > 100
    assert abs(page.evaluate(top) - before) < 2
    edge = "(name) => document.querySelector(name).getBoundingClientRect().left"
    assert abs(page.evaluate(edge, "#grid tbody:not(.failure) th") - page.evaluate(edge, ".wide-table")) < 3
    page.fill("#find", "rope")
    assert page.evaluate("() => document.querySelector('.wide-table').scrollTop") == 0


def test_the_picker_answers_by_its_rules(visit):
    page = visit()

    def ask(framework, version, words):
        page.select_option("#pick-framework", framework)
        page.select_option("#pick-version", version)
        page.fill("#pick-ops", words)
        return page.inner_text("#picked")

    assert ask("candle", "candle-0.11.1", "rms_norm").startswith("use with this workaround candle-0.11.1")
    assert "its composed path" in page.inner_text("#picked")
    assert "in float64 and float32 only" in ask("candle", "candle-0.11.1", "low_precision")
    assert ask("burn", "burn-0.21.0", "rope").startswith("avoid")
    assert ask("jax", "jax-0.10.2", "rms_norm").startswith("use jax-0.10.2")
    assert "No row names quux" in ask("jax", "jax-0.10.2", "quux")
    assert "no answer" in page.inner_text("#picked")
    assert "Nothing of this is wrong in candle-0.11.1" in ask("candle", "candle-0.11.0", "matmul_broadcast")


def test_findings_come_a_page_at_a_time(visit):
    page = visit()
    page.click("#findings > summary")
    page.wait_for_selector("#findings-rows tr")
    assert page.locator("#findings-rows tr").count() <= 25
    page.fill("#findings-text", "view_2")
    assert "view_2" in page.inner_text("#findings-rows")
    page.click("#findings-rows a >> nth=0")
    assert "layout_mismatch:view_2" in drawer(page)


@pytest.mark.parametrize(("button", "name"), [("#save-csv", "csv"), ("#save-json", "json"), ("#save-md", "md")])
def test_what_is_shown_is_what_is_saved(visit, button, name):
    page = visit("#?q=case:rms*+fw:candle+status:silent")
    with page.expect_download() as download:
        page.click(button)
    content = (download.value.path()).read_text()
    assert download.value.suggested_filename == f"silentbench.{name}"
    assert "rms_norm_backward" in content
    assert "rope_axis" not in content
    if name == "json":
        assert {r["column"] for r in json.loads(content)["records"]} == {"candle-0.11.1"}
    if name == "csv":
        assert content.splitlines()[0].startswith("case,item,framework,version,column")
