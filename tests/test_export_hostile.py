"""Text that wants to break a format: whatever a framework printed, each export stays one that its reader takes."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

import exported
import feedparser
import jsonschema
import pytest
from export_readers import SCHEMA, read_annotations, tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import xunit2
from prometheus_client.openmetrics import parser
from sarif_kit.validate import validation_errors

from harness.export import clean, github, markdown, tidy
from harness.export.write import FORMATS

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_csv(text):
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert {len(r) for r in rows} == {len(tidy.COLUMNS)}


def read_json(text):
    jsonschema.validate(json.loads(text), SCHEMA)


def read_feed(text):
    assert not feedparser.parse(text.encode()).bozo


def read_tables(text):
    assert {len(r) for r in tables(text)} <= {3, 4}


READERS = {
    "csv": read_csv,
    "json": read_json,
    "junit": lambda text: xunit2.JUnitXml.fromstring(text.encode()),
    "sarif": lambda text: _none(validation_errors(json.loads(text))),
    "openmetrics": lambda text: list(parser.text_string_to_metric_families(text)),
    "annotations": read_annotations,
    "summary": read_tables,
    "markdown": read_tables,
    "badge": json.loads,
    "atom": read_feed,
}


def _none(found):
    assert found == []


def test_every_format_has_a_reader():
    assert set(READERS) == set(FORMATS)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.mark.parametrize("name", FORMATS)
@given(text=exported.hostile)
@FEW
def test_hostile_text_breaks_no_format(root, name, text):
    spoilt = exported.selection(root, records=exported.spoilt(root, text), with_baseline=False)
    written = FORMATS[name].write(spoilt)
    written.encode()
    assert not {c for c in written if ord(c) in clean.TABLE}
    READERS[name](written)


@pytest.mark.parametrize("name", FORMATS)
def test_everything_nasty_at_once_and_at_length(root, name):
    text = "".join(exported.NASTY) * 2_000
    spoilt = exported.selection(root, records=exported.spoilt(root, text), with_baseline=False)
    READERS[name](FORMATS[name].write(spoilt))


@pytest.mark.parametrize("name", ["json", "junit", "sarif", "atom"])
def test_uncleaned_text_does_break_it(root, name, monkeypatch):
    """The readers would notice: without the cleaning they, or UTF-8, refuse."""
    monkeypatch.setattr(clean, "text", str)
    spoilt = exported.selection(root, records=exported.spoilt(root, "\x00\ud800"), with_baseline=False)
    written = FORMATS[name].write(spoilt)
    if name in ("json", "sarif"):
        assert r"\u0000\ud800" in written, "half of a surrogate pair, which no strict reader takes"
    else:
        with pytest.raises((UnicodeEncodeError, ET.ParseError)):
            ET.fromstring(written)


def test_unescaped_text_does_break_it(root, monkeypatch):
    monkeypatch.setattr(github, "_escape", lambda text, _: text)
    monkeypatch.setattr(markdown, "code", clean.line)
    spoilt = exported.selection(root, records=exported.spoilt(root, "<b>c</b> a|b\n::error file=a::b"), with_baseline=False)
    for name in ("annotations", "summary", "markdown"):
        with pytest.raises(AssertionError):
            READERS[name](FORMATS[name].write(spoilt))


@given(text=st.text(st.characters(exclude_categories=())))
def test_clean_text_is_what_utf8_and_xml_hold(text):
    cleaned = clean.text(text)
    assert ET.fromstring(f"<a>{escape(cleaned)}</a>").text in (cleaned, cleaned or None)
    assert clean.text(cleaned) == cleaned
    assert cleaned.encode().decode() == cleaned


@given(text=exported.hostile)
def test_an_annotation_gives_back_what_it_was_told(text):
    line = github._command("error", {"file": text or "x", "line": "1", "title": text or "y"}, text)
    [(level, facts, message)] = read_annotations(f"{line}\n")
    assert (level, facts["line"]) == ("error", "1")
    assert message == clean.short(clean.text(text), 2_000)
    assert facts["title"] == clean.line(text or "y", 250)


@given(text=exported.hostile)
def test_a_code_span_holds_its_text_and_nothing_else(text):
    rows = tables(f"| a | b |\n|---|---|\n| x | {markdown.code(text)} |\n")
    assert [len(r) for r in rows] == [2, 2]
    shown = clean.line(text)
    assert rows[1][1].replace("\\ ", "\\").split() == shown.replace("\\ ", "\\").split()


def test_a_long_text_says_what_is_missing():
    assert clean.line("ab " * 10_000, 6) == "ab ab  [29993 more characters]"
    assert clean.tail("x" * 50 + "the end", 7) == "[50 characters before] the end"
    assert clean.text("a\r\nb\rc\x1b[0m") == "a\nb\nc\N{SYMBOL FOR ESCAPE}[0m"
