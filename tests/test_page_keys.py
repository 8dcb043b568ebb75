"""What the keys do, and that whoever reads by ear or without a mouse is told where they are."""

from __future__ import annotations

from page_visit import SQUARE, drawer, focus, rows, where

pytest_plugins = ["page_visit"]


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
