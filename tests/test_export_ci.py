"""Each export read back by the programs it is for, or held against its published schema; and each of these shown to object."""

from __future__ import annotations

import io
import json
import re
from collections import Counter

import exported
import feedparser
import jsonschema
import pandas as pd
import pytest
from junitparser import xunit2
from markdown_it import MarkdownIt
from prometheus_client.openmetrics import parser
from sarif_kit.validate import validation_errors

from harness import record
from harness.case import FAILURES
from harness.export import atom, badge, document, github, junit, markdown, openmetrics, sarif, tidy
from harness.export.gather import FINDING, rate
from harness.record import row_of
from harness.verdict import BAD, EXECUTED, STATUSES

SCHEMA = json.loads(document.SCHEMA.read_text())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return exported.selection(tmp_path_factory.mktemp("exported"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The same without a baseline."""
    return exported.selection(tmp_path_factory.mktemp("alone"), with_baseline=False)


def statuses(selection):
    return Counter(r["status"] for r in selection.records)


def test_the_run_has_every_status(run):
    assert set(statuses(run)) == set(STATUSES)


# CSV, with pandas


def test_csv_has_a_row_a_cell_and_metric(run):
    table = pd.read_csv(io.StringIO(tidy.write(run)), keep_default_na=False, na_values={"value": [""]})
    assert list(table.columns) == list(tidy.COLUMNS)
    keys = [*tidy.CELL, "metric", "check"]
    assert not table.duplicated(keys).any()
    cells = table[table["metric"] == "fail_rate"]
    assert Counter(cells["status"]) == statuses(run)
    assert set(cells.loc[cells["status"] == "silent", "value"]) == {1.0}
    assert set(cells.loc[cells["status"] == "unstable", "value"]) == {0.3}
    assert cells.loc[cells["status"].isin(["absent", "untested", "error", "loud"]), "value"].isna().all()
    assert set(table.loc[~table["status"].isin(EXECUTED), "metric"]) == {"fail_rate"}
    torch = table[(table["column"] == "torch-2.15.0") & (table["case"] == "slow_backward")].set_index("metric")
    assert torch.loc["reference_ratio", "value"] == pytest.approx(1.0)
    assert torch.loc["cpu_s", "unit"] == "s"


def test_csv_begins_no_formula(tmp_path):
    spoilt = exported.selection(tmp_path, records=exported.spoilt(tmp_path, "=HYPERLINK(1)"))
    assert "'=HYPERLINK(1)" in tidy.write(spoilt)
    assert not re.search(r'(^|,)"?[=+@]', tidy.write(spoilt), re.MULTILINE)


# JSON, with jsonschema


def test_json_fits_its_schema(run):
    whole = json.loads(document.write(run))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(whole, SCHEMA)
    assert len(whole["cells"]) == len(run.records)
    assert whole["counts"] == dict(statuses(run))
    assert whole["environments"][whole["cells"][0]["environment"]] == run.records[0]["environment"]


def test_the_schema_objects(run):
    whole = json.loads(document.write(run))
    whole["cells"][3]["status"] = "green"
    with pytest.raises(jsonschema.ValidationError, match="green"):
        jsonschema.validate(whole, SCHEMA)
    del whole["cells"][3]["status"]
    with pytest.raises(jsonschema.ValidationError, match="'status' is a required property"):
        jsonschema.validate(whole, SCHEMA)


def test_the_schema_has_the_closed_lists():
    cell = SCHEMA["properties"]["cells"]["items"]["properties"]
    ours = json.loads(record.SCHEMA_FILE.read_text())["properties"]
    assert SCHEMA["$defs"]["status"]["enum"] == list(STATUSES)
    assert (cell["cause"]["enum"], cell["dtype"]["enum"]) == (ours["cause"]["enum"], ours["dtype"]["enum"])
    assert SCHEMA["properties"]["questions"]["additionalProperties"]["properties"]["failure"]["enum"] == [*FAILURES, "unknown"]


# JUnit XML, with junitparser


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


def test_junit_has_a_suite_a_column_and_a_test_a_cell(run):
    text = junit.write(run)
    tests = read_junit(text)
    assert {s.name for s in xunit2.JUnitXml.fromstring(text.encode())} >= {"torch@2.15.0", "candle@0.11.1"}
    wanted = Counter()
    for status, n in statuses(run).items():
        wanted["Failure" if status in BAD else {"error": "Error", "absent": "Skipped", "untested": "Skipped"}.get(status, "Passed")] += n
    assert Counter(k for t in tests for k in kinds(t)) == wanted


def test_junit_carries_hashes_places_and_the_rate(run):
    tests = read_junit(junit.write(run))
    facts = [{p.name: p.value for p in t.properties()} for t in tests]
    assert all(re.fullmatch("[0-9a-f]{16}", f["asked"]) for f in facts)
    assert all(re.fullmatch("[0-9a-f]{64}", f["file_sha256"]) for f in facts if "run_" in f["file"])
    assert {f["fail_rate"] for f in facts if f["status"] == "unstable"} == {"0.3"}
    suite = next(iter(xunit2.JUnitXml.fromstring(junit.write(run).encode())))
    assert "lock" in {p.name for p in suite.properties()}


def test_junit_of_a_run_passes_what_the_baseline_knows(run):
    text = junit.document(run.records, run.change, lambda r: run.change(r) == "new", run.root)
    tests = read_junit(text)
    assert sum(kinds(t) == ["Failure"] for t in tests) == sum(run.change(r) == "new" and r["status"] in EXECUTED for r in run.records)
    known = [t for t in tests if ("known", "yes") in {(p.name, p.value) for p in t.properties()}]
    assert known
    assert {k for t in known for k in kinds(t)} == {"Passed"}


def test_the_junit_reader_objects(run):
    broken = junit.write(run).replace('failures="', 'failures="7', 2)
    with pytest.raises(AssertionError):
        read_junit(broken)


# SARIF, with OASIS's schema


def test_sarif_fits_its_schema(run):
    log = json.loads(sarif.write(run))
    assert validation_errors(log) == []
    results = log["runs"][0]["results"]
    now = [r for r in results if r["baselineState"] != "absent"]
    assert Counter(r["properties"]["status"] for r in now) == Counter({s: n for s, n in statuses(run).items() if s in FINDING})
    assert {r["properties"]["status"]: r["level"] for r in now} == sarif.LEVELS
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert {rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in results} == {True}
    assert {r["ruleId"] for r in results} <= set(FAILURES)


def test_sarif_says_what_is_new_updated_and_gone(run, alone):
    results = json.loads(sarif.write(run))["runs"][0]["results"]
    by = {}
    for r in results:
        by.setdefault(r["baselineState"], set()).add((r["properties"]["column"], r["ruleId"]))
    assert ("burn-0.21.0", "axis") in by["new"]
    assert ("candle-0.11.1", "layout") in by["absent"], "silent in the baseline, right by now"
    assert "unchanged" in by
    assert not any("baselineState" in r for r in json.loads(sarif.write(alone))["runs"][0]["results"])


def test_sarif_points_to_the_function(run):
    for result in json.loads(sarif.write(run))["runs"][0]["results"]:
        where = result["locations"][0]["physicalLocation"]
        lines = (
            (run.root / where["artifactLocation"]["uri"]).read_text().splitlines() if "run_" in where["artifactLocation"]["uri"] else None
        )
        if lines:
            assert re.match(r"(pub fn|def) \w+\(", lines[where["region"]["startLine"] - 1])


def test_fingerprints_tell_cells_apart_and_stay(run, tmp_path):
    results = json.loads(sarif.write(run))["runs"][0]["results"]
    prints = [r["partialFingerprints"]["primaryLocationLineHash"] for r in results]
    assert len(set(prints)) == len(prints)
    later = exported.selection(tmp_path)
    moved = [{**r, "run": "another", "at": "2027-01-01T00:00:00Z", "message": "other numbers"} for r in later.records]
    again = json.loads(sarif.write(exported.selection(tmp_path, records=moved)))["runs"][0]["results"]
    assert sorted(prints) == sorted(r["partialFingerprints"]["primaryLocationLineHash"] for r in again)


def test_the_sarif_schema_objects(run):
    log = json.loads(sarif.write(run))
    log["runs"][0]["results"][0]["level"] = "loud"
    log["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert len(validation_errors(log)) == 2


def test_sarif_leaves_the_least_out(run, monkeypatch):
    monkeypatch.setattr(sarif, "MOST", 3)
    made = json.loads(sarif.write(run))["runs"][0]
    assert [r["properties"]["status"] for r in made["results"]] == ["silent"] * 3
    assert "further findings are left out" in made["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"]


# OpenMetrics, with prometheus_client's parser


def families(text):
    return {f.name: f for f in parser.text_string_to_metric_families(text)}


def test_openmetrics_is_read_back(run):
    text = openmetrics.write(run)
    assert text.endswith("# EOF\n")
    read = families(text)
    assert read["silentbench_verdict"].type == "stateset"
    states = {}
    for s in read["silentbench_verdict"].samples:
        labels = dict(s.labels)
        states.setdefault((labels["case"], labels["item"], labels["column"]), {})[labels["silentbench_verdict"]] = s.value
    assert all(set(of) == set(STATUSES) and sum(of.values()) == 1 for of in states.values())
    assert {k: next(s for s, v in of.items() if v) for k, of in states.items()} == {
        (of[0]["case"], of[0]["item"], of[0]["column"]): word for word, of in run.squares
    }
    assert read["silentbench_cell_cpu_seconds"].unit == "seconds"
    assert len(read["silentbench_cell_cpu_seconds"].samples) == sum(r["status"] in EXECUTED for r in run.records)
    ratio = {s.labels["column"]: s.value for s in read["silentbench_reference_ratio"].samples}
    assert ratio["torch-2.15.0"] == pytest.approx(1.0)
    assert read["silentbench_newest_record_timestamp_seconds"].samples[0].value == 1795961127  # 2026-11-29T14:05:27Z
    assert {s.labels["status"]: s.value for s in read["silentbench_cells"].samples} == statuses(run)


@pytest.mark.parametrize(
    ("old", "new"),
    [("# EOF\n", ""), ('="silent"', '="sil\nent"'), ('silentbench_verdict="silent"', 'verdict="silent"'), ("} 1.0\n", "} 2.0\n")],
)
def test_the_openmetrics_parser_objects(run, old, new):
    with pytest.raises(ValueError):  # noqa: PT011  each of its complaints is one
        families(openmetrics.write(run).replace(old, new, 1))


# GitHub annotations, by the documented rules


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


def test_annotations_tell_what_is_new(run):
    commands = read_annotations(github.annotate(run))
    new = [r for r in run.records if r["status"] in FINDING and run.change(r) == "new"]
    assert len(commands) == len(new)
    for level, facts, message in commands:
        status, _, address = facts["title"].partition(": ")
        found = next(r for r in new if record.address(r) == address)
        assert (found["status"], github.LEVELS[status]) == (status, level)
        assert found["message"] in message
        assert (run.root / facts["file"]).is_file()
        assert int(facts["line"]) >= 1


def test_annotations_stop_where_github_does(alone):
    commands = read_annotations(github.annotate(alone))
    levels = Counter(level for level, facts, _ in commands if facts["title"] != "silentbench")
    assert max(levels.values()) == github.SHOWN
    assert "more new findings" in commands[-1][2]


@pytest.mark.parametrize("bad", ["::error file=a::b\nc\n", "::fatal file=a,line=1,title=t::b\n", "::error file=a,b,title=t::c\n", "x\n"])
def test_the_annotation_reader_objects(bad):
    with pytest.raises(AssertionError):
        read_annotations(bad)


# Markdown, with markdown-it


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


def test_a_rate_is_of_what_was_asked(run):
    rates = {r["status"]: rate(r) for r in run.records}
    assert rates["unstable"] == 0.3
    assert (rates["silent"], rates["ok"], rates["differs"]) == (1.0, 0.0, 0.0)
    assert {rates[s] for s in ("loud", "absent", "untested", "error")} == {None}
