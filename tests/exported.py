"""Selections to export, without a run: the synthetic one, and records with text that wants to break a format."""

from __future__ import annotations

import copy
from collections import Counter

import pytest
import synthetic
import synthetic_plan
from hypothesis import strategies as st

from harness import record
from harness.export.gather import Selection
from harness.record import row_of
from harness.report import table

NASTY = [
    "\n",
    "\r\n",
    "%0A::error::no",
    "::error file=a::b",
    "::stop-commands::x",
    "##[error]",
    "%",
    ":",
    ",",
    "|",
    "\\|",
    "`",
    "```",
    '"',
    "'",
    "\x1b[31m",
    "\x00",
    "\x85",
    "\u2028",
    "\u202e",
    "\ud800",
    "\udfff",
    "\ufffe",
    "<script>alert(1)</script>",
    "]]>",
    "&lt;",
    "[a](http://b)",
    "@everyone",
    "=1+1",
    "{0}",
    "# EOF",
    "\N{PILE OF POO}",
]
# Any code point, halves of surrogate pairs too, which Python's own strings may hold.
hostile = st.lists(st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=())), max_size=8).map("".join)


def selection(root, *, with_baseline=True, records=None):
    """The synthetic run as `gather.select` would give it."""
    made = synthetic.make(root)
    mine = made.records if records is None else records
    heads = {h.id: h for h in table.columns(table.frame(made.records), [c.partition("-")[0] for c in synthetic_plan.COLUMNS])}
    order = {h: i for i, h in enumerate(heads)}
    rows = {s.row: i for i, s in enumerate(made.specs)}
    mine = sorted(mine, key=lambda r: (rows[row_of(r)], order[r["column"]]))
    before = {record.key(r): r for r in made.baseline} if with_baseline else {}
    specs = {s.row: s for s in made.specs}
    return Selection(mine, mine, before, specs, heads, root, 0, (), lambda _: True, "all columns")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return selection(tmp_path_factory.mktemp("exported"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The same without a baseline."""
    return selection(tmp_path_factory.mktemp("alone"), with_baseline=False)


def statuses(selection):
    return Counter(r["status"] for r in selection.records)


def spoilt(root, text):
    """One record of every status, each foreign text of it ``text``."""
    records = copy.deepcopy(synthetic.make(root).records)
    seen = {}
    for found in records:
        seen.setdefault(found["status"], found)
    for found in seen.values():
        found["message"] = found["log"] = text
        found["environment"]["cpu"] = text
        found["checks"] = [{"check": text, "holds": False, "ratio": "inf", "got": text, "want": text, "note": text, "trigger": text}]
    return list(seen.values())
