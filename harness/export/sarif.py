"""SARIF 2.1.0: a result a finding, at the function that shows it; careful that a fingerprint stays the same from night to night."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from harness import record, source
from harness.case import FAILURES
from harness.export import clean
from harness.export.gather import FINDING, Selection
from harness.export.place import place
from harness.record import Record
from harness.verdict import STATUSES

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"silent": "error", "crash": "error", "hang": "error", "unstable": "error", "slow": "warning", "loud": "note"}
FACTS = ("status", "framework", "version", "column", "dtype", "mode", "run", "at", "asked", "file_sha256")
MOST = 25_000  # results a run may have in GitHub's code scanning: the worst first, and a notification for the rest


def write(selection: Selection) -> str:
    worst = list(STATUSES)
    found = sorted((r for r in selection.records if r["status"] in FINDING), key=lambda r: worst.index(r["status"]))
    results = [_result(selection, r, _state(selection, r)) for r in found]
    results += [_result(selection, r, "absent") for r in selection.gone]
    rules = list({r["ruleId"]: None for r in results})
    for result in results:
        result["ruleIndex"] = rules.index(result["ruleId"])
    notes = list(_notifications(selection))
    if len(results) > MOST:
        notes.append(_notification(f"{len(results) - MOST} further findings are left out: a file holds at most {MOST}", "warning"))
    run = {
        "tool": {"driver": {"name": "silentbench", "rules": [_rule(r) for r in rules], "semanticVersion": "1.0.0"}},
        "automationDetails": {"id": "silentbench/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the repository."}}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": results[:MOST],
    }
    return json.dumps(clean.tree({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}), indent=1, allow_nan=False) + "\n"


def _rule(failure: str) -> dict[str, Any]:
    told = FAILURES.get(failure, "a failure of a case that is no more")
    return {
        "id": failure,
        "name": f"{''.join(word.capitalize() for word in failure.split('-'))}Failure",
        "shortDescription": {"text": f"{failure.replace('-', ' ').capitalize()}."},
        "fullDescription": {"text": f"{told.capitalize()}."},
        "help": {"text": "docs/how_we_decide.md says how a word is decided, and how it is contested."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["correctness", "training"]},
    }


def _result(selection: Selection, found: Record, state: str) -> dict[str, Any]:
    where, address = place(selection.root, found), record.address(found)
    spoken = f"{address}: {found['status']}: {clean.line(found['message'])}. Asked again by: {record.command(found)}"
    uri = {"uri": quote(where.file), "uriBaseId": "SRCROOT"}
    physical = {"artifactLocation": uri, "region": {"startLine": where.line}}
    known = {"claim": selection.claim(found), "tracker": selection.tracker(found)}
    result = {
        "ruleId": selection.failure(found),
        "level": LEVELS[found["status"]],
        "message": {"text": _plain(spoken)},
        "locations": [{"physicalLocation": physical, "logicalLocations": [{"fullyQualifiedName": address, "kind": "function"}]}],
        "partialFingerprints": fingerprints(found),
        "properties": {k: found[k] for k in FACTS} | {k: v for k, v in known.items() if v},
    }
    return result | ({"baselineState": state} if state else {})


def fingerprints(found: Record) -> dict[str, str]:
    """One of the cell, which GitHub tells findings apart by, and one of the question over all versions; neither knows of lines or runs."""
    of_question = (found["case"], found["item"], found["variant"], found["dtype"], found["mode"], found["framework"])
    cell = source.digest(*record.key(found))
    return {"primaryLocationLineHash": f"{cell}:1", "cell/v1": cell, "question/v1": source.digest(*of_question)}


def _state(selection: Selection, found: Record) -> str:
    if not selection.before:
        return ""
    before = selection.before.get(record.key(found))
    if before is None or before["status"] not in FINDING:
        return "new"
    return "unchanged" if selection.change(found) == "same" else "updated"


def _notifications(selection: Selection) -> Iterator[dict[str, Any]]:
    """What could not be asked, once a column and reason: no finding, and no clean bill either."""
    errors = [r for r in selection.records if r["status"] == "error"]
    for (column, cause, message), n in Counter((r["column"], r["cause"], clean.line(r["message"])) for r in errors).items():
        yield _notification(f"{column}: {n} cells could not be asked ({cause}): {message}", "warning")
    if selection.stale:
        yield _notification(f"{selection.stale} records answer questions that have changed since, and are left out", "note")


def _notification(text: str, level: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _plain(text)}}


def _plain(text: str) -> str:
    """A message without what SARIF reads as a link."""
    return clean.line(text, 1_000).replace("](", "] (")
