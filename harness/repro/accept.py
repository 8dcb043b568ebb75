"""Whether a repro's run shows the record's failure and no other; careful that a repro which fails in another way is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.repro.question import Failing, Question

# What a bundle prints: one line an output, before it its worst numbers.
NUMBER = re.compile(r"^(?P<name>[\w ]+?)(?P<place>\[[\d, ]*\]): got (?P<got>\S+), want (?P<want>\S+), allowed")
VERDICT = re.compile(r"^(?P<name>[\w ]+): (?P<word>WRONG|right), (?P<said>.*)$")
REFUSAL = re.compile(r"^y: got (?P<got>.*), want a refusal$", re.DOTALL)
NEAR = 1e-2  # relative: what another order of a sum may move a wrong number by


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a run printed of one output."""

    wrong: bool
    said: str
    numbers: dict[str, float]  # place -> got


def shown(output: str) -> dict[str, Shown]:
    """By output, what a run printed."""
    found: dict[str, Shown] = {}
    numbers: dict[str, dict[str, float]] = {}
    for line in output.splitlines():
        if number := NUMBER.match(line):
            numbers.setdefault(number["name"], {})[number["place"]] = float(number["got"])
        elif verdict := VERDICT.match(line):
            name = verdict["name"]
            found[name] = Shown(wrong=verdict["word"] == "WRONG", said=verdict["said"], numbers=numbers.get(name, {}))
    return found


def refused(question: Question, code: int, output: str) -> str:
    """Why the run does not show what the record says; nothing where it does."""
    if code == 2:
        return "it could not run: " + _last(output)
    if code == 0:
        return "the defect is not there"
    if code != 1:
        return f"it ended with {code}: " + _last(output)
    if question.expects == "refusal":
        return "" if any(REFUSAL.match(line) for line in output.splitlines()) else "no answer that should have been refused"
    if any(f.kind == "loud" for f in question.failing):
        return _loud(question.failing, output)
    made = shown(output)
    for failing in question.failing:
        if why := _one(failing, made.get(_printed(failing)), _place(question, failing)):
            return f"{_printed(failing)}: {why}"
    if question.example is None:
        recorded = {f.name for f in question.failing}
        if more := [name for name, s in made.items() if s.wrong and name not in recorded]:
            return f"{', '.join(more)}: wrong here, and right in the record"
    return ""


def _printed(failing: Failing) -> str:
    return f"{failing.name} afterwards" if failing.kind == "mutates" else failing.name


def _place(question: Question, failing: Failing) -> str:
    """Where the record's number stands; a Rust bundle counts through all axes."""
    if question.cell.column.language != "rust":
        return failing.place or "[]"
    shape = next((o.want.shape for o in question.outputs if o.name == failing.name), ())
    at = tuple(map(int, re.findall(r"\d+", failing.place)))
    return f"[{int(np.ravel_multi_index(at, shape)) if shape and len(at) == len(shape) else 0}]"


def _one(failing: Failing, here: Shown | None, place: str) -> str:
    if here is None or not here.wrong:
        return "right here, and wrong in the record"
    absent = "got nothing" in here.said
    if failing.kind in ("present", "missing"):
        return "" if absent else "a gradient here, and none in the record"
    if absent:
        return "nothing here, and numbers in the record"
    if isinstance(failing.got, str):  # a shape, or a word for what was there
        return "" if failing.kind == "mutates" or not here.numbers else f"numbers here, and {failing.got} in the record"
    if not here.numbers:
        return "another shape here, and numbers in the record"
    got = here.numbers.get(place)
    if got is None:
        kinds = {_kind(n) for n in here.numbers.values()}
        return "" if _kind(failing.got) in kinds else f"{', '.join(sorted(kinds))} here, and {failing.got} in the record"
    return "" if near(got, failing.got) else f"{got} here, and {failing.got} in the record"


def near(a: float, b: float) -> bool:
    """The same number, give or take what another machine's order of summation moves it; NaN is NaN and an infinity itself."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return _kind(a) == _kind(b)
    return abs(a - b) <= NEAR * max(abs(a), abs(b))


def _kind(value: float) -> str:
    return "NaN" if math.isnan(value) else "a number" if math.isfinite(value) else str(value)


def _loud(failing: Sequence[Failing], output: str) -> str:
    """The same class of exception, where the record has one."""
    said = next((line for line in output.splitlines() if line.startswith("raised: ")), "")
    if not said:
        return "nothing was raised"
    words = said.removeprefix("raised: ").partition(":")[0]
    recorded = str(next(f.got for f in failing if f.kind == "loud"))
    return "" if words in recorded or words == "refused" else f"{words} here, and in the record: {recorded[:120]}"


def _last(output: str) -> str:
    return (output.strip().splitlines() or ["no output"])[-1][:200]
