"""Where a row turned over versions: properties over any sequence of statuses, and the words."""

import json
from itertools import pairwise
from types import SimpleNamespace

import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from harness.report import evidence, history, payload, table
from harness.verdict import BAD, EXECUTED, STATUSES


def squares(statuses, backend=""):
    heads = [
        SimpleNamespace(framework="burn", version=f"0.{at}.0", label=f"0.{at}.0{'-' * bool(backend)}{backend}")
        for at in range(len(statuses))
    ]
    return [SimpleNamespace(column=h, status=s, found=s in BAD) for h, s in zip(heads, statuses, strict=True)]


@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        (["ok", "silent", "silent"], ["first bad 0.1.0, last good 0.0.0"]),
        (["silent", "ok", "ok"], ["good from 0.1.0, last bad 0.0.0"]),
        (["ok", "error", "silent"], ["first bad 0.2.0, last good 0.0.0"]),
        (["absent", "loud", "crash"], ["first bad 0.2.0, last good 0.1.0"]),
        (["silent", "ok", "slow"], ["good from 0.1.0, last bad 0.0.0", "first bad 0.2.0, last good 0.1.0"]),
        (["silent", "silent"], ["bad in every version asked: 0.0.0 to 0.1.0"]),
        (["silent", "untested"], ["bad in the version asked: 0.0.0"]),
        (["ok", "loud", "differs"], []),
        (["absent", "untested"], []),
    ],
)
def test_where_it_turned(statuses, said):
    assert list(history.says(squares(statuses))) == said


@given(st.lists(st.sampled_from(list(STATUSES))))
def test_it_says_something_exactly_where_something_is_bad(statuses):
    said = list(history.says(squares(statuses)))
    assert bool(said) == any(s in BAD for s in statuses)
    asked = [s in BAD for s in statuses if s in EXECUTED]
    turns = sum(a != b for a, b in pairwise(asked))
    assert len(said) == (turns or any(asked))


def test_a_backend_is_compared_with_itself():
    row = SimpleNamespace(squares={s.column.label: s for s in [*squares(["ok", "silent"]), *squares(["silent", "silent"], "wgpu")]})
    assert [(s.name, s.says) for s in history.strips(row)] == [
        ("burn", "first bad 0.1.0, last good 0.0.0"),
        ("burn wgpu", "bad in every version asked: 0.0.0 to 0.1.0"),
    ]


def test_one_version_is_no_history():
    assert history.strips(SimpleNamespace(squares={"burn": squares(["silent"])[0]})) == []


def test_the_page_carries_it(tmp_path):
    run = synthetic.make(tmp_path)
    specs = {s.row: s for s in run.specs}
    heads = {h.id: h for h in table.columns(table.frame(run.records))}
    cases = evidence.Evidence(specs=specs, change=lambda _: "", columns=heads).cases(run.records)
    carried = json.dumps([payload._asked(row) for case in cases for row in case.rows])
    assert '["candle", ["candle-0.11.0", "candle-0.11.1"], "bad in every version asked: 0.11.0 to 0.11.1"]' in carried
