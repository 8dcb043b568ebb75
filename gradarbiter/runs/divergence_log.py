"""What a run's log of every step shows: losses that are not finite, skips, spikes, divergence, gaps; careful that a sparse log is no evidence.

A log of every tenth step cannot show a loss that was infinite in between, so it is not asked. A spike is far outside of the losses before it (in deviations
of their own median), and a note: runs recover. What accuses is what did not come back: half of what was learned lost, steps missing, a loss that never fell.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gradarbiter import runs
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.runs import accusation, note

SPAN = 50  # losses whose median and spread a loss is judged by
SPIKE = 8.0  # robust deviations: 1e-15 of a normal distribution, and still rare where single batches have heavy tails
NORMAL = 1.4826  # median absolute deviation -> standard deviation, of a normal distribution
SURE = 3.0  # deviations of a median
SCALES = 24  # skips in a row: a loss scale that starts at 2^16 and is halved at each has left every useful value behind


@dataclass(frozen=True, kw_only=True)
class Step:
    step: int
    loss: float
    skipped: str  # the reason; empty: it was not


def divergence_log(
    path: Path | str, *, step: str = "step", loss: str = "loss", skipped: str = "skipped", event: str = "event", say: runs.Say = runs.say
) -> Result:
    """Read a log of JSON lines. ``step``, ``loss``, ``skipped`` (a reason, or true) and ``event`` are its fields; a line whose event is not "step" is none.

    NaN and infinity may be written as JSON's missing literals or as "nan", "inf". Costs nothing but reading.
    """

    def ask() -> Iterator[Finding]:
        lines = _lines(Path(path))
        say(f"divergence_log: reads {len(lines):,} lines")
        yield from _resumes(lines, event, step)
        steps = [_step(line, step, loss, skipped) for line in lines if loss in line and step in line and line.get(event, "step") == "step"]
        if len(steps) < 2:
            raise NotAsked(f"{len(steps)} lines have {step!r} and {loss!r}: name the fields that hold them (--step, --loss)")
        jumps = Counter(b.step - a.step for a, b in pairwise(steps))
        if (stride := jumps.most_common(1)[0][0]) > 1:
            raise NotAsked(f"one line in {stride} steps: what happened between cannot be seen; log every step")
        yield from _numbering(steps)
        yield from _not_finite(steps)
        yield from _skips(steps)
        last = {one.step: one for one in steps}  # a step that was done again counts as it was last done
        losses = np.array([last[at].loss for at in sorted(last) if math.isfinite(last[at].loss)])
        yield from _course(losses, starts=min(last) <= 1)

    return runs.answered("divergence_log", ask)


def _resumes(lines: list[dict[str, Any]], event: str, step: str) -> Iterator[Finding]:
    for line in lines:
        at = line.get("from_step", line.get(step, 0))
        if line.get(event) in ("start", "resume") and at:
            yield note("resume", f"step {at}", f"the run went on from step {at}")
    other = Counter(str(line[event]) for line in lines if event in line and line[event] not in ("step", "start", "resume"))
    if other:
        yield note("events", "log", ", ".join(f"{count} x {name}" for name, count in other.most_common(8)))


def _numbering(steps: list[Step]) -> Iterator[Finding]:
    seen: dict[int, float] = {}
    again, changed = [], []
    for one in steps:
        if one.step in seen:
            again.append(one.step)
            if not _equal(seen[one.step], one.loss):
                changed.append(one.step)
        seen[one.step] = one.loss
    if again:
        text = f"{len(again)} steps are there twice, {len(changed)} of them with another loss: " + (
            f"what went on at step {changed[0]} was not the same run to the bit" if changed else "repeated after a resume, to the bit"
        )
        yield note("repeated steps", f"step {again[0]}", text, steps=len(again), changed=len(changed))
    gaps = sorted(set(range(min(seen), max(seen) + 1)) - seen.keys())
    if gaps:
        yield accusation(
            "missing steps", f"step {gaps[0]}", f"{len(gaps)} steps between {min(seen)} and {max(seen)} have no line", steps=len(gaps)
        )


def _not_finite(steps: list[Step]) -> Iterator[Finding]:
    bad = [one for one in steps if not math.isfinite(one.loss)]
    kept = [one for one in bad if not one.skipped]
    if kept:
        text = f"{len(kept)} losses are not finite ({kept[0].loss} first), and their steps were not skipped"
        yield accusation("not finite", f"step {kept[0].step}", text, steps=len(kept))
    if len(bad) > len(kept):
        yield note(
            "not finite",
            f"step {bad[0].step}",
            f"{len(bad) - len(kept)} losses that are not finite were skipped",
            steps=len(bad) - len(kept),
        )


def _skips(steps: list[Step]) -> Iterator[Finding]:
    skips = [one for one in steps if one.skipped]
    if not skips:
        return
    reasons = ", ".join(f"{count} x {reason}" for reason, count in Counter(one.skipped for one in skips).most_common(5))
    yield note("skipped", f"step {skips[0].step}", f"{len(skips)} of {len(steps)} steps were skipped: {reasons}", steps=len(skips))
    row = longest = 0
    for one in steps:
        row = row + 1 if one.skipped else 0
        longest = max(longest, row)
    if longest > SCALES:
        text = (
            f"{longest} steps in a row were skipped: no search for a loss scale takes more than {SCALES}; nothing was trained in that time"
        )
        yield accusation("skipping", f"step {skips[0].step}", text, steps=longest)


def _course(losses: np.ndarray[Any, np.dtype[np.float64]], *, starts: bool) -> Iterator[Finding]:
    span = min(SPAN, len(losses) // 4)
    if span < 5:
        yield note("not asked", "course", f"{len(losses)} finite losses: spikes, divergence and fall need at least 20")
        return
    median = np.array([np.median(losses[i : i + span]) for i in range(len(losses) - span + 1)])
    spread = np.array([NORMAL * np.median(np.abs(losses[i : i + span] - median[i])) for i in range(len(median))])
    above = (losses[span:] - median[:-1]) / np.maximum(spread[:-1], 1e-12 + 1e-6 * np.abs(median[:-1]))  # a flat log: its printed digits
    spikes = np.flatnonzero(above > SPIKE) + span
    if spikes.size:
        worst = int(spikes[np.argmax(above[spikes - span])])
        high = f"the worst {losses[worst]:.3f} after {median[worst - span]:.3f}"
        text = f"{spikes.size} losses are more than {SPIKE:.0f} deviations above the {span} before, {high}"
        yield note("spikes", f"loss {worst}", text, spikes=spikes.size)
    first, last, lowest = float(median[0]), float(median[-1]), float(median.min())
    error = 1.2533 * float(spread[0] + spread[-1]) / math.sqrt(span)  # of a median: sqrt(pi / 2) deviations / sqrt(n)
    numbers = {"first": first, "last": last, "lowest": lowest}
    # The lowest of n / span independent medians lies about sqrt(2 ln(n / span)) of their deviations below the middle one by chance.
    chance = (SURE + math.sqrt(2 * math.log(len(losses) / span))) * error
    if last - lowest > max(0.5 * (first - lowest), chance):
        at = int(median.argmin())
        text = (
            f"median loss {first:.3f} at first, {lowest:.3f} at best (loss {at}), {last:.3f} at the end: half of what was learned is lost"
        )
        yield accusation("diverged", f"loss {at}", text, **numbers)
    elif starts and first - last < SURE * error:
        text = f"median loss {first:.3f} at first, {last:.3f} at the end"
        if SURE * error < 0.01 * abs(first):  # a fall of one in a hundred would have been seen
            yield accusation("not falling", "loss", f"{text}: it does not fall", **numbers)
        else:
            yield note("not falling", "loss", f"{text}: a fall, if any, is within the noise of {error:.3f}", **numbers)
    else:
        yield note("course", "loss", f"median of {span}: {first:.3f} at first, {lowest:.3f} at best, {last:.3f} at the end", **numbers)


def _equal(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _step(line: dict[str, Any], step: str, loss: str, skipped: str) -> Step:
    reason = line.get(skipped)
    value = line[loss]
    number = (
        math.nan if value is None else float.fromhex(value) if isinstance(value, str) and value.startswith(("0x", "-0x")) else float(value)
    )
    return Step(step=int(line[step]), loss=number, skipped=reason if isinstance(reason, str) else "no reason given" if reason else "")


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        raise NotAsked(f"there is no {path}: give the log of a run")
    found = []
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:  # the last line of a killed run
            continue
        if isinstance(line, dict):
            found.append(line)
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, help="the log, one JSON object a line")
    for name in ("step", "loss", "skipped", "event"):
        parser.add_argument(f"--{name}", default=name, help=f"the field that holds it ({name})")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    fields = {name: getattr(options, name) for name in ("step", "loss", "skipped", "event")}
    return runs.finished(str(options.path), divergence_log(options.path, **fields), options)
