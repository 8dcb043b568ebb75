"""Records and specs that look like a real run; careful to hold every status, a sweep, variants and a timed case. Nothing here ran."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_plan import CASES, COLUMNS, ITEMS
from synthetic_records import check, square

from harness.case import Absent, Case, Documented, Item, Limit, Spec, Timing, Tol


def inputs(rng):
    return {"x": rng.standard_normal((2, 4)), "dy": rng.standard_normal((2, 4))}


def reference(x, dy):
    return {"y": x, "dx": dy}


@dataclass(frozen=True)
class Run:
    records: list[dict[str, Any]]
    baseline: list[dict[str, Any]]
    specs: list[Spec]
    root: Path
    facts: dict[str, Any]


def make(root: Path, *, cells: int = 0, seed: int = 0) -> Run:
    """A run in a project folder at ``root``; with ``cells``, the sweep has as many items as it takes to reach that many cells."""
    dice = random.Random(seed)
    records: list[dict[str, Any]] = []
    for case in CASES:
        names = [f"{case}:{i}" for i in ITEMS] if case == "layout_mismatch" else [case]
        records += [r for row in names for column in COLUMNS for r in square(root, row, column, dice)]
    extra = 0
    while len(records) < cells:
        extra += 1
        records += [r for column in COLUMNS for r in square(root, f"layout_mismatch:view_{extra}", column, dice)]
    baseline = [dict(r) for r in records]
    baseline = [b for b in baseline if b["row"] != "slow_backward"]
    for old in baseline:
        if old["row"].endswith("matmul_broadcast_left") and old["column"] == "candle-0.11.1":
            old |= {"status": "silent", "checks": [check("y close", holds=False)]}
        if old["row"] == "rope_axis" and old["column"] == "burn-0.21.0":
            old |= {"status": "ok", "checks": [check("y close")]}
    for record in [*records, *baseline]:
        record.pop("row", None)
    facts = {
        "run": "20261129-1404-x1",
        "started": "2026-11-29T14:04:11Z",
        "ended": "2026-11-29T14:09:52Z",
        "platform": "linux-x86_64",
        "cpu": "AMD EPYC 9555 64-Core Processor, 2 cores",
        "load": 0.42,
        "mutants": {"killed": 412, "total": 415, "explained": 3},
        "twins_accused": 0,
        "harness_errors": 0,
        "overhead": "4 % of the CPU time",
        "command": "python3 noxfile.py",
    }
    return Run(records, baseline, specs(root, extra), root, facts)


def specs(root: Path, extra: int = 0) -> list[Spec]:
    made = []
    for name, (failure, claim, dtypes) in CASES.items():
        eps = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
        tol = {
            d: Tol(rtol=8 * eps[d], atol=eps[d], why=f"a sum of 4 products: at most 8 roundings of 2^{int(np.log2(eps[d]))}")
            for d in dtypes
        }
        names = [*ITEMS, *(f"view_{i + 1}" for i in range(extra))] if name == "layout_mismatch" else [""]
        absent = (
            {"torch": Absent(names=("torch.nn.functional.rope",), why="torch has no rotary embedding of its own")}
            if name == "rope_axis"
            else {}
        )
        documented = (
            {
                "mlx": Documented(
                    reference=reference, link="https://ml-explore.github.io/mlx/build/html/python/nn.html", why="half-split pairs"
                )
            }
            if name == "rope_axis"
            else {}
        )
        case = Case(
            claim=claim,
            failure=failure,
            inputs=inputs,
            reference=reference,
            tol=tol,
            items={n: Item(claim=f"{n.replace('_', ' ')}: view equals copy") for n in names if n},
            absent=absent,
            documented=documented,
            explained={"dy:first row reused": "the two rows are equal by construction"} if name == "rms_norm_backward" else {},
            tracker={"candle": "https://github.com/huggingface/candle/issues/2168 open: fused norms have no backward"}
            if name == "rms_norm_backward"
            else {},
            timing=Timing(
                shape="4 blocks, width 256, batch 4 x 128 tokens",
                flops={"forward": 4e9},
                limits=(Limit(quantity="backward/forward", factor=3, absolute=6, why="x"),),
            )
            if failure == "speed"
            else None,
            guards="trainer/model.py norms" if name == "rms_norm_backward" else "",
        )
        for item in names:
            own = case.items[item].claim if item else claim
            made.append(
                Spec(
                    case=case,
                    id=name,
                    item=item,
                    claim=own,
                    inputs=inputs,
                    reference=reference,
                    tol=tol,
                    checks=(),
                    batch=(),
                    explained=case.explained,
                    absent=absent,
                    documented=documented,
                    device="",
                    folder=root / "cases" / name,
                )
            )
    return made
