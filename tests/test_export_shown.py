"""What people are shown, read back: Markdown by markdown-it, the badge by shields.io's fields, the feed by feedparser, which is shown to object."""

from __future__ import annotations

import json

import exported
import feedparser
import jsonschema
import pytest
from export_readers import tables
from exported import statuses

from harness import record
from harness.export import atom, badge, github, markdown
from harness.record import row_of
from harness.verdict import EXECUTED

run, alone = exported.run, exported.alone


# Markdown, with markdown-it


def test_the_summary_tells_every_change(run, alone):
    rows = tables(github.summary(run))
    changed = [r for r in run.records if run.change(r) in ("new", "fixed", "changed")]
    assert rows[0] == ["change", "cell", "verdict", "message"]
    assert {tuple(r[:3]) for r in rows[1:]} == {(run.change(r), record.address(r), r["status"]) for r in changed}
    assert "no baseline" in github.summary(alone)


def test_a_table_has_a_row_a_version(run):
    text = markdown.write(run)
    section = text.partition("### `rms_norm_backward` in `candle`")[2].partition("###")[0]
    rows = tables(section)
    assert rows[0] == ["version", "verdict", "message"]
    assert [r[0] for r in rows[1:]] == ["0.11.0", "0.11.1"]
    assert rows[1][1] == "silent (composed ok, default silent)" or rows[1][1].startswith("silent")
    assert "more questions hold" in text


# Badge, with the fields that shields.io documents


BADGE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["schemaVersion", "label", "message", "color"],
    "properties": {
        "schemaVersion": {"const": 1},
        "label": {"type": "string", "minLength": 1},
        "message": {"type": "string", "minLength": 1},
        "color": {"type": "string", "pattern": "^[0-9a-f]{6}$"},
        "isError": {"type": "boolean"},
        "cacheSeconds": {"type": "integer", "minimum": 300},
    },
}


def badge_of(selection):
    made = json.loads(badge.write(selection))
    jsonschema.validate(made, BADGE)
    return made


def test_the_badge_counts_questions(run, tmp_path):
    silent = {(row_of(r), r["column"]) for r in run.records if r["status"] == "silent"}
    asked = [word for word, _ in run.squares if word in EXECUTED]
    assert badge_of(run)["message"] == f"{len(silent)} silent of {len(asked)}"
    healthy = exported.selection(tmp_path, records=[r for r in run.records if r["column"] == "torch-2.15.0" and r["status"] == "ok"])
    assert badge_of(healthy)["label"] == "torch-2.15.0"
    assert (badge_of(healthy)["message"].startswith("0 silent"), badge_of(healthy)["color"]) == (True, badge.OK)
    nothing = exported.selection(tmp_path, records=[r for r in run.records if r["status"] == "untested"])
    assert (badge_of(nothing)["message"], badge_of(nothing)["isError"]) == ("not asked", True)


# Atom, with feedparser


def read_feed(text):
    feed = feedparser.parse(text.encode())
    assert not feed.bozo, feed.get("bozo_exception")
    assert feed.version == "atom10"
    return feed


def test_the_feed_has_the_new_silent_cells(run, alone):
    feed = read_feed(atom.write(run))
    new = [r for r in run.records if r["status"] == "silent" and run.change(r) == "new"]
    assert [e.id for e in feed.entries] == [atom.identity(r) for r in sorted(new, key=lambda r: r["at"], reverse=True)]
    assert {e.updated for e in feed.entries} == {r["at"] for r in new}
    assert feed.feed.updated == max(r["at"] for r in new)
    assert len(read_feed(atom.write(alone)).entries) == statuses(alone)["silent"]


def test_an_entry_keeps_its_id_until_its_question_changes(run):
    first = next(r for r in run.records if r["status"] == "silent")
    assert atom.identity(first) == atom.identity({**first, "run": "later", "at": "2027-01-01T00:00:00Z", "message": "x"})
    assert atom.identity(first) != atom.identity({**first, "asked": "0" * 16})
    assert atom.identity(first) != atom.identity({**first, "dtype": "float16"})


def test_the_feed_reader_objects(run):
    with pytest.raises(AssertionError):
        read_feed(atom.write(run).replace("</title>", "</titel>", 1))
