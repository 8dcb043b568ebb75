"""JUnit XML: a suite a column, a test a cell; careful that what could not be asked is an error, and what nobody offers is skipped, never a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from harness import record
from harness.export import clean
from harness.export.gather import Selection, rate
from harness.export.place import place
from harness.record import Record
from harness.verdict import BAD, EXECUTED

SKIPPED = ("absent", "untested")
LOG = 4_000  # characters of a log's end
ENVIRONMENT = ("platform", "cpu", "toolchain", "backend", "lock", "local", "threads")


def write(selection: Selection) -> str:
    """Every bad cell is a failure, whether the baseline knows it or not; the property `change` tells."""
    return document(selection.records, selection.change, lambda r: r["status"] in BAD, selection.root)


def document(records: Iterable[Record], change: Callable[[Record], str], fails: Callable[[Record], bool], root: Path) -> str:
    """The XML of these records. ``fails`` says which executed cells are failures; a bad one that is none passes, with the property `known`."""
    suites: dict[str, list[Record]] = {}
    for found in records:
        suites.setdefault(str(found["column"]), []).append(found)
    top = ET.Element("testsuites", name="silentbench")
    made = [_suite(top, of, change, fails, root) for of in suites.values()]
    for name in ("tests", "failures", "errors"):
        top.set(name, str(sum(int(s.get(name, "0")) for s in made)))
    top.set("time", f"{sum(float(s.get('time', '0')) for s in made):.3f}")
    ET.indent(top)
    return ET.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _suite(
    top: ET.Element, records: list[Record], change: Callable[[Record], str], fails: Callable[[Record], bool], root: Path
) -> ET.Element:
    first = records[0]
    framework, column = clean.text(first["framework"]), clean.text(first["column"])
    suite = ET.SubElement(top, "testsuite", name=f"{framework}@{column.removeprefix(f'{framework}-')}")
    _properties(suite, {"column": column, **{k: first["environment"].get(k) for k in ENVIRONMENT}})
    cases = [_test(suite, r, change(r), fails=fails(r), root=root) for r in records]
    suite.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(c.find(tag) is not None for c in cases)))
    suite.set("time", f"{sum(float(r['run_s']) for r in records):.3f}")
    suite.set("timestamp", clean.text(min(str(r["at"]) for r in records)).removesuffix("Z"))
    return suite


def _test(suite: ET.Element, found: Record, change: str, *, fails: bool, root: Path) -> ET.Element:
    status, message = str(found["status"]), clean.line(found["message"])
    name = clean.line(record.address(found).rpartition(" ")[0])
    test = ET.SubElement(suite, "testcase", classname=clean.text(found["case"]), name=name, time=f"{float(found['run_s']):.3f}")
    where, often = place(root, found), rate(found)
    facts = {k: found[k] for k in ("status", "cause", "asked", "file_sha256", "run", "at")}
    facts |= {"change": change, "file": where.file, "line": where.line, "fail_rate": None if often is None else f"{often:.4g}"}
    _properties(test, {**facts, "known": "yes" if status in BAD and not fails else None})
    if status in EXECUTED and fails:
        ET.SubElement(test, "failure", type=status, message=message).text = _told(found)
    elif status == "error":
        ET.SubElement(test, "error", type=clean.text(found["cause"]), message=message)
    elif status in SKIPPED:
        ET.SubElement(test, "skipped", type=status, message=message)
    if found["log"] and (status in BAD or status == "error"):
        ET.SubElement(test, "system-err").text = clean.tail(found["log"], LOG)
    return test


def _told(found: Record) -> str:
    """The failed checks with their numbers, and what asks the cell again."""
    failed = [c for c in found["checks"] if not c["holds"]]
    lines = [f"{c['check']}: got {c['got']}, want {c['want']}" + (f"; {c['note']}" if c["note"] else "") for c in failed]
    return "\n".join(clean.line(line, 1_000) for line in [*lines, record.command(found)])


def _properties(parent: ET.Element, facts: Mapping[str, object]) -> None:
    """What is known, each a property; the suite's are in the Jenkins schema, a test's are pytest's and read by Jenkins' JUnit plugin."""
    inside = ET.SubElement(parent, "properties")
    for name, value in facts.items():
        if value not in (None, ""):
            ET.SubElement(inside, "property", name=name, value=clean.line(value))
