"""Asks one cell and makes its record: inputs out, answer in, verdict, evidence; careful that every path ends in a record."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from harness import contract, machine, verdict
from harness import environment as environments
from harness.case import Arrays, Finding, Spec, as_dtype
from harness.cell import Cell, between
from harness.client import Worker
from harness.environment import Environment
from harness.errors import CannotKeep, Cause
from harness.project import Project, platform_name
from harness.record import SCHEMA, Record, plain
from harness.sweep import ask as swept
from harness.verdict import Verdict

# glibc's growing thresholds give one process page faults that its twin does not have: alone they moved a backward/forward ratio from 2.5 to 3.6.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(2**32), "MALLOC_TRIM_THRESHOLD_": str(2**32)}
NO_WORKER: Mapping[str, Cause] = {"worker": "harness", "start": "install"}
KILLED = ("signal", "hang", "memory")  # ends that may leave a file half written
LOG_KEPT = 700  # characters of a cell's log that its record keeps, where it is not ok


@dataclass
class Asker:
    """Holds the warm workers of a run and the folder of its tensors. Use as a context manager: leaving it leaves no process and no file."""

    project: Project
    run: str
    framework_cpu_s: float = 0.0  # of the cells asked so far, what was their framework's own
    ever: list[Worker] = field(default_factory=list)  # every worker this run has started
    _workers: dict[str, Worker] = field(default_factory=dict)
    _environments: dict[str, Environment] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="silentbench-"))
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, cell: Cell) -> Environment:
        column = cell.column
        if column.id not in self._environments:
            self._environments[column.id] = environments.read(self.project, column)
        return self._environments[column.id]

    def ask(self, cell: Cell) -> Record:
        """The record of one cell; asked ``repeat`` times where the case says so, and `unstable` where the answers then disagree."""
        times = cell.spec.case.repeat
        records = [self.ask_timed(cell, None)[0] for _ in range(times)]
        failed = [r for r in records if r["status"] in verdict.BAD]
        if not failed or len(failed) == times:
            return records[-1]
        low, high = verdict.wilson(len(failed), times)
        message = f"fails {len(failed)} of {times} (95 % interval {low:.0%} to {high:.0%}): {failed[0]['message']}"
        return {**failed[0], "status": "unstable", "message": message[:400]}

    def ask_timed(self, cell: Cell, plan: Mapping[str, Any] | None) -> tuple[Record, dict[str, Any]]:
        """The record of one cell and the worker's reply; with ``plan`` the child times its functions and the reply holds the raw timings."""
        started, load = time.time(), machine.load()
        decided, reply = self._decide(cell, plan)
        return {**self._record(cell, decided, reply, started), "load": load}, reply

    def close_others(self, column: str) -> None:
        """Stop the workers of other columns: their warm parents hold memory that nobody asks for any more."""
        for name in [n for n in self._workers if n != column]:
            self._workers.pop(name).stop()

    def _decide(self, cell: Cell, plan: Mapping[str, Any] | None) -> tuple[Verdict, dict[str, Any]]:
        spec, framework = cell.spec, cell.column.framework
        environment = self.environment(cell)
        if problem := contract.problem(spec):
            return Verdict(status="error", cause="harness", message=problem), {}
        if environment.cause:
            return Verdict(status="error", cause=environment.cause, message=environment.problem), {}
        if cell.file is None:
            absent = spec.absent.get(framework)
            if absent is None:
                return Verdict(status="untested", message=f"no run file yet: cases/{spec.id}/run_{framework}.*"), {}
            return self._absent(cell, environment)
        if (unbuilt := self._unbuilt(cell, environment)) is not None:
            return unbuilt
        if spec.op:
            return swept.decide(self, cell, environment)
        reply = self._call(cell, environment, plan)
        if (cannot := self.no_worker(reply)) is not None:
            return cannot
        ended = verdict.judge_end(reply, spec, cell.limit_s)
        if ended:
            return ended, reply
        answer = self.answer(reply)
        return (answer if isinstance(answer, Verdict) else verdict.judge(spec, cell.dtype, answer, framework)), reply

    @staticmethod
    def answer(reply: dict[str, Any]) -> dict[str, Any] | Verdict:
        """The arrays that a child has saved, whose file is then gone; of a file that cannot be read, an error."""
        try:
            return load_file(reply["outputs"])
        except (OSError, SafetensorError, ValueError) as bad:
            return Verdict(status="error", cause="harness", message=f"the answer file cannot be read: {bad}")
        finally:
            Path(reply["outputs"]).unlink(missing_ok=True)

    @staticmethod
    def no_worker(reply: dict[str, Any]) -> tuple[Verdict, dict[str, Any]] | None:
        """Where no worker could ask: an error that says so."""
        if reply["end"] not in NO_WORKER:
            return None
        decided = Verdict(status="error", cause=NO_WORKER[reply["end"]], message=_last_line(reply["message"]))
        return decided, {**reply, "log": reply["message"]}

    @staticmethod
    def _unbuilt(cell: Cell, environment: Environment) -> tuple[Verdict, dict[str, Any]] | None:
        """Of a compiled column: a run file or a glue that changed since, or a function that the compiler refused."""
        assert cell.file
        name = f"{cell.spec.id}/{cell.file.path.name}"
        changed = ""
        if environment.binary and environment.compiled.get(name) != environments.sha256(cell.file.path):
            changed = f"cases/{name}"
        elif environment.binary and environment.glue != between(cell.column):
            changed = f"harness/frameworks/{cell.column.folder} or probe_rs"
        if changed:
            message = f"{changed} changed since {cell.column.id} was built; do: python3 noxfile.py -s 'cells({cell.column.id})'"
            return Verdict(status="error", cause="build", message=message), {}
        dropped = environment.dropped.get(f"{cell.spec.id}/{cell.variant}/{cell.function}")
        if not dropped:
            return None
        refused: dict[str, Any] = {"status": "absent"} if dropped.get("absent") else {"status": "error", "cause": "build"}
        return Verdict(message=str(dropped["message"]), **refused), {"log": dropped.get("log", "")}

    def _absent(self, cell: Cell, environment: Environment) -> tuple[Verdict, dict[str, Any]]:
        """A declared absence is executed too: each name is looked up in the real framework."""
        declared = cell.spec.absent[cell.column.framework]
        worker = self.worker(cell, environment)
        reply = worker.ask({"do": "resolve", "names": list(declared.names), "limit_s": cell.limit_s, "limit_bytes": self.cap(cell)})
        if (cannot := self.no_worker(reply)) is not None:
            return cannot
        if "found" not in reply:
            return Verdict(
                status="error", cause="harness", message=f"could not look up {', '.join(declared.names)}: {reply.get('message', reply)}"
            ), reply
        if reply["found"]:
            message = f"declared absent, but {', '.join(reply['found'])} exists: write cases/{cell.spec.id}/run_{cell.column.framework}.py"
            return Verdict(status="error", cause="harness", message=message), reply
        return Verdict(status="absent", message=f"{declared.why} (looked for {', '.join(declared.names)})"), reply

    def _call(self, cell: Cell, environment: Environment, plan: Mapping[str, Any] | None) -> dict[str, Any]:
        request: dict[str, Any] = {"do": "ask", "spawn": plan is not None or bool(cell.spec.device)}
        if plan is not None:
            request |= {"time": {**plan, "inputs": self._extra(cell)}, "env": ALLOCATOR}
        return self.send(
            cell, environment, request, self._inputs(cell.spec, cell.dtype, "inputs", cell.spec.tensors), binary=environment.binary
        )

    def send(self, cell: Cell, environment: Environment, request: Mapping[str, Any], inputs: str, *, binary: str) -> dict[str, Any]:
        """Ask the cell's worker; ``request`` is what this kind of question has beside what each has, ``binary`` the probe of a compiled column."""
        assert cell.file
        outputs = str(self.folder / f"{cell.column.id}.safetensors")
        whole: dict[str, Any] = {
            "file": str(cell.file.path),
            "function": cell.function,
            "inputs": inputs,
            "outputs": outputs,
            "dtype": cell.dtype,
            "mode": cell.mode,
            "limit_s": cell.limit_s,
            "limit_bytes": self.cap(cell),
            "time": None,
            **request,
        }
        if binary:
            key = f"{cell.spec.id}/{cell.variant}/{cell.function}"
            whole["command"] = [binary, "ask", key, whole["dtype"], inputs, outputs, "{reply}", json.dumps(whole["time"])]
        reply = self.worker(cell, environment).ask(whole)
        if cell.mode == "compiled" and reply["end"] in KILLED:
            shutil.rmtree(self.compiled(cell), ignore_errors=True)  # half a file there would be loaded by every later cell
        self.framework_cpu_s += reply.get("framework_cpu_s", reply.get("run_cpu_s", 0.0))
        return {**reply, "outputs": outputs}

    def _extra(self, cell: Cell) -> dict[str, str]:
        import numpy as np

        timing = cell.spec.case.timing
        assert timing
        made = {name: make(np.random.default_rng(0)) for name, make in timing.extra_inputs.items()}
        return {name: self._inputs(cell.spec, cell.dtype, name, arrays) for name, arrays in made.items()}

    def _inputs(self, spec: Spec, dtype: str, name: str, arrays: Arrays) -> str:
        path = self.folder / f"{spec.id}.{spec.item}.{dtype}.{name}.safetensors"
        if not path.exists():
            with self.keeping(path):
                save_file(as_dtype(arrays, dtype), path)
        return str(path)

    @staticmethod
    @contextlib.contextmanager
    def keeping(path: Path) -> Iterator[None]:
        """Around what writes inputs: where they cannot be written, no half of them stays.

        Raises:
            CannotKeep: a full disk, say.
        """
        try:
            yield
        except (OSError, SafetensorError) as full:
            path.unlink(missing_ok=True)
            raise CannotKeep(
                f"cannot write inputs to {path.parent}: {full}",
                "room for a few MB of tensors",
                "free the disk, or set TMPDIR; then run again",
            ) from full

    def worker(self, cell: Cell, environment: Environment) -> Worker:
        column = cell.column
        if column.id not in self._workers:
            adapter = self.project.frameworks / column.folder / "adapter.py" if column.language == "python" else None
            self._workers[column.id] = Worker(environment=environment, adapter=adapter, compiled=self.compiled(cell))
            self.ever.append(self._workers[column.id])
        return self._workers[column.id]

    def compiled(self, cell: Cell) -> Path:
        return self.project.environments.resolve() / "compiled" / cell.column.id

    @staticmethod
    def cap(cell: Cell) -> int:
        return int(cell.spec.case.limit_gb * 2**30)

    def _record(self, cell: Cell, decided: Verdict, reply: dict[str, Any], started: float) -> Record:
        spec, column, environment = cell.spec, cell.column, self.environment(cell)
        file = cell.file.path if cell.file else None
        log, message = (machine.portable(text, self.project.root) for text in (reply.get("log", ""), decided.message))
        return {
            "schema": SCHEMA,
            "run": self.run,
            "case": spec.id,
            "item": spec.item,
            "variant": cell.variant,
            "dtype": cell.dtype,
            "mode": cell.mode,
            "column": column.id,
            "framework": column.framework,
            "version": environment.version or column.version,
            "status": decided.status,
            "cause": decided.cause,
            "message": message[:400],
            "asked": cell.asked,
            "checks": [slim(f) for f in decided.findings],
            "run_s": round(reply.get("run_s", 0.0), 6),
            "cpu_s": round(reply.get("cpu_s", 0.0), 4),
            "peak_bytes": reply.get("peak_bytes", 0),
            "speed": None,
            "environment": {
                "platform": platform_name(),
                "cpu": machine.cpu_model(),
                "toolchain": environment.toolchain,
                "lock": environment.lock,
                "backend": environment.backend,
                "local": environment.local,
                "facts": reply.get("facts", {}),
                "forked": reply.get("forked", False),
                "threads": 1,
            },
            "log": "" if decided.status in ("ok", "differs") else log[-LOG_KEPT:],
            "file": file.relative_to(self.project.root).as_posix() if file else "",
            "function": cell.function,
            "file_sha256": environments.sha256(file) if file else "",
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        }


def slim(finding: Finding) -> dict[str, Any]:
    """A check as its record keeps it: the place and the size of an error where it fails, two numbers where it holds."""
    kept = finding if not finding.holds else dataclasses.replace(finding, note="")
    made: dict[str, Any] = plain(dataclasses.asdict(kept))
    if not made["trigger"]:
        del made["trigger"]
    return made


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
