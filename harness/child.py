"""The child half of a Python cell: runs the asked function, writes its arrays, says how it went. Standard library only, loaded by path."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import inspect
import json
import os
import signal
import sys
import time
import traceback
from typing import Any

PAGE = os.sysconf("SC_PAGE_SIZE")


def child(request: dict[str, Any], adapter: Any, reply: int) -> None:
    """Run the asked function, write its arrays, say how it went; never returns."""
    import faulthandler

    # Not the framework's own handlers: paddle's sleeps where the heap is torn, and a crash would be a hang.
    for deadly in (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV):
        signal.signal(deadly, signal.SIG_DFL)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    said: dict[str, Any]
    try:
        said = answer(request, adapter)
    except BaseException as raised:  # noqa: BLE001  whatever the framework raises is its answer
        said = refusal(raised, request, adapter)
        if "run_from_cpu_s" in request:
            said["run_cpu_s"] = spent_s() - request["run_from_cpu_s"]
    said["framework_cpu_s"] = request.get("framework_cpu_s", 0.0) + said.get("run_cpu_s", 0.0)
    with contextlib.suppress(Exception):  # a cell may have closed them
        sys.stdout.flush()
        sys.stderr.flush()
    data = json.dumps(said).encode() + b"\n"
    while data:
        data = data[os.write(reply, data) :]
    os._exit(0)


def answer(request: dict[str, Any], adapter: Any) -> dict[str, Any]:
    """``request["stage"]`` follows how far it came: an exception means something else at each."""
    if request["do"] == "resolve":
        return {"end": "answer", "found": [name for name in request["names"] if resolves(name)]}
    if hasattr(adapter, "start"):
        adapter.start()  # what the framework does at its first use; not ours, so not counted as overhead
    request["framework_cpu_s"] = spent_s()
    if request["do"] == "sweep":
        said: dict[str, Any] = request["load"](request["swept"], "swept").answer(request, adapter, refusal)
        return said
    request["stage"] = "import"
    run_file = request["load"](request["file"], "run_file")
    request["stage"] = "load"
    tensors = adapter.load(request["inputs"], request["dtype"])
    if request.get("time"):
        return timed(request, adapter, run_file, tensors)
    function = getattr(run_file, request["function"])
    fit(function, tensors)
    request["stage"] = "run"
    start, cpu = time.perf_counter(), spent_s()
    request["run_from_cpu_s"] = cpu
    if request["mode"] == "compiled":
        function = adapter.compiled(function)
    out = adapter.settle(function(**tensors))
    run_s, run_cpu_s = time.perf_counter() - start, spent_s() - cpu
    request["stage"] = "save"
    adapter.save(keep(out), request["outputs"])
    return {"end": "answer", "run_s": run_s, "run_cpu_s": run_cpu_s, "facts": adapter.facts()}


def spent_s() -> float:
    """CPU seconds of this process and of what it started and has waited for: a compiler's time is its framework's."""
    return time.process_time() + sum(os.times()[2:4])


def fit(function: Any, arguments: dict[str, Any]) -> None:
    """Arguments that do not fit are our fault, not the framework's refusal; a callable that hides its own (a TinyJit) is asked as it is.

    Raises:
        BadRunFile: they do not fit.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:
        return
    try:
        signature.bind(**arguments)
    except TypeError as unfit:
        raise BadRunFile(f"{getattr(function, '__name__', 'function')}: {unfit}") from unfit


def resolves(dotted: str) -> bool:
    """Whether the framework has this name: the longest importable prefix, then attributes."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        for attribute in parts[n:]:
            if not hasattr(thing, attribute):
                return False
            thing = getattr(thing, attribute)
        return True
    return False


def keep(out: Any) -> dict[str, Any]:
    """The answer's tensors; a gradient that does not exist is absent, whether left out or None."""
    if not isinstance(out, dict):
        raise BadRunFile(f"found a {type(out).__name__}, wanted a dict of tensors")
    return {name: tensor for name, tensor in out.items() if tensor is not None}


class BadRunFile(Exception):
    pass


def refusal(raised: BaseException, request: dict[str, Any], adapter: Any) -> dict[str, Any]:
    """An exception as data. ``kind`` tells the framework refusing apart from a name it does not have, a missing tool, and faults of ours."""
    stage = request.get("stage", "adapter")
    try:
        message = str(raised)
    except Exception:  # noqa: BLE001  an exception of a framework may not even be printable
        message = "(an exception that cannot be printed)"
    frames = traceback.extract_tb(raised.__traceback__)
    if frames and frames[-1].name in ("__getattr__", "getattr"):  # numpy and jax say from inside their module that it has no such name
        frames.pop()
    ours = bool(frames) and os.path.abspath(frames[-1].filename) == os.path.abspath(request["file"])
    if any(name in f"{type(raised).__name__}: {message}" for name in getattr(adapter, "TOOLCHAIN_ERRORS", ())):
        kind = "toolchain"
    elif any(name in message for name in getattr(adapter, "DEVICE_ERRORS", ())):
        kind = "device"
    elif isinstance(raised, SystemExit):
        kind = "exit"
    elif isinstance(raised, MemoryError):
        kind = "memory"
    elif (
        stage not in ("import", "run")
        or isinstance(raised, (BadRunFile, SyntaxError))
        or (ours and isinstance(raised, (NameError, KeyError)))
    ):
        kind = "harness"
    elif ours and (isinstance(raised, ImportError) or (isinstance(raised, AttributeError) and _offered(raised, message))):
        kind = "unresolved"
    elif isinstance(raised, ImportError):
        kind = "install"  # a part of the framework that is there cannot be loaded
    else:
        kind = "framework" if stage == "run" else "harness"
    with contextlib.suppress(Exception):
        traceback.print_exception(type(raised), raised, raised.__traceback__)
    return {"end": "raised", "kind": kind, "stage": stage, "type": type(raised).__name__, "message": _wanted(raised, message)[:500]}


def _offered(raised: AttributeError, message: str) -> bool:
    """Whether it is the framework's to have the name: of a module, or of an object that is neither Python's own nor the run file's."""
    of = raised.obj if isinstance(raised.obj, type) else type(raised.obj)
    return message.startswith("module ") or of.__module__ not in ("builtins", "run_file")


def _wanted(raised: BaseException, message: str) -> str:
    """What an exception says; tf.function and to_static put the user's traceback, or the graph's, before it, and the node's name after it."""
    if not message.casefold().startswith(("in user code:", "graph execution error:", "in simulate execution:")):
        return message
    said = [line.strip() for line in message.splitlines() if line.strip() and not line.lstrip().startswith("[[")]
    return said[-1].removeprefix(f"{type(raised).__name__}: ")


def timed(request: dict[str, Any], adapter: Any, run_file: Any, tensors: dict[str, Any]) -> dict[str, Any]:
    """Time each asked function: warm up by time, then calls; CPU and wall nanoseconds of each, and the memory one warm call adds."""
    plan = request["time"]
    result: dict[str, Any] = {"end": "answer", "run_s": 0.0, "run_cpu_s": 0.0, "cpu_ns": {}, "wall_ns": {}, "memory_bytes": {}}
    request["stage"] = "run"
    start, cpu = time.perf_counter(), spent_s()
    request["run_from_cpu_s"] = cpu
    for name in plan["functions"]:
        function = getattr(run_file, name, None)
        if function is None:
            continue
        arguments = adapter.load(plan["inputs"][name], request["dtype"]) if name in plan["inputs"] else tensors
        fit(function, arguments)
        out = adapter.settle(function(**arguments))
        if name == request["function"]:
            request["stage"] = "save"
            adapter.save(keep(out), request["outputs"])
            request["stage"] = "run"
        del out
        warm = time.perf_counter()
        while time.perf_counter() - warm < plan["warm_up_s"]:
            adapter.settle(function(**arguments))
        cpus, walls = [], []
        for _ in range(plan["calls"]):
            w, c = time.perf_counter_ns(), time.process_time_ns()
            adapter.settle(function(**arguments))
            cpus.append(time.process_time_ns() - c)
            walls.append(time.perf_counter_ns() - w)
        result["cpu_ns"][name], result["wall_ns"][name] = cpus, walls
        result["memory_bytes"][name] = added_memory(adapter, function, arguments)
    result["run_s"], result["run_cpu_s"] = time.perf_counter() - start, spent_s() - cpu
    result["facts"] = adapter.facts()
    return result


def added_memory(adapter: Any, function: Any, arguments: dict[str, Any]) -> int:
    """Peak resident bytes of one warm call above what was resident before it, with the heap's free pages given back first.

    The largest of five calls: jax gives an answer's pages back after the next call has begun, and every other call seems to take none.
    """
    added = []
    for _ in range(5):
        if hasattr(adapter, "release"):
            adapter.release()
        ctypes.CDLL(None).malloc_trim(0)
        before = resident_bytes()
        reset_peak()
        adapter.settle(function(**arguments))
        added.append(peak_resident_bytes() - before)
    return max(0, *added)


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * PAGE


def reset_peak() -> None:
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")  # resets VmHWM (man 5 proc)


def peak_resident_bytes() -> int:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
