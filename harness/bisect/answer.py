"""The answer of a search as it is kept: one JSON file a question, rewritten whole after every version; careful that a kill leaves the last one."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

from harness import machine, verdict
from harness.errors import CannotKeep
from harness.project import Project, objects, replace
from harness.record import Record, fits

SCHEMA = 1
SCHEMA_FILE = Path(__file__).with_name("answer.schema.json")
Answer = dict[str, Any]


def folder(project: Project) -> Path:
    return project.latest / "bisect"


def path(project: Project, cell: str, framework: str, backend: str = "") -> Path:
    name = re.sub(r"[^\w.-]+", ".", f"{cell}.{framework}{'-' + backend if backend else ''}")
    return folder(project) / f"{name}.json"


def entry(version: str, records: list[Record], bad: tuple[str, ...], *, source: str, build_s: float = 0.0, ask_s: float = 0.0) -> Answer:
    """What one version said: the worst of its cells that could be asked. `bad` is None where none could."""
    asked = [r for r in records if r["status"] in verdict.EXECUTED]
    order = list(verdict.STATUSES)
    worst = min(asked or records, key=lambda r: (r["status"] not in bad, order.index(r["status"])))
    failed = [c for c in worst["checks"] if not c["holds"]]
    number = f"{failed[0]['check']}: got {failed[0]['got']}, want {failed[0]['want']}" if failed else ""
    return {
        "version": version,
        "bad": worst["status"] in bad if asked else None,
        "status": worst["status"],
        "number": number,
        "message": worst["message"],
        "source": source,
        "cause": worst["cause"],
        "build_s": round(build_s, 1),
        "ask_s": round(ask_s, 1),
        "records": records,
    }


def validate(answer: Answer) -> None:
    """Hold an answer against its JSON Schema.

    Raises:
        ValueError: it does not fit; the message names the field.
    """
    fits(answer, SCHEMA_FILE, "answer")


def write(file: Path, answer: Answer) -> None:
    """Replace the file at once.

    Raises:
        CannotKeep: the folder cannot be written.
    """
    validate(answer)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file, json.dumps(answer, indent=1) + "\n")
    except OSError as cannot:
        raise CannotKeep(
            f"cannot write {file}: {cannot.strerror or cannot}", "a writable results folder", "free the disk, then run again"
        ) from cannot


def read(file: Path) -> Answer | None:
    """A kept answer of this schema; None where there is none."""
    try:
        answer: Answer = json.loads(file.read_text())
        validate(answer)
    except (OSError, ValueError):
        return None
    return answer


def lines(answer: Answer) -> list[str]:
    """The answer in words."""
    said = []
    for f in answer["flips"]:
        between = f" ({', '.join(f['between'])} between them could not be asked)" if f["between"] else ""
        old, new = ("last good", "first bad") if f["to"] == "bad" else ("last bad", "first good")
        said.append(f"{old} {f['before']}, {new} {f['after']}{between}")
    if not answer["flips"]:
        given = [e for e in answer["versions"] if e["bad"] is not None]
        if len(given) > 1:
            both = "every version asked is" if answer["scanned"] else f"{given[0]['version']} and {given[-1]['version']} are both"
            more = "" if answer["scanned"] else "; what lies between was not looked for (--scan does)"
            said.append(f"no change: {both} {'bad' if given[0]['bad'] else 'good'}{more}")
        else:
            said.append("no answer: fewer than two versions could be asked")
    said += [f"could not be asked: {version}: {why}" for version, why in answer["not_built"].items()]
    said += [f"left out: {version} is yanked ({why})" for version, why in answer["yanked"].items()]
    if answer["pre_releases"]:
        said.append(f"left out: pre-releases {', '.join(answer['pre_releases'])} (--pre asks them)")
    if answer["not_asked"]:
        said.append(f"not needed: {', '.join(answer['not_asked'])}")
    if answer["commits"]:
        c = answer["commits"]
        said.append(f"first changed commit {c['first']}" if c["first"] else f"one of these commits: {', '.join(c['candidates'])}")
    said += [f"DISAGREES {text}" for text in answer["disagreements"]]
    anew = answer["asked_anew"]
    return [*said, f"{anew} versions asked by searches; {answer['seconds']:g} s, load {answer['load']} on {answer['cores']} cores"]


def file(project: Project) -> Path:
    return project.root / "results" / "bisects.jsonl"


def listed(project: Project) -> list[Answer]:
    """Every complete answer: those that were published, and over them those of later searches."""
    published = [line for line in objects(file(project)) if line.get("schema") == SCHEMA]
    later = [found for one in sorted(folder(project).glob("*.json")) if (found := read(one))]
    newest = {(each["cell"], each["framework"], each["backend"]): each for each in [*published, *later] if each["complete"]}
    return [newest[name] for name in sorted(newest)]


def publish(project: Project) -> None:
    """The answers, a line each, without the records that each version's word was made of."""
    slim = [{**each, "versions": [{**v, "records": []} for v in each["versions"]]} for each in listed(project)]
    if slim:
        replace(file(project), "".join(json.dumps(each) + "\n" for each in slim))


def stamp() -> Answer:
    return {"load": machine.load(), "cores": os.cpu_count() or 1, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
