"""The page as a visitor has it: one Chromium for all files of tests, and what is seen in it; where there is none, a file that imports this is passed over."""

from __future__ import annotations

from urllib.parse import parse_qs

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
FRESH = """() => {
  location.hash = '';
  document.getElementById('said').textContent = '';
  document.activeElement.blur();
  document.getElementById('help').close();
  document.querySelectorAll('details[open]:not(.speeds)').forEach((d) => (d.open = false));
  for (const box of document.querySelectorAll('.older:checked, .unfold:checked')) if (box.checked !== box.defaultChecked) box.click();
  scrollTo(0, 0);
}"""


@pytest.fixture(scope="session")
def browser():
    with page_browser.chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
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
