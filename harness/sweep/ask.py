"""Asks the examples of a sweep's cell in one process, and again in halves where that process dies; careful that what could not be asked accuses nobody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import save_file

from harness import verdict
from harness.case import Finding, as_dtype
from harness.cell import ways
from harness.environment import Environment
from harness.sweep import kept
from harness.sweep.explore import Explored, Found, Reply, explore
from harness.sweep.op import Example
from harness.verdict import Verdict

if TYPE_CHECKING:
    from harness.ask import Asker
    from harness.cell import Cell

CHILD = Path(__file__).resolve().parent.parent / "swept.py"
ALONE_S = 20.0  # for one example
HANGS = 2  # of an item, after which the rest is not waited for
IDLE = 0.1  # of its time: what the halves of a process that hung may need, if it was no slow one
TRIGGER = 1500  # characters
STATUS = {"crash": "crash", "hang": "hang", "loud": "loud"}  # any other kind is silent


@np.errstate(all="ignore")  # a narrow type overflows, and an infinity meets another: both are judged, not warned of
def decide(asker: Asker, cell: Cell, environment: Environment) -> tuple[Verdict, dict[str, Any]]:
    """The verdict of one operation on one column, and what its processes used and said."""
    assert cell.spec.op
    asking = _Asking(asker, cell, environment)
    count = cell.column.examples[cell.mode == "compiled"]
    try:
        with kept.of(cell.spec, asker.project.environments / "sweep"):
            explored = explore(cell.spec.op, asking, framework=cell.column.framework, dtypes=cell.column.dtypes, count=count)
    except _CannotAsk as cannot:
        return cannot.verdict, cannot.reply
    return judged(explored), asking.used


def judged(explored: Explored) -> Verdict:
    """One finding a kind, worst first; a row that holds says how many examples it answered."""
    counted = Finding(check="examples", holds=True, ratio=0.0, got=float(explored.answered), want=float(explored.asked))
    if not explored.found:
        if not explored.answered:
            return Verdict(status="error", cause="harness", message="no example could be asked")
        if explored.differs:
            return Verdict(status="differs", message=explored.differs, findings=(counted,))
        blurred = f"{explored.blurred} examples are not judged: the view alone that they were given is wrong" if explored.blurred else ""
        return Verdict(status="ok", message=blurred, findings=(counted,))
    worst = explored.found[0]
    message = f"{worst.fault.kind}: {_said(worst)}"
    more = [found.fault.kind for found in explored.found[1:]]
    message += f"; also {', '.join(more)}" if more else ""
    return Verdict(
        status=STATUS.get(worst.fault.kind, "silent"), message=message, findings=(counted, *(_finding(f, explored) for f in explored.found))
    )


def _said(found: Found) -> str:
    fault = found.fault
    if fault.kind in STATUS:
        return f"{fault.got or 'died'} ({found.example.told()})"
    return f"{fault.what} got {_short(fault.got)}, want {_short(fault.want)} ({found.example.told()})"


def _finding(found: Found, explored: Explored) -> Finding:
    fault = found.fault
    where = f" at {fault.where}" if fault.where else ""
    return Finding(
        check=fault.kind,
        holds=False,
        ratio=fault.ratio,
        got=fault.got if isinstance(fault.got, float) else fault.got[:200],
        want=fault.want,
        note=f"{fault.what}{where}; {found.example.told()}; {found.of} of {explored.asked} examples".removeprefix("; "),
        trigger=found.example.written(TRIGGER),
    )


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


class _CannotAsk(Exception):
    def __init__(self, verdict: Verdict, reply: dict[str, Any]) -> None:
        self.verdict, self.reply = verdict, reply


class _Asking:
    """Asks examples of one cell; counts what they used."""

    def __init__(self, asker: Asker, cell: Cell, environment: Environment) -> None:
        self.asker, self.cell, self.environment = asker, cell, environment
        self.hangs = 0
        self.used: dict[str, Any] = {"run_s": 0.0, "cpu_s": 0.0, "peak_bytes": 0, "log": ""}

    def __call__(self, examples: Sequence[Example]) -> list[Reply]:
        """A Rust column's element type is settled once a process: there, one process a type."""
        if self.cell.column.language == "python":
            return self._batch(list(examples))
        replies: dict[str, Reply] = {}
        for dtype in dict.fromkeys(e.dtype for e in examples):
            mine = [e for e in examples if e.dtype == dtype]
            replies |= dict(zip((e.key for e in mine), self._batch(mine), strict=True))
        return [replies[e.key] for e in examples]

    def _batch(self, examples: list[Example]) -> list[Reply]:
        """The replies of one process; after a crash, of two halves, until the example stands alone that does it."""
        if not examples:
            return []
        if self.hangs >= HANGS:
            return [Reply(end="unasked")] * len(examples)
        reply = self._call(examples)
        if (cannot := self.asker.no_worker(reply)) is not None:
            raise _CannotAsk(*cannot)
        if reply["end"] == "raised":  # before any example: the run file itself
            decided = verdict.judge_end(reply, self.cell.spec, self.cell.limit_s)
            assert decided
            raise _CannotAsk(decided, reply)
        if reply["end"] == "answer":
            return self._replies(examples, reply)
        if len(examples) > 1:
            half, before = len(examples) // 2, self.used["run_s"]
            replies = [*self._batch(examples[:half]), *self._batch(examples[half:])]
            # What died as a whole only is a finding too, but for a time-out that a busy machine would explain.
            alive, idle = all(part.end in ("answer", "raised") for part in replies), self.used["run_s"] - before < IDLE * self.cell.limit_s
            if alive and (reply["end"] in ("signal", "exit") or (reply["end"] == "hang" and idle)):
                replies[0] = self._died(reply, f" (of {len(examples)} examples in one process; not in two)")
            return replies
        self.hangs += reply["end"] == "hang"
        return [self._died(reply)]

    def _died(self, reply: dict[str, Any], where: str = "") -> Reply:
        died = verdict.judge_end(reply, self.cell.spec, ALONE_S)
        assert died
        return Reply(end=died.status, message=died.message + where)

    def _replies(self, examples: list[Example], reply: dict[str, Any]) -> list[Reply]:
        arrays = self.asker.answer(reply)
        if isinstance(arrays, Verdict):
            raise _CannotAsk(arrays, reply)
        mine: list[dict[str, Any]] = [{} for _ in examples]
        for name, array in arrays.items():
            number, _, part = name.partition("/")
            mine[int(number)][part] = array
        return [self._reply(said, got) for said, got in zip(reply["said"], mine, strict=True)]

    def _reply(self, said: dict[str, Any], arrays: dict[str, Any]) -> Reply:
        if said["end"] == "answer":
            return Reply(end="answer", arrays=arrays)
        if said["end"] == "unasked":
            return Reply(end="unasked")
        decided = verdict.judge_end(said, self.cell.spec, self.cell.limit_s)
        assert decided
        if decided.status in ("absent", "error"):
            raise _CannotAsk(decided, said)
        return Reply(end="crash" if decided.status == "crash" else "raised", message=decided.message, arrays=arrays)

    def _call(self, examples: list[Example]) -> dict[str, Any]:
        asker, cell = self.asker, self.cell
        gradient = cell.spec.op.gradient if cell.spec.op else False
        listed = [{**e.listed(), "view": e.view, "gradient": (gradient or e.view) and not e.invalid} for e in examples]
        arrays = {
            f"{number}/{name}": array
            for number, example in enumerate(examples)
            for name, array in _given(example, wide=cell.column.language == "rust").items()
        }
        inputs = asker.folder / f"{cell.column.id}.swept"  # a probe looks for the list beside it
        with asker.keeping(inputs):
            save_file(arrays, inputs)
            inputs.with_suffix(".json").write_text(json.dumps(listed))
        request = {
            "do": "sweep",
            "swept": str(CHILD),
            "ways": str(ways(asker.project.frameworks, cell.column)),
            "examples": str(inputs.with_suffix(".json")),
            "dtype": examples[0].dtype if self.environment.swept else cell.dtype,
            "limit_s": cell.limit_s if len(examples) > 1 else min(ALONE_S * cell.column.patience, cell.limit_s),
        }
        reply = asker.send(cell, self.environment, request, str(inputs), binary=self.environment.swept)
        if "facts" in reply:
            reply.setdefault("said", reply["facts"].pop("said", []))  # a probe has no other place for it
        self.used |= {
            "run_s": self.used["run_s"] + reply.get("run_s", 0.0),
            "cpu_s": self.used["cpu_s"] + reply.get("cpu_s", 0.0),
            "peak_bytes": max(self.used["peak_bytes"], reply.get("peak_bytes", 0)),
            "facts": reply.get("facts", {}),
            "forked": reply.get("forked", False),
            "log": self.used["log"] if reply["end"] == "answer" else reply.get("log", ""),
        }
        return reply


def _given(example: Example, *, wide: bool) -> dict[str, Any]:
    """The buffers as they are written; ``wide``: whole numbers and masks in int64, the one such type that candle and Burn both read."""
    given = as_dtype({**{name: example.buffer(name) for name in example.asked.tensors}, "upstream": example.upstream}, example.dtype)
    return {k: v.astype(np.int64) if wide and v.dtype.kind in "bui" else v for k, v in given.items()}
