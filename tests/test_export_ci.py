"""What a CI service is given, read back: JUnit by junitparser, SARIF by OASIS's schema, annotations by GitHub's rules; and each of these shown to object."""

from __future__ import annotations

import json
import re
from collections import Counter

import exported
import pytest
from export_readers import kinds, read_annotations, read_junit
from exported import statuses
from junitparser import xunit2
from sarif_kit.validate import validation_errors

from harness import record
from harness.case import FAILURES
from harness.export import github, junit, sarif
from harness.export.gather import FINDING
from harness.verdict import BAD, EXECUTED

run, alone = exported.run, exported.alone


# JUnit XML, with junitparser


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


# GitHub annotations, by the documented rules


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
