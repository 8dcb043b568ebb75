"""What turned since the baseline; and the words for how a cell ended."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import verdict
from harness.cell import load_specs
from harness.verdict import BAD, STATUSES, change


def answer(status, *failed):
    return {"status": status, "checks": [{"check": c, "holds": False} for c in failed] + [{"check": "y close", "holds": True}]}


@pytest.mark.parametrize(
    ("before", "now", "how"),
    [
        (None, answer("ok"), "same"),
        (None, answer("silent", "dx"), "new"),
        (None, answer("loud"), "same"),
        (answer("ok"), answer("silent", "dx"), "new"),
        (answer("ok"), answer("loud"), "new"),
        (answer("loud"), answer("silent", "dx"), "new"),
        (answer("loud"), answer("ok"), "fixed"),
        (answer("silent", "dx"), answer("ok"), "fixed"),
        (answer("silent", "dx"), answer("loud"), "fixed"),
        (answer("silent", "dx"), answer("silent", "dx"), "same"),
        (answer("silent", "dx"), answer("silent", "dx", "dw"), "new"),
        (answer("silent", "dx"), answer("silent", "dw"), "new"),
        (answer("silent", "dx", "dw"), answer("silent", "dx"), "fixed"),
        (answer("slow", "backward_ratio"), answer("silent", "dx"), "new"),
        (answer("silent", "dx"), answer("crash"), "new"),
        (answer("crash"), answer("silent", "dx"), "new"),
        (answer("ok"), answer("error"), "changed"),
        (answer("error"), answer("ok"), "changed"),
        (answer("error"), answer("silent", "dx"), "new"),
        (answer("absent"), answer("ok"), "changed"),
        (answer("ok"), answer("differs", "dx"), "changed"),
        (answer("differs", "dx"), answer("differs", "dw"), "same"),
        (answer("ok"), answer("absent"), "new"),
        (answer("silent", "dx"), answer("untested"), "new"),
        (answer("silent", "dx"), answer("hang"), "new"),
    ],
)
def test_change(before, now, how):
    assert change(now, before) == how


@given(st.sampled_from(list(STATUSES)), st.sampled_from(list(STATUSES)))
def test_only_bad_or_refusing_answers_are_new_and_errors_never_count(before, now):
    how = change(answer(now), answer(before))
    if how == "new":
        assert now in BAD or now in ("loud", "absent", "untested")
    if now == "error":
        assert how in ("same", "changed")
    if before == now:
        assert how == "same"


def test_every_pair_has_an_answer():
    for before, now in itertools.product([None, *STATUSES], STATUSES):
        assert change(answer(now), before and answer(before)) in ("same", "new", "fixed", "changed")


@pytest.mark.parametrize(("failed", "times", "low", "high"), [(1, 20, 0.009, 0.236), (0, 20, 0.0, 0.161), (10, 10, 0.722, 1.0)])
def test_wilson_interval(failed, times, low, high):
    """Against Newcombe 1998, table of the score method."""
    assert verdict.wilson(failed, times) == (pytest.approx(low, abs=2e-3), pytest.approx(high, abs=2e-3))


@pytest.mark.parametrize(
    ("kind", "status", "cause"),
    [
        ("framework", "loud", None),
        ("unresolved", "absent", None),
        ("toolchain", "error", "toolchain"),
        ("install", "error", "install"),
        ("device", "error", "device"),
        ("harness", "error", "harness"),
        ("memory", "crash", None),
    ],
)
def test_what_a_refusal_is(fakes, kind, status, cause):
    spec = load_specs(fakes)[0]
    reply = {"end": "raised", "kind": kind, "stage": "load", "type": "Error", "message": "no Vulkan device; wanted: one"}
    said = verdict.judge_end(reply, spec, 1.0)
    assert (said.status, said.cause) == (status, cause)
    assert "no Vulkan device" in said.message


def test_a_message_tells_two_numbers_apart():
    assert verdict._pair(1.0000000001, 1.0) == "got 1.0000000001, want 1.0"
    assert verdict._pair(1.5, 1.0) == "got 1.5, want 1"
