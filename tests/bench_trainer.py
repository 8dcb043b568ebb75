"""The trainer's speed beside others', into results/benchmarks/trainer.json; careful that load does not decide: one process a variant, CPU time, rounds.

python -m tests.bench_trainer [--rounds N] [--fresh]

Exits: 0 every bar holds (or no bfloat16 here: not run), 1 a bar does not, 2 the command is wrong, 5 a variant failed, 130 interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tests import bench_trainer_figures as figures
from tests import bench_trainer_variants as variants
from trainer import checkpoint, config

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "results" / "benchmarks" / "trainer.json"
WORK = ROOT / ".nox" / "bench-trainer"
COMMAND = "python3 noxfile.py -s bench-trainer"
CHILD = {
    "OMP_NUM_THREADS": "1",
    "TORCHINDUCTOR_CACHE_DIR": str(WORK / "inductor"),  # later rounds find what the first compiled
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
PROTOCOL = (
    "one process a variant and round, variants in a new order each round; CPU time of the process, 1 thread; warm-up steps first, then cpu_s of each step; "
    "a process counts with its median step (gemm: its best product); ratios within a round; value: geometric mean over the rounds; "
    "lower: one-sided 95 % bound by Student's t on the logarithms"
)


class Failed(Exception):
    """A variant's process ended badly, or what it measures changed meanwhile."""


def main(argv=None, *, console=None):
    parser = argparse.ArgumentParser(prog=f"{COMMAND} --", description="Measure the trainer's speed beside others'.")
    parser.add_argument("--rounds", type=int, default=figures.ROUNDS, help="2 to 10; fewer than 10 are shown and not written to results/")
    parser.add_argument("--fresh", action="store_true", help="drop the rounds that an interrupted run left")
    options = parser.parse_args(argv)
    if not 2 <= options.rounds <= figures.ROUNDS:
        parser.error(f"found --rounds {options.rounds}, wanted 2 to {figures.ROUNDS}")
    console = console or Console()
    if reason := no_bfloat16():
        console.print(f"not run: {reason}")
        write({"status": "not run", "reason": reason, **facts()})
        return 0
    store = WORK / "rounds.jsonl"
    if options.fresh:
        store.unlink(missing_ok=True)
    try:
        records = measure_all(store, options.rounds, console)
    except Failed as failed:
        console.print(f"error: {failed}", markup=False)
        return 5
    except KeyboardInterrupt:
        console.print(f"interrupted; {len(kept(store, identity()))} measurements are kept: the same command goes on from there")
        return 130
    rounds = [{r["variant"]: r for r in records if r["round"] == i} for i in range(options.rounds)]
    found = figures.figures(rounds)
    if options.rounds == figures.ROUNDS:
        write(document(records, found))
    store.unlink()
    return show(found, rounds, console)


def measure_all(store, rounds, console):
    """Every variant in every round; what an interrupted run measured of the same code on the same machine is not measured again."""
    of = identity()
    records = kept(store, of)
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text("".join(json.dumps(line) + "\n" for line in (of, *records)))  # without the half line of a killed run
    done = {(r["round"], r["variant"]) for r in records}
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar, store.open("a") as file:
        task = bar.add_task("", total=rounds * len(variants.VARIANTS), completed=len(done))
        for number in range(rounds):
            order = list(variants.VARIANTS)
            random.Random(number).shuffle(order)
            for name in order:
                if (number, name) in done:
                    continue
                bar.update(task, description=f"round {number + 1}: {name}")
                record = {"round": number, "variant": name, **measure(name)}
                if identity() != of:
                    raise Failed("the trainer or this benchmark changed meanwhile: start again, so that all rounds are of one code")
                records.append(record)
                file.write(json.dumps(record) + "\n")
                file.flush()
                bar.advance(task)
    return [r for r in records if r["round"] < rounds]


def measure(name):
    log = WORK / f"{name}.log"
    command = [sys.executable, "-m", "tests.bench_trainer_variants", name]
    with log.open("w") as stderr:
        run = subprocess.run(command, cwd=ROOT, env={**os.environ, **CHILD}, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
    if run.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise Failed(f"variant {name} ended with {run.returncode}; the end of {log}:\n{tail}")
    found = json.loads(run.stdout.splitlines()[-1])
    return {**found, "cpu_s": [round(s, 5) for s in found["cpu_s"]]}


def kept(store, of):
    """The records in ``store`` if they are of this code and machine."""
    lines = []
    for text in store.read_text().splitlines() if store.exists() else []:
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:  # the last line of a killed run
            continue
    return lines[1:] if lines and lines[0] == of else []


def identity():
    """The machine, and the code that is measured: what `bench_trainer_variants` imports of this repository."""
    names = sorted(name for name in sys.modules if name.startswith(("trainer.", "tests.bench_trainer_")))
    code = hashlib.sha256(b"\0".join(Path(sys.modules[name].__file__).read_bytes() for name in names)).hexdigest()
    return {"code": code, "machine": machine()}


def machine():
    whole = checkpoint.environment(config.tiny())
    kept = {key: whole[key] for key in ("chip", "torch", "python", "numpy")}
    return {**kept, "transformers": metadata.version("transformers"), "cores": os.cpu_count(), "threads": 1}


def facts():
    return {"date": datetime.now(tz=UTC).date().isoformat(), "command": COMMAND, "machine": machine()}


def no_bfloat16():
    """Why there is nothing to measure, or nothing."""
    able = torch.cpu.get_capabilities()
    if any(able.get(key) for key in ("avx512_bf16", "amx_bf16", "bf16")):  # the last is Arm's
        return ""
    return f"this processor ({machine()['chip']}) has no bfloat16 products"


def document(records, found):
    loads = [load for r in records for load in r["load"]]
    of_each = {}
    for name, what in variants.MEANINGS.items():
        mine = [r for r in sorted(records, key=lambda r: r["round"]) if r["variant"] == name]
        same = {key: mine[0][key] for key in mine[0] if key not in ("round", "variant", "cpu_s", "load")}
        of_each[name] = {"what": what, **same, "cpu_s": [r["cpu_s"] for r in mine]}
    return {
        "status": "measured",
        **facts(),
        "code": identity()["code"],
        "load": {"before": round(loads[0], 2), "after": round(loads[-1], 2), "highest": round(max(loads), 2)},
        "protocol": PROTOCOL,
        "shape": variants.SHAPE,
        **found,
        "held_by": figures.bars(found),
        "variants": of_each,
    }


def write(what):
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(what, indent=1)
    RESULT.write_text(compact(text) + "\n")


def compact(text):
    """Lists of numbers on one line each."""
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda row: f"[{' '.join(row[1].split())}]", text)


def show(found, rounds, console):
    """The exit status: a bar holds if the eager or the compiled step holds it, and the table shows both."""
    speeds = Table("variant", "tokens a CPU second", "useful GFLOP/s", title=f"medians of {len(rounds)} rounds")
    for name in variants.VARIANTS:
        mine = [measured[name] for measured in rounds]
        if name == "gemm":
            speeds.add_row(name, "", f"{statistics.median(m['flop_per_step'] / min(m['cpu_s']) for m in mine) / 1e9:.0f}")
            continue
        tokens = statistics.median(figures.rate(m) for m in mine)
        speeds.add_row(name, f"{tokens:,.0f}", f"{tokens * mine[0]['useful_flop_per_token'] / 1e9:.0f}")
    table = Table("figure", "value", "lower 95 %", "bar", "goal", "held", title="speed of ours by another's, CPU time")
    for name, f in found.items():
        held = {None: "", True: "held", False: "not held"}[f["held"]]
        limits = ("" if f[key] is None else f"{f[key]:.2f}" for key in ("bar", "goal"))
        table.add_row(name, f"{f['value']:.3f}", f"{f['lower']:.3f}", *limits, held)
    console.print(speeds, table)
    held_by = figures.bars(found)
    for name, by in held_by.items():
        if name not in by:
            console.print(f"{name}: not held by the eager step" + (f"; {by[0]} holds it" if by else ""))
    return 0 if all(held_by.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
