"""The display lane: forward, step and gemm of one case, column after column, round after round; careful that ratios come from one run and fresh processes.

These numbers are shown, and the case's own limits are held against them within the run; they are never compared across runs (docs/adr/0003-speed.md).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from typing import Any

from harness import verdict
from harness.ask import Asker, slim
from harness.case import Arrays
from harness.cell import Cell
from harness.errors import BadInput
from harness.record import Record, plain
from harness.verdict import Verdict

FUNCTIONS = ("forward", "step", "gemm")
PLAN = {"functions": FUNCTIONS, "warm_up_s": 0.2, "calls": 5}
ROUNDS = 3  # fresh processes a column: process start decides layout and caches, so one process is not a sample
REFERENCE = "torch"  # the framework that ratios are taken to
# A call that holds its answer adds the answer's bytes, less what the kernel's counters lag behind. Seen less, the framework answered from memory it
# had kept (tinygrad's buffers, tensorflow's allocator), and the number says nothing.
SEEN = 0.9


def measure(
    asker: Asker, cells: list[Cell], *, rounds: int = ROUNDS, said: Callable[[Cell], None] = lambda _: None
) -> Iterator[tuple[Cell, Record]]:
    """Ask the timed cells of one case and dtype, interleaved: A B C, A B C, ...; the record of each with its speed and its verdict.

    A cell that fails, refuses or cannot be asked in its first round is not asked again: its record is that answer.
    """
    first: dict[str, Record] = {}
    raw: dict[str, list[dict[str, Any]]] = {}
    for turn in range(rounds):
        for cell in cells:
            if turn and not raw.get(cell.id):
                continue
            said(cell)
            record, reply = asker.ask_timed(cell, PLAN)
            first.setdefault(cell.id, record)
            if record["status"] == "ok" and "cpu_ns" in reply:
                raw.setdefault(cell.id, []).append(reply)
            elif turn:  # right before, and not now: that is its answer
                first[cell.id] = {**record, "message": f"in round {turn + 1} of {rounds}: {record['message']}"}
                raw.pop(cell.id, None)
    speeds = {cell.id: speed_of(cell, raw[cell.id]) for cell in cells if cell.id in raw}
    references = [quantities(c, speeds[c.id]) for c in cells if c.id in speeds and c.column.framework == REFERENCE and not c.variant]
    for cell in cells:
        record = first[cell.id]
        if cell.id in speeds:
            record = _judged(cell, record, speeds[cell.id], references[-1] if references else None)
        yield cell, record


def speed_of(cell: Cell, replies: list[dict[str, Any]]) -> dict[str, Any]:
    """The record's ``speed``: for each function the median call of each process, in seconds."""
    timing = cell.spec.case.timing
    assert timing

    def medians(clock: str) -> dict[str, list[float]]:
        names = [n for n in FUNCTIONS if all(n in r[clock] for r in replies)]
        return {n: [plain(statistics.median(r[clock][n]) / 1e9) for r in replies] for n in names}

    memory = {n: int(statistics.median(r["memory_bytes"][n] for r in replies)) for n in replies[0]["memory_bytes"]}
    if memory.get("step", 0) < SEEN * bytes_of(cell.spec.want, cell.dtype):
        memory.pop("step", None)
    return {
        "shape": timing.shape,
        "setting": "one core, one thread, fixed malloc thresholds",
        "tokens": timing.tokens,
        "flops": dict(timing.flops),
        "cpu_s": medians("cpu_ns"),
        "wall_s": medians("wall_ns"),
        "memory_bytes": memory,
    }


def quantities(cell: Cell, speed: dict[str, Any]) -> dict[str, float]:
    """What limits are held against. backward = step - forward; memory is a multiple of the bytes of the cell's own inputs, not a number where not seen."""
    found: dict[str, float] = {}
    cpu = {name: statistics.median(values) for name, values in speed["cpu_s"].items() if values}
    if cpu.get("forward") and "step" in cpu:
        found["backward_ratio"] = (cpu["step"] - cpu["forward"]) / cpu["forward"]
        found["step_ratio"] = cpu["step"] / cpu["forward"]
        # The paper's defect beside an equally slow forward: seconds a backward FLOP takes, against one of the framework's own matrix product.
        flops = speed["flops"]
        if cpu.get("gemm"):
            found["backward_gemm_ratio"] = ((cpu["step"] - cpu["forward"]) / (flops["step"] - flops["forward"])) / (
                cpu["gemm"] / flops["gemm"]
            )
    found["memory_ratio"] = speed["memory_bytes"].get("step", math.nan) / bytes_of(cell.spec.tensors, cell.dtype)
    # A first call that was seen to take less than its answer is taken to have held that.
    once = max(speed["memory_bytes"].get("forward", 0), bytes_of(cell.spec.want, cell.dtype))
    found["memory_growth"] = speed["memory_bytes"].get("step", math.nan) / once
    return found


def bytes_of(arrays: Arrays, dtype: str) -> int:
    return sum(v.size for v in arrays.values()) * {"float64": 8, "float32": 4}.get(dtype, 2)


def _judged(cell: Cell, record: Record, speed: dict[str, Any], reference: dict[str, float] | None) -> Record:
    try:
        findings = verdict.judge_speed(cell.spec, quantities(cell, speed), reference)
    except BadInput as unmeasured:
        return {**record, "status": "error", "cause": "harness", "message": f"{unmeasured.found}; {unmeasured.do}"[:400]}
    message, timing = record["message"], cell.spec.case.timing
    assert timing
    if "step" not in speed["memory_bytes"] and any(limit.quantity.startswith("memory") for limit in timing.limits):
        message = "memory was not measured: less memory was seen to be taken than the answer alone has"
    decided = verdict.slow(Verdict(status=record["status"], message=message), findings)
    checks = record["checks"] + [slim(f) for f in findings]
    return {**record, "status": decided.status, "message": decided.message[:400], "checks": checks, "speed": speed}
