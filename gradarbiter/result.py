"""What a check says; careful that a check which could not be asked never looks like one that holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Status = Literal["ok", "fail", "not asked", "error"]
WORST: Sequence[Status] = ("error", "fail", "not asked", "ok")


class NotAsked(Exception):
    """A check cannot be asked of this subject: its text says what is missing and what to give."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was seen. ``accuses``: it is a defect; else a note that a person may want to read.

    ``parameter`` is a parameter's name, or what else the finding is about (a tensor, a step, a position).
    """

    kind: str
    parameter: str
    text: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    accuses: bool = True


@dataclass(frozen=True, kw_only=True)
class Result:
    """The answer of one check. ``reason`` is why it was not asked, or what it raised; ``cpu_s`` its cost in CPU seconds of this process."""

    check: str
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    raised: bool = False
    cpu_s: float = 0.0

    @property
    def status(self) -> Status:
        if self.raised:
            return "error"
        if any(finding.accuses for finding in self.findings):
            return "fail"
        return "not asked" if self.reason else "ok"

    @property
    def accusations(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.accuses)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The answers of several checks about one subject."""

    subject: str
    results: tuple[Result, ...]

    @property
    def holds(self) -> bool:
        """No check fails or raises. One that was not asked does not count against the subject, and is shown."""
        return not any(result.status in ("fail", "error") for result in self.results)

    @property
    def accusations(self) -> tuple[Finding, ...]:
        return tuple(finding for result in self.results for finding in result.accusations)

    @property
    def exit_status(self) -> int:
        """0: all that was asked holds; 1: a check fails; 2: a check raised; 4: nothing could be asked."""
        found = {result.status for result in self.results}
        if "error" in found:
            return 2
        if "fail" in found:
            return 1
        return 0 if "ok" in found else 4

    def __getitem__(self, check: str) -> Result:
        return next(result for result in self.results if result.check == check)

    def as_dict(self) -> dict[str, Any]:
        rows = [{"status": result.status, **asdict(result)} for result in self.results]
        return {"subject": self.subject, "exit_status": self.exit_status, "results": rows}

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=1, default=float)

    def lines(self) -> Iterator[str]:
        """The report as plain text, the worst first."""
        yield self.subject
        for result in sorted(self.results, key=lambda r: WORST.index(r.status)):
            yield f"{result.status:9}  {result.check}" + (f": {result.reason}" if result.reason else "")
            for finding in result.findings:
                yield f"           {'' if finding.accuses else 'note: '}{finding.parameter}: {finding.text}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __bool__(self) -> bool:
        """Refused: ``assert check(...)`` and ``if check(...)`` could be read either way."""
        raise TypeError("found: a report used as a truth value; wanted: report.holds; do this: assert report.holds, report")
