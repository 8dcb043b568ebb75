"""The process beside a framework: makes one child per cell, watches it, answers with how it ended; careful never to hang and to leave nothing behind.

It runs inside a column's environment (standard library only; the framework's adapter is loaded by path) as

    python -s -P worker.py REPLY_FD ADAPTER.py      one warm parent: imports the framework once, forks a child per cell
    python -s -P worker.py REPLY_FD -               no framework here: every cell is a command (the Rust probes)
    python -s -P worker.py --child REPLY_FD JSON    one spawned child

and speaks JSON lines: requests on stdin, replies on the descriptor REPLY_FD. stdout and stderr belong to the cell and are its log.
A child ends as exactly one of: answer, raised, signal, exit, hang, memory. Why forking is safe only after a bare import, why RLIMIT_AS is not used
and why end-of-file is never waited for was measured on seven frameworks (docs/adr/0002-workers.md).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
import types
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def load(path: str, name: str) -> Any:
    """A module from its file. Nothing is put on sys.path, so a run file cannot import ours; no bytecode cache, so an edit is never missed."""
    module = types.ModuleType(name)
    module.__file__ = path
    with open(path, encoding="utf-8") as source:
        code = compile(source.read(), path, "exec")
    sys.modules[name] = module
    exec(code, module.__dict__)  # noqa: S102
    return module


HERE = os.path.dirname(os.path.abspath(__file__))
watching = load(os.path.join(HERE, "watch.py"), "watch")
inside = load(os.path.join(HERE, "child.py"), "child")


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def launch(request: dict[str, Any], adapter: Any) -> dict[str, Any]:
    """One cell: fork it if that is asked and safe, else spawn it; then watch it."""
    reply_r, reply_w = os.pipe()
    log_r, log_w = os.pipe()
    command = request.get("command")
    spawn = command or request.get("spawn") or adapter is None or getattr(adapter, "SPAWN", False)
    forked = not spawn and threads() == 1
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    if forked:
        pid = os.fork()
        if pid == 0:
            try:
                for fd in (reply_r, log_r, request["replies"]):
                    os.close(fd)
                prepare(parent, log_w, request["limit_bytes"])
                inside.child({**request, "load": load}, adapter, reply_w)
            finally:
                os._exit(70)
    else:
        argv = command or [sys.executable, "-s", "-P", os.path.abspath(__file__), "--child", "{reply}", json.dumps(request)]
        argv = [str(reply_w) if a == "{reply}" else a for a in argv]

        def before_exec() -> None:
            os.set_inheritable(reply_w, True)
            prepare(parent, log_w, request["limit_bytes"])
            if request.get("time"):  # one core: XLA and others make a thread per core they may use, whatever OMP_NUM_THREADS says
                os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

        env = {**os.environ, **request.get("env", {})}
        process = subprocess.Popen(argv, preexec_fn=before_exec, close_fds=False, stdin=subprocess.DEVNULL, env=env)  # noqa: PLW1509  one thread
        process.returncode = 0  # reaped by watch(), not by subprocess
        pid = process.pid
    os.close(reply_w)
    os.close(log_w)
    result: dict[str, Any] = watching.watch(pid, reply_r, log_r, request["limit_s"], request["limit_bytes"])
    result["forked"] = forked
    return result


def prepare(parent: int, log_w: int, limit_bytes: int) -> None:
    """In the new child: its own session, death with its parent, its log, its limits."""
    os.setsid()
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the line above took hold
        os._exit(71)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log_w, 1)
    os.dup2(log_w, 2)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the harness, which ends us
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (2 * limit_bytes, 2 * limit_bytes))  # a backstop: the polled cap comes first


def serve(reply_fd: int, adapter_path: str) -> None:
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: (watching.sweep(), os._exit(143)))
    os.set_inheritable(reply_fd, False)
    with os.fdopen(reply_fd, "w") as replies:

        def say(**what: Any) -> None:
            replies.write(json.dumps(what) + "\n")
            replies.flush()

        adapter, start = None, time.process_time()
        try:
            if adapter_path != "-":
                adapter = load(adapter_path, "adapter")
                if hasattr(adapter, "warm"):
                    adapter.warm()  # further imports that many cells need; a spawned cell pays for its own only
            say(ready=True, import_cpu_s=time.process_time() - start, threads=threads(), pid=os.getpid())
        except BaseException:  # noqa: BLE001  an import may raise anything; the client makes an `error` of it
            say(ready=False, message=traceback.format_exc(limit=-3))
            return
        for line in sys.stdin:
            request = {**json.loads(line), "adapter": adapter_path, "replies": reply_fd}
            before = time.process_time()
            result = launch(request, adapter)
            say(id=request["id"], worker_cpu_s=time.process_time() - before, **result)
    watching.sweep()


def main() -> None:
    if sys.argv[1] == "--child":
        request = json.loads(sys.argv[3])
        adapter = None
        try:
            adapter = load(request["adapter"], "adapter")
        except BaseException as raised:  # noqa: BLE001
            said = inside.refusal(raised, request, None)
            os.write(int(sys.argv[2]), json.dumps(said).encode() + b"\n")
            os._exit(0)
        inside.child({**request, "load": load}, adapter, int(sys.argv[2]))
    serve(int(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    main()
