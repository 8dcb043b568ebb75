"""traincheck as its tutorial uses it: healthy traces, invariants, a faulty trace checked; careful to strike out first what other healthy runs violate.

Each trace is a process under traincheck-collect (full instrumentation of torch, `model` tracked). Tensors are dumped as statistics: with the default, a hash,
traincheck-infer 0.2.0 ends in an AssertionError on this run (the hash is of a matrix's first row, and token 0's gradient is zero). A target trace is a full
one too: a selective one (--invariants) of a healthy run violated 117 of 1,620 invariants, a full one 3.
"""

import dataclasses
import importlib.metadata
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests import rivals_runs as runs
from trainer import faults
from trainer.faults import twin as twins

NAME = "traincheck"
VERSION = importlib.metadata.version("traincheck")
ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tests" / "rivals_traincheck_script.py"
REFERENCE = [runs.Case(seed=1), runs.Case(seed=2), runs.Case(seed=3), runs.Case(seed=1, resumed=True)]
STRUCK = [runs.Case(seed=4), runs.Case(seed=4, resumed=True)]  # and the healthy twin of every faulty configuration
UNSEEN = [runs.Case(seed=seed) for seed in range(21, 26)]
ORDER = ("FunctionLeadRelation", "FunctionCoverRelation")  # which its tutorial calls noise
USE = (
    "traincheck-collect -> traincheck-infer over 4 healthy traces (3 seeds, and one resumed) -> traincheck-check of each faulty run's trace; an invariant "
    "that a held-out healthy run or a healthy twin violates is struck out; any other violation counts as caught"
)


def applies(name):
    return runs.ONE_PROCESS.get(name, "")


def sample(names, each, seed=0):
    """At most so many a layer, drawn; all layers in turn, so that a sweep that is broken off is still a sample."""
    drawn = random.Random(seed)
    layers = {}
    for name in drawn.sample(names, len(names)):
        layers.setdefault(faults.CATALOGUE[name].layer, []).append(name)
    return [of[i] for i in range(max(map(len, layers.values()))) for of in layers.values() if i < len(of) and (not each or i < each)]


class Sweep:
    """Traces and verdicts in a folder of its own, kept between calls: a case that was checked is not run again."""

    def __init__(self, work, data):
        self.work, self.data = Path(work), Path(data)
        self.invariants = self.work / "invariants.json"
        self.work.mkdir(parents=True, exist_ok=True)

    def prepare(self):
        if not self.invariants.exists():
            for case in REFERENCE:
                self.collect(case)
            before, since = runs.cpu_s(), time.monotonic()
            self.tool("infer", "-f", *(str(self.trace(case)) for case in REFERENCE), "-o", str(self.invariants))
            self.note("infer", cpu_s=runs.cpu_s() - before, wall_s=time.monotonic() - since, invariants=len(self.known()))

    def known(self):
        return [json.loads(line) for line in self.invariants.read_text().splitlines()]

    def ask(self, cases):
        """The verdict on each: collected, checked together (one start of the checker), then the traces are removed."""
        missing = [case for case in dict.fromkeys(cases) if not self.verdict(case).exists()]
        for case in missing:
            self.collect(case)
        ready = [case for case in missing if self.ended_well(case)]
        if ready:
            before = runs.cpu_s()
            self.tool(
                "check",
                "-f",
                *(str(self.trace(c)) for c in ready),
                "-i",
                str(self.invariants),
                "-o",
                str(self.work / "checked"),
                "--no-html-report",
            )
            each = (runs.cpu_s() - before) / len(ready)
            for case in ready:
                self.judge(case, each)
        for case in missing:
            if not self.verdict(case).exists():
                self.write(case, {"violated": [], "ended": self.said(case), "check_cpu_s": 0.0})
            shutil.rmtree(self.trace(case))
        return [json.loads(self.verdict(case).read_text()) for case in cases]

    def collect(self, case):
        if self.ended_well(case):
            return
        shutil.rmtree(self.trace(case), ignore_errors=True)
        script = self.work / "script" / SCRIPT.name  # traincheck writes its own version beside it
        script.parent.mkdir(exist_ok=True)
        shutil.copy(SCRIPT, script)
        given = {"RIVALS_ROOT": str(ROOT), "RIVALS_DATA": str(self.data), "RIVALS_CASE": json.dumps(dataclasses.asdict(case))}
        if case.resumed:
            given["RIVALS_SAVED"] = str(self.saved(case))
        before, since = runs.cpu_s(), time.monotonic()
        options = ["--models-to-track", "model", "--tensor-dump-format", "stats", "--output-dir", str(self.trace(case))]
        self.tool("collect", "--pyscript", str(script), *options, given=given, may_fail=True)
        self.note(name_of(case), cpu_s=runs.cpu_s() - before, wall_s=time.monotonic() - since, bytes=size(self.trace(case)))

    def saved(self, case):
        """A healthy run's checkpoint, which the traced process resumes."""
        root = self.work / "saved" / name_of(case)
        shutil.rmtree(root, ignore_errors=True)
        with runs.planted(case.healthy(case.seed), self.data) as (twin, place):
            twin.steps(twin.begin(place), twins.SAVED[-1], saved=lambda run: runs.save(run, root))
            if case.situation == "flipped byte":
                twins._flip(twins.store.folders(root)[0] / "weights.safetensors")
        return root

    def tool(self, name, *arguments, given=None, may_fail=False):
        command = [sys.executable.replace("/python", f"/traincheck-{name}"), *arguments]
        compiled = {
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(self.work / "pycache"),
        }  # else each process compiles all of torch
        environment = {**os.environ, **compiled, "OMP_NUM_THREADS": "1", **(given or {})}
        run = subprocess.run(command, cwd=self.work, env=environment, capture_output=True, text=True, check=False)
        assert may_fail or run.returncode == 0, f"traincheck-{name}: {run.stdout[-2000:]}{run.stderr[-2000:]}"

    def judge(self, case, check_cpu_s):
        text = (self.work / "checked" / self.trace(case).name / "failed.log").read_text()
        violated = []
        for part in text.replace("\n}\n{\n", "\n}\n\0{\n").split("\0") if text.strip() else []:
            found = json.loads(part)
            invariant = found["invariant"]
            violated.append({"what": identity(invariant), "relation": invariant["relation"], "text": invariant["text_description"]})
        printed = (self.trace(case) / "program_output.txt").read_text()
        losses = json.loads(next(line for line in printed.splitlines() if line.startswith("losses")).removeprefix("losses "))
        self.write(case, {"violated": violated, "losses": losses, "ended": "", "check_cpu_s": check_cpu_s})

    def write(self, case, verdict):
        cost = json.loads(self.noted(name_of(case)).read_text())
        self.verdict(case).write_text(json.dumps({**verdict, **cost}))

    def ended_well(self, case):
        output = self.trace(case) / "program_output.txt"
        return output.exists() and output.read_text().endswith("exited with code 0")

    def said(self, case):
        output = self.trace(case) / "program_output.txt"
        lines = output.read_text().strip().splitlines() if output.exists() else ["nothing was written"]
        return next((line for line in reversed(lines) if "Error" in line), lines[-1])[:300]

    def trace(self, case):
        return self.work / f"trace-{name_of(case)}"

    def verdict(self, case):
        return self.work / f"{name_of(case)}.verdict.json"

    def noted(self, name):
        return self.work / f"{name}.cost.json"

    def note(self, name, **numbers):
        self.noted(name).write_text(json.dumps(numbers))


def identity(invariant):
    return json.dumps({key: invariant.get(key) for key in ("relation", "params", "precondition")}, sort_keys=True)


def name_of(case):
    options = [f"{key}-{value}" for key, value in case.options]
    words = [
        case.fault or "healthy",
        case.situation.replace(" ", "-"),
        *options,
        "resumed" * case.resumed,
        "late" * case.late,
        f"seed-{case.seed}",
    ]
    return "_".join(word for word in words if word)


def size(folder):
    return sum(path.stat().st_size for path in folder.iterdir() if path.name.startswith(("trace_", "proxy_log")))
