"""What reads an export for more than one file of tests: JUnit, annotations, Markdown's tables; careful to refuse what its service would not take."""

from __future__ import annotations

import json
import re

from junitparser import xunit2
from markdown_it import MarkdownIt

from harness.export import document

SCHEMA = json.loads(document.SCHEMA.read_text())


def read_junit(text):
    """Every test, and a check that each count is the sum of what it counts."""
    top = xunit2.JUnitXml.fromstring(text.encode())
    tests = []
    for suite in top:
        said = suite.tests, suite.failures, suite.errors, suite.skipped
        suite.update_statistics()
        assert said == (suite.tests, suite.failures, suite.errors, suite.skipped), suite.name
        tests += list(suite)
    assert (top.tests, top.failures, top.errors) == tuple(sum(getattr(s, n) for s in top) for n in ("tests", "failures", "errors"))
    return tests


def kinds(test):
    return [type(r).__name__ for r in test.result] or ["Passed"]


COMMAND = re.compile(r"::(error|warning|notice) ([^:\n\r]*?)::([^\n\r]*)")
RAW = re.compile(r"%(?!25|0D|0A|3A|2C)")


def read_annotations(text):
    """Level, properties and message of each line; a line that is no command, or text left unescaped, is refused."""
    commands = []
    for line in text.split("\n")[:-1]:
        match = COMMAND.fullmatch(line)
        assert match, line
        pairs = [p.split("=", 1) for p in match[2].split(",")]
        assert [p[0] for p in pairs] in (["file", "line", "title"], ["title"]), line
        assert not RAW.search(line), line
        commands.append((match[1], {k: unescaped(v) for k, v in pairs}, unescaped(match[3])))
    return commands


def unescaped(text):
    for written, char in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(written, char)
    return text


def tables(text):
    """The text of the cells of every row of every table; refuses raw HTML and links."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    rows, inside = [], False
    for token in tokens:
        inner = [t.type for t in token.children or []]
        assert not {"html_inline", "link_open", "image"} & set(inner)
        assert token.type != "html_block"
        if token.type in ("tr_open", "tr_close"):
            inside = token.type == "tr_open"
            rows += [[]] if inside else []
        if inside and token.type == "inline":
            rows[-1].append("".join(t.content for t in token.children))
    return rows
