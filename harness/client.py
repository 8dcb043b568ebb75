"""The harness's end of the protocol: one worker per column, one request at a time; careful that a dead or silent worker is our error and never a verdict."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.environment import Environment

WORKER = Path(__file__).with_name("worker.py")
START_S = 180.0  # the first import after an install compiles bytecode; tensorflow took 20 s
SLACK_S = 30.0  # what a worker may take beyond its cell's own limit
# What a framework may see of the caller's environment; everything else could change a number.
KEPT = (
    "PATH",
    "HOME",
    "USER",
    "TMPDIR",
    "LANG",
    "LD_LIBRARY_PATH",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
)
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "TORCHINDUCTOR_COMPILE_THREADS",
    "LP_NUM_THREADS",  # Mesa's software Vulkan
)


def cell_environment(threads: int = 1) -> dict[str, str]:
    kept = {k: os.environ[k] for k in KEPT if k in os.environ}
    return {**kept, **dict.fromkeys(THREADS, str(threads)), "PYTHONHASHSEED": "0"}


@dataclass
class Worker:
    """A running worker.py. Starting, asking and stopping never raise for what the worker does: a failure is a reply whose ``end`` is
    start (the framework cannot be imported) or worker (ours).
    """

    environment: Environment
    adapter: Path | None
    compiled: Path  # where torch keeps what it compiled, of this column alone
    import_cpu_s: float = 0.0
    _process: subprocess.Popen[bytes] | None = None
    _replies: int = -1
    _buffer: bytes = field(default=b"")
    _count: int = 0

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None and (problem := self._start()):
            return {"end": "start" if self.adapter else "worker", "message": problem}
        self._count += 1
        request = {**request, "id": self._count}
        assert self._process
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as gone:
            self.stop()
            return {"end": "worker", "message": f"the worker is gone: {gone}"}
        reply = self._read(request["limit_s"] + SLACK_S)
        if reply is None or reply.get("id") != self._count:
            code = self.stop()
            return {"end": "worker", "message": f"the worker gave no reply (exit status {code})"}
        return reply

    def _start(self) -> str:
        reader, writer = os.pipe()
        python = self.environment.python if self.adapter else sys.executable
        argv = [python, "-s", "-P", str(WORKER), str(writer), str(self.adapter) if self.adapter else "-"]
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[writer],
                env={**cell_environment(), "TORCHINDUCTOR_CACHE_DIR": str(self.compiled)},
                cwd="/",
            )
        except OSError as cannot:
            os.close(reader)
            return f"cannot start {python}: {cannot}"
        finally:
            os.close(writer)
        self._replies, self._buffer = reader, b""
        hello = self._read(START_S)
        if hello is None or not hello.get("ready"):
            code = self.stop()
            return str((hello or {}).get("message", f"the worker did not start (exit status {code})"))
        self.import_cpu_s = hello["import_cpu_s"]
        return ""

    def _read(self, limit_s: float) -> dict[str, Any] | None:
        """One reply line, or None at the end of the worker or of the time."""
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._replies], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self._replies, 1 << 16) if ready else b""
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def stop(self) -> int | None:
        """End the worker; it kills and reaps its children first."""
        process, self._process = self._process, None
        if process is None:
            return None
        with contextlib.suppress(OSError):
            assert process.stdin
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5.0)
        if process.poll() is None:
            process.kill()
            process.wait()
        with contextlib.suppress(OSError):
            os.close(self._replies)
        return process.returncode
