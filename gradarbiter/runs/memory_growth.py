"""Whether training steps leave memory behind; careful that the first steps fill caches and optimizer states, and that a kept number a step is no leak."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from gradarbiter import runs
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.runs import accusation, note

Held = Callable[[], Mapping[str, int]]  # what is held now, by what it is: "bytes of float32(64, 512)", "graph nodes"

ENOUGH = 1024  # bytes a step: a gigabyte after a million steps; a list of losses grows by less
PAGES = 16384  # bytes a step, of resident memory: allocators move in pages and arenas
BLOCKS = 4


def memory_growth(
    step: Callable[[], Any], *, steps: int = 10, warm_up: int = 4, held: Held | None = None, say: runs.Say = runs.say
) -> Result:
    """Call ``step``, one training step of a run that may be thrown away, and see whether each of the steps after ``warm_up`` leaves more behind.

    ``held``: what is counted; without it torch's tensors and graph nodes where torch is loaded, else `resident_bytes`, the process's memory (Linux), over
    five times as many steps because an allocator takes memory in lumps. Tensors that only C++ holds are seen on GPUs, and as graph nodes, not otherwise.
    """

    def ask() -> Iterator[Finding]:
        look = held or (_torch() if "torch" in sys.modules else resident_bytes)
        resident = look is resident_bytes
        count = steps * 5 if resident else steps
        if count < 5:
            raise NotAsked(f"{steps} steps: give at least 5")
        say(f"memory_growth: {warm_up + count} training steps of this run, and as many counts of what is held")
        for _ in range(warm_up):
            step()
        seen = [dict(look())]
        for _ in range(count):
            step()
            seen.append(dict(look()))
        yield from _resident([one["resident bytes"] for one in seen]) if resident else _exact(seen)

    return runs.answered("memory_growth", ask)


def _exact(seen: list[dict[str, int]]) -> Iterator[Finding]:
    """Counts are exact, so a leak is more after every single step."""
    steps = len(seen) - 1
    kinds = {kind for one in seen for kind in one}
    growth = {kind: [b.get(kind, 0) - a.get(kind, 0) for a, b in pairwise(seen)] for kind in kinds}
    growing = {kind: sum(each) / steps for kind, each in growth.items() if min(each) > 0}
    nodes = growing.pop("graph nodes", 0)
    if nodes:
        text = f"{nodes:.0f} graph nodes more after each of {steps} steps: something keeps a tensor with its graph (detach what is kept)"
        yield accusation("graph kept", "graph nodes", text, nodes=nodes)
    total = sum(growing.values())
    if growing:
        largest = max(growing, key=growing.__getitem__)
        text = f"{total:,.0f} bytes more after each of {steps} steps, most of it {largest.removeprefix('bytes of ')}: 1 GiB after {2**30 / total:,.0f} steps"
        make = accusation if total > ENOUGH else note
        yield make("growing", largest.removeprefix("bytes of "), text, bytes_per_step=total)
    yield note("held", "tensors", f"{sum(v for k, v in seen[-1].items() if k != 'graph nodes'):,} bytes after the last step")


def _resident(seen: list[int]) -> Iterator[Finding]:
    """Resident memory grows in lumps and settles: a leak grows in every quarter of the steps, and by a like amount."""
    size = (len(seen) - 1) // BLOCKS
    blocks = [seen[(i + 1) * size] - seen[i * size] for i in range(BLOCKS)]
    rate = sum(blocks) / (BLOCKS * size)
    text = f"resident memory grew by {', '.join(f'{b:,}' for b in blocks)} bytes in {BLOCKS} times {size} steps"
    if min(blocks) > 0 and min(blocks) * 2 >= max(blocks) and rate > PAGES:
        yield accusation("growing", "resident memory", f"{text}: 1 GiB after {2**30 / rate:,.0f} steps", bytes_per_step=rate)
    else:
        yield note("held", "resident memory", text, bytes_per_step=rate)


def resident_bytes() -> dict[str, int]:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        raise NotAsked("resident memory is read from /proc, which is not here: give held=") from None
    return {"resident bytes": pages * os.sysconf("SC_PAGE_SIZE")}


def _torch() -> Held:
    from gradarbiter.frameworks.torch_runs import census

    return census


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("factory", help="module:function that returns step, or a dict of the arguments of memory_growth")
    parser.add_argument("--steps", type=int, default=10, help="steps that are looked at")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    given = runs.from_factory(options.factory, default="step")
    return runs.finished(options.factory, memory_growth(**{"steps": options.steps, **given}), options)
