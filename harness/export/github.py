"""GitHub Actions: annotations of what is new, and the job's summary; careful that a message cannot become a second command."""

from __future__ import annotations

from collections import Counter

from harness import record
from harness.export import clean, markdown
from harness.export.gather import FINDING, Selection
from harness.export.place import place
from harness.record import Record
from harness.verdict import STATUSES

LEVELS = {"silent": "error", "crash": "error", "hang": "error", "unstable": "error", "slow": "warning", "loud": "notice"}
SHOWN = 10  # of a level and step, GitHub shows no more: the worst first, and a last line for the rest
ROWS = 100  # of the summary's table; GitHub refuses a summary above 1 MiB
# The order of replacement matters: the percent sign of an escape is no text.
DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
PROPERTY = (*DATA, (":", "%3A"), (",", "%2C"))


def annotate(selection: Selection) -> str:
    """One line a new finding, worst first; nothing at all where nothing is new."""
    found = _new(selection)
    counts: Counter[str] = Counter()
    lines = []
    for one in found:
        level = LEVELS[one["status"]]
        counts[level] += 1
        if counts[level] <= SHOWN:
            lines.append(_annotation(selection, one, level))
    left = sum(n - SHOWN for n in counts.values() if n > SHOWN)
    if left:
        lines.append(_command("notice", {"title": "silentbench"}, f"{left} more new findings: the job's summary has them"))
    return "".join(f"{line}\n" for line in lines)


def _new(selection: Selection) -> list[Record]:
    worst = list(STATUSES)
    return sorted((r for r in selection.records if r["status"] in FINDING and selection.is_new(r)), key=lambda r: worst.index(r["status"]))


def _annotation(selection: Selection, found: Record, level: str) -> str:
    where = place(selection.root, found)
    told = f"{clean.line(found['message'])}\n{clean.line(selection.claim(found))}"
    return _command(level, {"file": where.file, "line": str(where.line), "title": f"{found['status']}: {record.address(found)}"}, told)


def _command(level: str, properties: dict[str, str], message: str) -> str:
    told = ",".join(f"{name}={_escape(clean.line(value, 250), PROPERTY)}" for name, value in properties.items())
    return f"::{level} {told}::{_escape(clean.short(clean.text(message), 2_000), DATA)}"


def _escape(text: str, table: tuple[tuple[str, str], ...]) -> str:
    for char, written in table:
        text = text.replace(char, written)
    return text


def summary(selection: Selection) -> str:
    """For $GITHUB_STEP_SUMMARY: how many of each word, and what is not as it was."""
    counts = " | ".join(f"{s} {n}" for s, n in selection.counts.items() if n).replace(" | ", ", ")
    lines = ["## silentbench", "", f"{len(selection.records)} cells of {markdown.code(selection.what)}: {counts}.", ""]
    changes = [(c, r) for c in ("new", "fixed", "changed") for r in selection.records if selection.change(r) == c]
    if not selection.before:
        lines += ["There is no baseline to compare with: every finding counts as new.", ""]
        changes = [("new", r) for r in _new(selection)]
    if not changes:
        return "\n".join([*lines, "Nothing has changed since the baseline.", ""])
    lines += ["| change | cell | verdict | message |", "|---|---|---|---|"]
    for change, found in changes[:ROWS]:
        cell, message = markdown.code(record.address(found)), markdown.code(found["message"])
        lines.append(f"| {change} | {cell} | {found['status']} | {message} |")
    if len(changes) > ROWS:
        lines += ["", f"{len(changes) - ROWS} more changes are in the other exports."]
    return "\n".join([*lines, ""])
