"""What a square tells when it is opened, and that its address opens it."""

from __future__ import annotations

import json

import pytest
from page_visit import SQUARE, drawer

pytest_plugins = ["page_visit"]


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
