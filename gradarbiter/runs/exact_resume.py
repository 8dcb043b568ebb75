"""Whether a run that was saved and resumed equals, to the bit, one that was never stopped; careful that a right first loss proves nothing.

The first loss after a resume depends on weights and data alone: a lost optimizer state, step counter or schedule shows one step later. So at least five
steps are compared, and all of the state. A run that does not repeat itself without any resume cannot be asked: that is found out first.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np

from gradarbiter import runs
from gradarbiter.bits import NARROW, narrowed
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.resume_processes import exact_resume_of_command
from gradarbiter.runs import accusation, note

State = Mapping[str, Array]


class Run(Protocol):
    def step(self) -> float:
        """One training step; its loss."""

    def save(self, folder: Path) -> None:
        """Called at two steps of a run, with the same folder."""

    def state(self) -> State:
        """Weights and optimizer state, by name, copies. Widen a type that NumPy has none of."""


Start = Callable[[Path | None], Run]  # a fresh run, seeded; or one that goes on from the folder


def exact_resume(start: Start, *, before: int = 3, after: int = 6, flips: int = 0, say: runs.Say = runs.say) -> Result:
    """Ask ``start``, which makes runs in this process: 2 x (``before`` + ``after``) + ``after`` steps, and ``after`` more for each of ``flips``.

    Each flip is one bit of one file of the newest save: the resume has to refuse it, or to fall back to the save before.
    Fresh objects in one process still share what modules keep: `exact_resume_of_command` asks fresh processes.

    Raises:
        ValueError: fewer than 5 steps after the resume.
    """
    if after < 5 or before < 2:
        found = f"found:   {before} steps before the resume and {after} after it"
        raise ValueError(f"{found}\nwanted:  at least 2 and 5\ndo this: raise them: a first loss after a resume proves nothing")
    return runs.answered("exact_resume", lambda: _ask(start, before, after, flips, say))


def _ask(start: Start, before: int, after: int, flips: int, say: runs.Say) -> Iterator[Finding]:
    total = before + after
    say(
        f"exact_resume: {2 * total + after + flips * after} training steps, {2 * (flips + 1)} saves on disk, two copies of the state in memory"
    )
    whole = start(None)
    losses = [whole.step() for _ in range(total)]
    end = dict(whole.state())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "saved"
        folder.mkdir()
        saving = start(None)
        seen = [saving.step() for _ in range(before - 1)]
        saving.save(folder)
        early = _contents(folder)
        seen.append(saving.step())
        saving.save(folder)
        at_save = {name: np.array(value) for name, value in saving.state().items()}
        seen += [saving.step() for _ in range(after)]
        if (differs := first_difference(losses, seen)) is not None:
            yield from _not_repeated(start, losses, seen, differs, before)
            return
        if names := differing(end, saving.state()):
            raise NotAsked(f"two runs without a resume end with another {names[0]} ({len(names)} differ): switch on deterministic kernels")
        yield note("in one process", "resume", "fresh objects in one process share what modules keep: ask by command for fresh processes")
        yield from _resumed(start(_copy(folder)), losses, at_save, end, before)
        fresh = sorted(path for path, content in _contents(folder).items() if early.get(path) != content)
        for i in range(flips):
            path = fresh[i % len(fresh)]
            yield from _flipped(start, folder, path, i // len(fresh), losses, end, before)


def _not_repeated(start: Start, losses: list[float], seen: list[float], differs: int, before: int) -> Iterator[Finding]:
    """The second run saved and the first did not: a third, which does not save either, says which of the two made the difference."""
    third = start(None)
    again = first_difference(losses, [third.step() for _ in losses])
    if again is not None:
        text = "switch on deterministic kernels and seed everything in start"
        raise NotAsked(f"not deterministic: two runs without a resume differ at step {again} already: {text}")
    numbers = f"{losses[differs].hex()} became {seen[differs].hex()}"
    yield accusation(
        "save disturbs",
        f"step {differs}",
        f"a run that saves (before steps {before - 1} and {before}) goes on with another loss: {numbers}",
    )


def _resumed(run: Run, losses: list[float], at_save: State, end: State, before: int) -> Iterator[Finding]:
    restored = run.state()
    if wrong := differing(at_save, restored):
        text = f"{describe(wrong[0], at_save, restored)}; {len(wrong)} of {len(at_save)} tensors are not as saved, before any step"
        yield accusation("not restored", wrong[0], text, tensors=len(wrong))
    wanted = losses[before:]
    seen = [run.step() for _ in wanted]
    differs = first_difference(wanted, seen)
    if differs is not None:
        first = "the first loss after the resume is right to the bit; " if differs else ""
        numbers = f"{seen[differs].hex()} where the run that was not stopped has {wanted[differs].hex()}"
        text = f"{first}step {before + differs} is the first that differs: {numbers}{elsewhere(losses, seen, before)}"
        yield accusation("another loss", f"step {before + differs}", text, step=before + differs)
    elif wrong := differing(end, run.state()):
        text = f"all {len(wanted)} losses are equal and the state is not: {describe(wrong[0], end, run.state())}; {len(wrong)} differ"
        yield accusation("another state", wrong[0], text, tensors=len(wrong))


def _flipped(start: Start, folder: Path, path: str, turn: int, losses: list[float], end: State, before: int) -> Iterator[Finding]:
    copy = _copy(folder)
    at = flip(copy / path, turn)
    where = f"{path}, byte {at}"
    try:
        run = start(copy)
        seen = [run.step() for _ in losses[before:]]
    except (Exception, SystemExit):  # noqa: BLE001  however it refuses
        return
    going_on = first_difference(losses[before:], seen) is None and not differing(end, run.state())
    if going_on or first_difference(losses[before - 1 :], seen) is None:  # the bit has no meaning; or the save before was taken
        return
    if first_difference(losses, seen) is None:
        yield note("started again", where, "after one flipped bit the run began again at step 0")
        return
    yield accusation("damage read", where, "one flipped bit was loaded without a word, and the run went on with other numbers", byte=at)


def first_difference(wanted: list[float], seen: list[float]) -> int | None:
    """NaN equals NaN: compared are bits."""
    return next((i for i, (a, b) in enumerate(zip(wanted, seen, strict=False)) if float(a).hex() != float(b).hex()), None)


def differing(wanted: State, found: State) -> list[str]:
    return [name for name, value in wanted.items() if name not in found or not _same(value, found[name])] + sorted(
        found.keys() - wanted.keys()
    )


def _same(a: Array, b: Array) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def describe(name: str, wanted: State, found: State) -> str:
    if name not in found:
        return f"{name} is missing"
    if name not in wanted:
        return f"{name} was not there before"
    a, b = np.asarray(wanted[name]), np.asarray(found[name])
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{name} is {b.dtype}{b.shape} and was {a.dtype}{a.shape}"
    if not b.any():
        return f"{name} is all zero"
    if b.dtype.kind == "f" and (bits := narrowed(b)) and not narrowed(a):
        return f"{name} was rounded to {NARROW[bits]}"
    if owner := next((other for other, value in wanted.items() if _same(value, b)), None):
        return f"{name} holds what {owner} had"
    return f"{name} has {np.count_nonzero(a != b)} of {a.size} other values"


def elsewhere(losses: list[float], seen: list[float], before: int) -> str:
    """Whether the run went on from another step."""
    for at in range(len(losses) - 2):
        if at != before and first_difference(losses[at:], seen) is None:
            return f"; they are those from step {at} on"
    return ""


def flip(path: Path, turn: int) -> int:
    """One bit changed in the middle, at the end but one, and so on; which byte."""
    content = bytearray(path.read_bytes())
    places = (len(content) // 2, max(0, len(content) - 2), len(content) // 3, 0)
    at = places[turn % len(places)]
    if content:
        content[at] ^= 1  # "2" becomes "3": what a parser takes
        path.write_bytes(content)
    return at


def _copy(folder: Path) -> Path:
    """Each resume has a copy of its own: it may write there."""
    target = Path(tempfile.mkdtemp(dir=folder.parent)) / "saved"
    shutil.copytree(folder, target)
    return target


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("factory", nargs="?", help="module:function that returns start, or a dict of the arguments of exact_resume")
    parser.add_argument("--command", help="instead: how your run is called, with {steps} {save} {log} and [--resume {resume}]")
    parser.add_argument("--log", default="", help="where the log is inside {save}, if the command has no {log}")
    parser.add_argument("--before", type=int, default=3, help="steps before the resume")
    parser.add_argument("--after", type=int, default=6, help="steps after it")
    parser.add_argument("--corrupt", type=int, default=0, metavar="N", help="flip a bit in N copies of the save, file after file")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds a process may take")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    steps = {"before": options.before, "after": options.after, "flips": options.corrupt}
    if options.command:
        result = exact_resume_of_command(options.command, log=options.log, timeout=options.timeout, **steps)
        return runs.finished(options.command, result, options)
    if not options.factory:
        raise ValueError(
            "found:   neither a factory nor --command\nwanted:  one of them\ndo this: gradarbiter exact-resume module:function"
        )
    return runs.finished(options.factory, exact_resume(**{**steps, **runs.from_factory(options.factory, default="start")}), options)
