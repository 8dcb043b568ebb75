"""JSON: everything of every cell, under a schema of its own version; careful that an environment is written once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import record
from harness.export import clean
from harness.export.gather import Selection, rate
from harness.export.place import place
from harness.project import platform_name
from harness.record import Record, row_of
from harness.verdict import STATUSES

VERSION = 1  # raised where a reader of the version before would misread; a new optional field does not raise it
SCHEMA = Path(__file__).with_name("results.schema.json")
COPIED = ("case", "item", "variant", "dtype", "mode", "column", "framework", "version", "status", "cause", "message", "asked")
MEASURED = ("run_s", "cpu_s", "peak_bytes", "load", "speed")
SOURCE = ("file", "function", "file_sha256")


def write(selection: Selection) -> str:
    environments: dict[str, int] = {}
    cells = [_cell(selection, r, environments) for r in selection.records]
    questions = {row_of(r): _question(selection, r) for r in selection.records}
    whole = {
        "schema": VERSION,
        "generator": "silentbench",
        "platform": platform_name(),
        "selection": selection.what,
        "statuses": dict(STATUSES),
        "counts": selection.counts,
        "stale": selection.stale,
        "broken_lines": len(selection.broken),
        "questions": questions,
        "environments": [json.loads(e) for e in environments],
        "cells": cells,
    }
    return json.dumps(clean.tree(whole), indent=1, allow_nan=False) + "\n"


def _question(selection: Selection, found: Record) -> dict[str, str]:
    return {"failure": selection.failure(found), "claim": selection.claim(found)}


def _cell(selection: Selection, found: Record, environments: dict[str, int]) -> dict[str, Any]:
    environment = environments.setdefault(json.dumps(found["environment"], sort_keys=True), len(environments))
    return {
        "address": record.address(found),
        **{k: found[k] for k in COPIED},
        "change": selection.change(found) or None,
        "fail_rate": rate(found),
        "checks": found["checks"],
        **{k: found[k] for k in MEASURED},
        "environment": environment,
        **{k: found[k] for k in SOURCE},
        "line": place(selection.root, found).line,
        "tracker": selection.tracker(found),
        "command": record.command(found),
        "log": found["log"],
        "run": found["run"],
        "at": found["at"],
    }
