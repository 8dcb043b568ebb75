"""Text of a framework, of a file or of an address that wants to be a command: the page shows it and does nothing."""

from __future__ import annotations

import page_browser
import pytest
from page_visit import SQUARE, drawer

pytest_plugins = ["page_visit"]

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
