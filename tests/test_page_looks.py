"""However a reader sees the page: axe finds nothing in any look, and theme, phone, print, no motion and no script are each served."""

from __future__ import annotations

import pytest
from page_visit import LOOKS, SQUARE, drawer

pytest_plugins = ["page_visit"]


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(v["id"], n["html"][:160], n.get("failureSummary", "")[:200]) for v in found for n in v["nodes"]]


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_on_the_page(visit, look):
    assert violations(visit(**LOOKS[look])) == []


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing_in_what_opens(visit, look):
    page = visit(f"#{SQUARE}", **LOOKS[look])
    drawer(page)
    for summary in page.query_selector_all("#drawer summary"):
        summary.click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.select_option("#compare-a", "baseline")
    page.select_option("#compare-b", "now")
    assert violations(page) == []
    page.select_option("#compare-a", "torch-2.15.0")
    page.select_option("#compare-b", "candle-0.11.1")
    assert violations(page) == []
    page.click("#clear")
    page.fill("#find", "status:silent")
    page.fill("#pick-ops", "rms_norm")
    page.evaluate("() => document.querySelectorAll('main details, header details').forEach(d => (d.open = true))")
    page.wait_for_selector("#findings-rows tr")
    assert violations(page) == []


def test_the_theme_follows_the_system_until_it_is_chosen(visit):
    page = visit(color_scheme="dark")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("#theme")
    light = page.evaluate(ground)
    assert dark != light
    page.click("#theme")
    assert page.evaluate(ground) == dark
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: auto"
    assert visit(color_scheme="light").evaluate(ground) == light


def test_a_phone_scrolls_the_table_and_nothing_else(visit):
    page = visit(**LOOKS["phone"])
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.evaluate("() => document.getElementById('matrix').scrollIntoView()")
    page.evaluate(f"() => {{ location.hash = '{SQUARE}' }}")
    drawer(page)
    assert page.evaluate("() => document.getElementById('drawer').getBoundingClientRect().width") == 390


def test_print_has_the_table_and_the_evidence_of_what_changed(visit):
    page = visit(f"#{SQUARE}")
    drawer(page)
    page.wait_for_selector("#appendix article", state="attached")
    page.emulate_media(media="print")
    assert page.is_visible("#appendix")
    assert "rope_axis burn-0.21.0" in page.inner_text("#appendix")
    assert not page.is_visible("#drawer")
    assert not page.is_visible("#find")
    assert page.evaluate("() => getComputedStyle(document.querySelector('.wide-table')).overflow") == "visible"
    assert len(page.pdf()) > 20_000


def test_nothing_moves_for_who_wants_nothing_to_move(visit):
    page = visit(reduced_motion="reduce")
    assert page.evaluate("() => getComputedStyle(document.getElementById('drawer')).animationName") == "none"


def test_without_a_script_the_table_is_there(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("#grid a.sq.silent").count() > 5
    assert page.is_visible("[id='/c/rms_norm_backward/torch-2.15.0']")
    assert not page.is_visible("#find")
    page.check("#grid th:has-text('candle') .older")  # versions unfold by style alone
    assert page.is_visible("[id='/c/rms_norm_backward/candle-0.11.0']")
    assert "view_2" in page.content()
    context.close()
