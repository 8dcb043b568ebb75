"""From an ended child and its arrays to a status; careful that only what was executed decides, and that our own faults never count against a framework."""

from __future__ import annotations

import dataclasses
import math
import signal
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gradarbiter.core import Array
from harness.case import Arrays, Finding, Spec, close
from harness.errors import BadInput, Cause

STATUSES = {  # worst first: the order of the page's squares
    "silent": "a check fails and nothing was raised",
    "crash": "the process died: by a signal, an abort, its memory cap, or without an answer",
    "hang": "no answer within the time limit",
    "unstable": "fails in some runs and not in others",
    "slow": "right, but a speed or memory check fails",
    "loud": "the framework refused, with an exception or a panic",
    "differs": "a documented choice on which frameworks or versions disagree; never a defect",
    "ok": "all checks hold",
    "absent": "the framework does not offer it",
    "untested": "nobody wrote a run file yet",
    "error": "we could not ask; counts for nobody",
}
BAD = ("silent", "crash", "hang", "unstable", "slow")
EXECUTED = tuple(s for s in STATUSES if s not in ("absent", "untested", "error"))
# The kinds of a refusal that are no framework's doing.
MISSING: dict[str, Cause] = {"toolchain": "toolchain", "install": "install", "device": "device"}
Change = Literal["same", "new", "fixed", "changed"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    status: str
    message: str = ""
    cause: Cause | None = None
    findings: tuple[Finding, ...] = field(default=())


def judge_end(reply: dict[str, Any], spec: Spec, seconds: float) -> Verdict | None:
    """The verdict of a child that gave no arrays to judge; None where it did."""
    end = reply["end"]
    if end == "answer":
        return None
    if end == "raised":
        return _raised(reply)
    if end == "hang":
        return Verdict(status="hang", message=f"no answer within {seconds:g} s")
    if end == "memory":
        return Verdict(
            status="crash",
            message=f"killed at its memory cap: {reply['peak_bytes'] / 2**20:.0f} MiB, allowed {spec.case.limit_gb * 1024:.0f} MiB",
        )
    if end == "signal":
        name = signal.Signals(reply["signal"]).name if reply["signal"] in set(signal.Signals) else f"signal {reply['signal']}"
        return Verdict(status="crash", message=f"died by {name}")
    if end == "exit":
        return Verdict(status="crash", message=f"ended with exit status {reply['code']} before it answered")
    return Verdict(status="error", cause="harness", message=f"the worker's reply cannot be read: {end}: {reply.get('message', '')}")


def _raised(reply: dict[str, Any]) -> Verdict:
    message = next((line for line in f"{reply['type']}: {reply['message']}".splitlines() if line.strip()), "")  # all of it is in the log
    kind = reply["kind"]
    if kind == "framework":
        return Verdict(status="loud", message=message)
    if kind == "unresolved":
        return Verdict(status="absent", message=message)
    if kind in MISSING:
        return Verdict(status="error", cause=MISSING[kind], message=message)
    if kind == "exit":
        return Verdict(status="crash", message=f"ended the process before it answered: {message}")
    if kind == "memory":
        return Verdict(status="crash", message=f"an allocation was refused at its memory cap: {message}")
    return Verdict(status="error", cause="harness", message=f"{reply.get('stage', '')}: {message}")


def judge(spec: Spec, dtype: str, answer: Arrays, framework: str) -> Verdict:
    """Hold an answer's arrays against the reference, and a failing one against what the framework documents, where the case says that it does."""
    unknown = sorted(set(answer) - set(spec.want))
    if unknown:
        return Verdict(
            status="error", cause="harness", message=f"the run file answers {', '.join(unknown)}; the case knows {', '.join(spec.want)}"
        )
    findings = tuple(compare(spec, dtype, answer, spec.want))
    failed = [f for f in findings if not f.holds]
    if not failed:
        return Verdict(status="ok", findings=findings)
    message = "; ".join(f"{f.check}: {_pair(f.got, f.want)}" for f in failed[:3]) + ("; ..." if len(failed) > 3 else "")
    documented = spec.documented.get(framework)
    if documented:
        second = {k: np.asarray(v) for k, v in documented.reference(**spec.tensors).items()}
        if all(f.holds for f in compare(spec, dtype, answer, second)):
            return Verdict(status="differs", message=f"{documented.why} ({documented.link})", findings=findings)
    return Verdict(status="silent", message=message, findings=findings)


def compare(spec: Spec, dtype: str, answer: Arrays, want: Arrays) -> list[Finding]:
    """Every check of the row, in the order of the reference's outputs: present, of the right shape, close."""
    findings = []
    checks = spec.check_list()
    for name, wanted in want.items():
        if name not in answer:
            what = "no gradient" if name.startswith("d") else "no output"
            findings.append(Finding(check=f"{name} present", holds=False, ratio=float("inf"), got=what, want=f"an array {wanted.shape}"))
            continue
        got: Array = np.asarray(answer[name])
        if got.shape != wanted.shape:
            findings.append(Finding(check=f"{name} shape", holds=False, ratio=float("inf"), got=str(got.shape), want=str(wanted.shape)))
            continue
        asked = [c for c in checks if c.output == name] or [close(name)]
        findings += [check.find(got.astype(np.float64), wanted, spec.tolerance(check, dtype)) for check in asked]
    return findings


def judge_speed(spec: Spec, mine: dict[str, float], reference: dict[str, float] | None) -> tuple[Finding, ...]:
    """Hold the speed lane's quantities against the reference framework's of the same run, or the absolute bound where that was not measured.

    A quantity that is not a number was asked for and could not be measured: neither holds nor fails.
    """
    findings = []
    for limit in spec.case.timing.limits if spec.case.timing else ():
        if limit.quantity not in mine:
            raise BadInput(
                f"{spec.row}: a limit on {limit.quantity!r}",
                f"one of {', '.join(mine)}",
                "name a quantity of harness/speed.py, or time gemm too",
            )
        value = mine[limit.quantity]
        if math.isnan(value):
            continue
        theirs = (reference or {}).get(limit.quantity, 0.0)
        if limit.factor and theirs > 0:
            # Never looser than the absolute bound: a reference that is slow itself must not excuse another, nor itself.
            bound = min(limit.factor * theirs, limit.absolute)
            note = f"{limit.factor:g} x the reference framework's {theirs:.3g} in this run, and at most {limit.absolute:g}"
        else:
            bound, note = limit.absolute, "absolute" if limit.factor is None else "absolute: the reference framework was not in this run"
        findings.append(
            Finding(
                check=limit.quantity,
                holds=value <= bound,
                ratio=value / bound,
                got=value,
                want=f"at most {bound:.3g}",
                note=note,
            )
        )
    return tuple(findings)


def slow(verdict: Verdict, speed: tuple[Finding, ...]) -> Verdict:
    """A right answer that breaks a speed or memory check is `slow`; a wrong one stays what it is."""
    failed = [f for f in speed if not f.holds]
    if verdict.status != "ok" or not failed:
        return dataclasses.replace(verdict, findings=verdict.findings + speed)
    message = "; ".join(f"{f.check}: got {_short(f.got)}, want {f.want}" for f in failed)
    return Verdict(status="slow", message=message, findings=verdict.findings + speed)


def change(record: dict[str, Any], before: dict[str, Any] | None) -> Change:
    """How a cell stands to its baseline, per check: a second, new failure never hides behind a known one.

    `new`: bad in another way than before, a further check fails, an answer is gone, or it fails without a baseline. `fixed`: nothing fails
    that failed. `changed`: the rest, neither better nor worse.
    `loud` where it was `ok` is new; `loud` turning `silent` is new. A cell that could not be asked now, or then, is `changed`, never new or fixed.
    """
    status = record["status"]
    if before is None:
        return "new" if status in BAD else "same"
    was = before["status"]
    if status == was:
        now, then = _failing(record), _failing(before)
        return "same" if now == then or status not in BAD else ("new" if now - then else "fixed")
    if status in BAD or (was in EXECUTED and status in ("absent", "untested")):
        return "new"  # another bad word is another failure; an answer that is gone may be a typing error
    if status not in EXECUTED or was not in EXECUTED:
        return "changed"
    if status == "loud":
        return "new" if was in ("ok", "differs") else "fixed"
    return "fixed" if was in BAD or was == "loud" else "changed"


def wilson(failed: int, times: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a failure rate (Wilson 1927): honest also at 0 of n and n of n."""
    z = 1.959964
    rate, spread = failed / times, z * z / times
    middle = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / times + spread / (4 * times)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def _failing(record: dict[str, Any]) -> set[str]:
    return {c["check"] for c in record["checks"] if not c["holds"]}


def _pair(got: float | str, want: float | str) -> str:
    """Both in six digits, or in all where six tell no difference."""
    if _short(got) == _short(want):
        return f"got {got!r}, want {want!r}"
    return f"got {_short(got)}, want {_short(want)}"


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
