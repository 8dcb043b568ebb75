"""The child half of a cell: arguments that do not fit are our fault, and a compiler's time is its framework's."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness import child


def test_arguments_that_fit_are_passed_on():
    child.fit(lambda x, w=1: x * w, {"x": 1})


@pytest.mark.parametrize("arguments", [{}, {"y": 1}, {"x": 1, "y": 1}])
def test_arguments_that_do_not_fit_are_ours(arguments):
    def forward(x):
        return x

    with pytest.raises(child.BadRunFile, match="forward: "):
        child.fit(forward, arguments)


def test_a_callable_that_hides_its_arguments_is_asked_as_it_is():
    with pytest.raises(ValueError, match="no signature"):
        child.inspect.signature(dict)
    child.fit(dict, {"x": 1})


def test_the_time_of_a_compiler_is_counted():
    before, here = child.spent_s(), child.time.process_time()
    subprocess.run([sys.executable, "-c", "sum(range(5_000_000))"], check=True)
    assert child.spent_s() - before - (child.time.process_time() - here) > 0.02


def test_pages_that_come_back_a_call_late_do_not_hide_a_calls_memory():
    held = []

    def every_other_call_reuses():
        if held:
            held.clear()
        else:
            held.append(b"\1" * (32 << 20))

    every_other_call_reuses()
    assert child.added_memory(SimpleNamespace(settle=lambda out: out), every_other_call_reuses, {}) >= 32 << 20
