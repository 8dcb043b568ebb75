"""The page as its reader has it, in a real Chromium: keys, permalinks, filters, drawers, looks; nothing for axe and nothing on the console."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, quote

import page_browser
import pytest

if page_browser.missing():
    pytest.skip(page_browser.missing(), allow_module_level=True)

SQUARE = "/c/rms_norm_backward/candle-0.11.1"
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "forced": {"forced_colors": "active"},
}


@pytest.fixture(scope="module")
def browser():
    with page_browser.chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return page_browser.written(tmp_path_factory.mktemp("page")).as_uri()


@pytest.fixture(scope="module")
def opened(browser, address):
    """Opens pages; one of them, the standing one, serves every test that wants no page of its own."""
    said, contexts = [], []

    def page_at(at, **options):
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, "accept_downloads": True, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(page_browser.PATIENCE_MS)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith(("file:", "blob:")) else said.append(f"asked for {request.url}"))
        page_browser.ready(page, at)
        return page

    page_at.said, page_at.contexts, page_at.standing = said, contexts, page_at(address)
    yield page_at
    for context in contexts:
        context.close()


@pytest.fixture
def visit(opened, address):
    """A page at a hash, as it is when it has just been opened; at the end the console must have stayed empty, and no dialog of the browser have come."""

    def go(hash_="", *, at=address, **options):
        if at != address or options:
            return opened(at + hash_, **options)
        opened.standing.evaluate(FRESH)
        opened.standing.wait_for_function("() => !location.hash && document.getElementById('drawer').hidden")
        if hash_:
            opened.standing.evaluate("(to) => { location.hash = to }", hash_)
            settled = "(q) => document.getElementById('find').value === q || document.getElementById('said').textContent"
            opened.standing.wait_for_function(settled, arg=parse_qs(hash_.partition("?")[2]).get("q", [""])[0])
        return opened.standing

    yield go
    for context in opened.contexts[1:]:
        context.close()
    del opened.contexts[1:]
    assert opened.said == []


FRESH = """() => {
  location.hash = '';
  document.getElementById('said').textContent = '';
  document.activeElement.blur();
  document.getElementById('help').close();
  document.querySelectorAll('details[open]:not(.speeds)').forEach((d) => (d.open = false));
  for (const box of document.querySelectorAll('.older:checked, .unfold:checked')) if (box.checked !== box.defaultChecked) box.click();
  scrollTo(0, 0);
}"""


def drawer(page):
    """The drawer's text, once something is in it."""
    page.wait_for_selector("#drawer:not([hidden]) #drawer-body > *")
    return page.inner_text("#drawer")


def where(page):
    """The row and column that have the focus."""
    return page.evaluate(
        "() => { const c = document.activeElement.closest('td,th'); return c && [c.parentElement.dataset.r ?? null, c.dataset.k ?? null] }"
    )


def focus(page, link):
    page.evaluate("(id) => document.getElementById(id).focus()", link)


def rows(page):
    return page.evaluate(
        "() => [...document.querySelectorAll('#grid tbody:not(.failure) tr')].filter(t => t.offsetParent).map(t => t.cells[0].innerText.split('\\n')[0].trim())"
    )


def seen_columns(page):
    return page.evaluate(
        "() => [...document.querySelectorAll('#grid thead [data-k]')].filter(t => t.offsetParent).map(t => t.innerText.split('\\n')[0].trim())"
    )


# ------------------------------------------------------------------------------------------------------------------ axe


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


# ----------------------------------------------------------------------------------------------------------- what it says


def test_the_drawer_tells_the_whole_story(visit):
    told = drawer(visit(f"#{SQUARE}"))
    for part in (
        "RMSNorm's backward reaches the input and the weight",
        "dx present",
        "no gradient",
        "GRADIENTS" if "GRADIENTS" in told else "Gradients",
        "cases/rms_norm_backward/run_candle.rs",
        "composed: ok",
        "fused norms have no backward",
        'python3 noxfile.py -s "cells(candle-0.11.1)" -- -k "rms_norm_backward"',
        "lock hash",
        "bad in every version asked: 0.11.0 to 0.11.1",
        "run 20261129-1404-x1",
    ):
        assert part in told


def test_run_files_stand_beside_each_other_with_their_colours(visit):
    page = visit(f"#{SQUARE}")
    drawer(page)
    assert page.locator("#drawer .beside figure").count() == 2
    assert page.locator("#drawer .code .t-k").count() > 4


def test_a_timed_square_shows_its_rounds(visit):
    page = visit("#/c/slow_backward/burn-0.21.0")
    assert "A/A" in drawer(page)
    assert page.locator("#drawer .plot circle").count() == 15  # three functions, five rounds


def test_a_sweep_shows_its_rate_and_its_example(visit):
    page = visit("#/c/layout_mismatch:view_3/candle-0.11.1")
    told = drawer(page)
    assert "24 of 60 runs" in told or "24 of 60 examples" in told
    page.click("text=The example, as numbers")
    assert '"values":[0.5,1]' in page.inner_text("#drawer")


def test_records_are_shown_as_they_were_kept(visit):
    page = visit(f"#{SQUARE}")
    drawer(page)
    page.click("text=Records, as they were kept")
    record = json.loads(page.inner_text("#drawer-body > details:last-child pre >> nth=0"))
    assert (record["case"], record["environment"]["platform"]) == ("rms_norm_backward", "linux-x86_64")


def test_a_red_cell_shows_its_repro_with_copy_buttons(visit):
    page = visit(f"#{SQUARE}")
    told = drawer(page)
    assert "Reproduced: default · float32 in 49 lines and 15 ms" in told
    assert "fn main() {" in told
    assert "not shown" not in told
    assert ".venv/bin/python -m harness repro rms_norm_backward@float32 candle-0.11.1" in told
    page.click("#drawer button:has-text('To its repro')")
    assert page.evaluate("() => document.activeElement.innerText") == "Copy src/main.rs"
    page.click("#drawer summary:has-text('Cargo.toml')")
    for name in ("src/main.rs", "Cargo.toml"):
        page.click(f"#drawer button:has-text('Copy {name}')")
        page.wait_for_function("(said) => document.getElementById('said').textContent === said", arg=f"{name} copied")


@pytest.mark.parametrize(
    ("square", "why"),
    [
        ("/c/rope_axis/burn-0.21.0", "It could not be made or run: dy has 2556 numbers"),
        ("/c/layout_mismatch:conv1d_weight/candle-0.11.1", "of an earlier answer than this"),
        ("/c/low_precision_sum/torch-2.15.0", "None was made of this answer yet"),
        ("/c/slow_backward/burn-0.21.0", "None is made of this"),
    ],
)
def test_a_red_cell_without_a_repro_says_why(visit, square, why):
    told = drawer(visit(f"#{square}"))
    assert why in told
    assert ("-m harness repro" in told) == ("slow" not in square)


def test_a_healthy_square_speaks_of_no_repro(visit):
    assert "harness repro" not in drawer(visit("#/c/rms_norm_backward/torch-2.15.0"))


# ---------------------------------------------------------------------------------------------------------------- keys


def test_arrows_go_from_square_to_square(visit):
    page = visit()
    focus(page, "/c/rms_norm_backward/jax-0.10.2")  # mlx is beside it
    row, column = where(page)
    page.keyboard.press("ArrowRight")
    assert where(page) == [row, str(int(column) + 1)]
    page.keyboard.press("ArrowDown")
    below = where(page)
    assert below[0] != row
    assert below[1] == str(int(column) + 1)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert where(page) == [row, column]
    page.keyboard.press("Home")
    assert where(page)[1] is None
    page.keyboard.press("End")
    assert where(page)[1] is not None
    page.keyboard.press("Control+End")
    assert "slow_backward" in page.evaluate("() => document.activeElement.closest('tr').innerText")


def test_the_grid_is_one_tab_stop(visit):
    page = visit()
    assert page.locator("#grid tbody [tabindex='0']").count() == 1
    focus(page, SQUARE)
    page.keyboard.press("ArrowLeft")
    assert page.locator("#grid tbody [tabindex='0']").count() == 1
    assert page.get_attribute("#grid", "role") == "grid"


def test_enter_opens_and_escape_gives_the_focus_back(visit):
    page = visit()
    focus(page, SQUARE)
    page.keyboard.press("Enter")
    assert "rms_norm_backward" in drawer(page)
    assert page.evaluate("() => document.activeElement.id") == "drawer-title"
    assert page.url.endswith(f"#{SQUARE}")
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer", state="hidden")
    assert page.evaluate("() => document.activeElement.id") == SQUARE


def test_slash_finds_escape_clears_and_question_mark_helps(visit):
    page = visit()
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.id") == "find"
    page.keyboard.type("rope")
    assert "rope_axis" in rows(page)
    assert "rms_norm_backward" not in rows(page)
    page.keyboard.press("Escape")
    assert "rms_norm_backward" in rows(page)
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert not page.is_visible("#help")


def test_brackets_go_through_what_changed(visit):
    page = visit()
    changed = []
    for _ in range(3):
        page.keyboard.press("]")
        changed.append(where(page))
        assert "▲" in page.evaluate("() => document.activeElement.innerText") or "▽" in page.evaluate(
            "() => document.activeElement.innerText"
        )
    assert len({tuple(c) for c in changed}) == 3
    page.keyboard.press("[")
    assert where(page) == changed[1]
    page.keyboard.press("Enter")
    first = drawer(page).splitlines()[0]
    page.keyboard.press("]")
    page.wait_for_function("(old) => document.getElementById('drawer-title').innerText !== old", arg=first)


def test_letters_copy_and_compare(visit):
    page = visit(f"#{SQUARE}")
    drawer(page)
    for letter, said in (("y", "link copied"), ("c", "command copied")):
        page.keyboard.press(letter)
        page.wait_for_function("(said) => document.getElementById('said').textContent === said", arg=said)
    page.keyboard.press("d")
    assert page.evaluate("() => document.activeElement.id") == "compare-a"


def test_letters_in_the_search_box_are_letters(visit):
    page = visit()
    page.focus("#find")
    page.keyboard.type("d]?c")
    assert page.input_value("#find") == "d]?c"
    assert not page.is_visible("#help")


def test_there_is_one_polite_voice(visit):
    page = visit(f"#{SQUARE}")
    drawer(page)
    assert page.locator("[aria-live], [role=status], [role=alert]").count() == 1
    page.wait_for_function("() => document.getElementById('said').textContent.includes('rms_norm_backward, candle-0.11.1: silent')")


# -------------------------------------------------------------------------------------------------- filters and addresses


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


def test_a_healthy_looking_loss_stands_beside_its_defect(visit):
    assert "The loss with this defect" in drawer(visit(f"#{SQUARE}"))
    assert visit(f"#{SQUARE}").locator("#drawer svg.curve path").count() == 2


def test_a_permalink_opens_its_square_with_its_filter(visit):
    page = visit(f"#{SQUARE}?q=fw:candle")
    assert "rms_norm_backward" in drawer(page)
    assert page.input_value("#find") == "fw:candle"
    assert page.get_attribute(f"[id='{SQUARE}']", "aria-current") == "true"
    old = visit("#/c/rms_norm_backward/candle-0.11.0")  # an older version is unfolded for it
    drawer(old)
    assert old.is_visible("[id='/c/rms_norm_backward/candle-0.11.0']")
    row = visit("#/r/rope_axis")
    assert "burn-0.20.1" in drawer(row)


def test_every_square_opens_by_its_address(visit):
    page = visit()
    squares = page.evaluate("() => [...document.querySelectorAll('#grid a.sq')].map(a => a.id)")
    assert len(squares) == 40  # five cases; the sweep is folded
    for square in squares[::7]:
        page.evaluate("(to) => { location.hash = to }", square)
        page.wait_for_function("(to) => document.getElementById(to).getAttribute('aria-current') === 'true'", arg=square)


def test_an_address_that_is_gone_is_said(visit):
    page = visit("#/c/gone/torch-1.0")
    page.wait_for_function("() => document.getElementById('said').textContent.includes('nothing on this page')")
    assert not page.is_visible("#drawer")


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


# ---------------------------------------------------------------------------------------------------------------- looks


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


# --------------------------------------------------------------------------------------------------------------- hostile

HOSTILE = "</pre></script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'><svg/onload=window.pwned=3>\"'`${window.pwned=4}{{7*7}}"
ANSI = "\x1b[31mred\x1b[0m \x00NUL \x1b]8;;http://evil\x07link \u202egnirts \ud800 \u2028 \x9b31m"


def spoiled(records):
    text = HOSTILE + ANSI
    made = []
    for record in records:
        new = {**record, "message": text, "log": text * 3, "cause": "build" if record["status"] == "error" else None}
        new["checks"] = [{**c, "got": text, "note": text, "check": f"dx {text} close"} for c in record["checks"]]
        new["environment"] = {**record["environment"], "cpu": text, "facts": {text: text}}
        made.append(new)
    made[0] = {**made[0], "status": "loud", "log": "x" * 10_000_000 + HOSTILE}
    made.append(
        {
            **made[0],
            "case": HOSTILE,
            "column": HOSTILE,
            "framework": HOSTILE,
            "variant": HOSTILE,
            "dtype": HOSTILE,
            "run": HOSTILE,
            "at": HOSTILE,
            "file": HOSTILE,
            "function": HOSTILE,
        }
    )
    return made


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")

    def change(records):
        repro = root / "results" / "latest" / "repros" / "rms" / "src" / "main.rs"
        repro.write_bytes(repro.read_bytes() + b"// \xff\x00\x1b[31m" + HOSTILE.encode())
        for record in records:
            file = root / record["file"] if record["file"] else None
            if file and b"\xff" not in file.read_bytes():
                file.write_bytes(file.read_bytes() + b"\n# \xff\xfe\x00 " + HOSTILE.encode() + b"\r\n")
        return spoiled(records)

    path = page_browser.written(root, change=change)
    assert path.stat().st_size < 3_000_000
    return path.as_uri()


def test_hostile_text_is_shown_and_does_nothing(visit, hostile):
    page = visit(at=hostile)
    squares = page.evaluate("() => [...document.querySelectorAll('#grid a.sq')].map(a => a.id)")
    for square in squares[::5]:
        page.evaluate("(to) => { location.hash = to }", square)
        page.wait_for_function("(to) => document.getElementById(to).getAttribute('aria-current') === 'true'", arg=square)
        for summary in page.query_selector_all("#drawer summary"):
            summary.click()
    told = page.inner_text("#drawer")
    assert "<script>window.pwned=1</script>" in told
    assert "\N{SYMBOL FOR ESCAPE}[31mred" in told
    assert "\N{SYMBOL FOR NULL}NUL" in told
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("img").count() == 0
    assert page.locator("script:not([type])").count() == 1
    page.fill("#find", HOSTILE)
    page.fill("#find", 'case:* status:"<b>" rate>x')
    page.fill("#pick-ops", HOSTILE)
    page.keyboard.press("Escape")
    page.click("#findings > summary")
    assert page.evaluate("() => window.pwned") is None


def test_a_hostile_repro_is_shown_and_does_nothing(visit, hostile):
    page = visit(f"#{SQUARE}", at=hostile)
    assert "<script>window.pwned=1</script>" in drawer(page).partition("src/main.rs")[2].partition("src/compare.rs")[0]
    assert "\x1b" not in page.inner_text("#drawer")
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("img").count() == 0


def test_a_log_of_ten_megabytes_is_cut_and_says_so(visit, hostile):
    page = visit("#/c/rms_norm_backward/numpy-2.4.6", at=hostile)
    drawer(page)
    page.click("#drawer summary:has-text('Log, its end') >> nth=0")
    assert "characters before this are in the record" in page.inner_text("#drawer")


def test_a_hostile_address_is_no_command(visit):
    page = visit("#/c/%3Cimg%20src=x%20onerror=alert(1)%3E/%E0%A4%A?q=%3Cscript%3Ealert(1)%3C/script%3E&a=%00&b=__proto__")
    assert page.locator("img").count() == 0
    assert "nothing matches" in page.inner_text("#shown")
