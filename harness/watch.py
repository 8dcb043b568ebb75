"""Watches one child of a worker to its end and leaves nothing of it; careful never to wait for end-of-file. Standard library only, loaded by path."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from typing import Any

LOG_HEAD, LOG_TAIL = 2_000, 6_000  # bytes kept of what a cell prints; the middle of 10 MB of noise is counted, not kept
LOOK_S = 0.05  # how often a child's memory is looked at; it can overshoot between looks
EXIT_S = 5.0  # how long a child may take to end after it has answered
PAGE = os.sysconf("SC_PAGE_SIZE")


def descendants(pid: int) -> list[int]:
    """Every process below ``pid``; as subreaper we also see grandchildren that left their session."""
    found: list[int] = []
    queue = [pid]
    while queue:
        parent = queue.pop()
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as listing:
                    children = [int(c) for c in listing.read().split()]
                found += children
                queue += children
    return found


def resident_bytes(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/statm") as statm:
            total += int(statm.read().split()[1]) * PAGE
    return total


def sweep() -> int:
    """Kill and reap whatever is left below us; returns how many processes the last cell had left behind."""
    left = 0
    for _ in range(200):  # each round can uncover a child that was forked while we killed its parent
        pids = descendants(os.getpid())
        if not pids:
            return left
        left = max(left, len(pids))
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)
    return left


class Log:
    """What the cell printed: its head, its tail, and how much there was."""

    def __init__(self) -> None:
        self.head, self.tail, self.size = b"", b"", 0

    def add(self, text: bytes) -> None:
        self.size += len(text)
        room = LOG_HEAD - len(self.head)
        self.head += text[:room]
        self.tail = (self.tail + text[max(room, 0) :])[-LOG_TAIL:]

    def text(self) -> str:
        left_out = self.size - len(self.head) - len(self.tail)
        middle = f"\n... {left_out} bytes left out ...\n".encode() if left_out > 0 else b""
        return (self.head + middle + self.tail).decode("utf-8", "replace")


def watch(pid: int, reply: int, log_fd: int, limit_s: float, limit_bytes: int) -> dict[str, Any]:
    """Wait for the answer, the end, the time-out or the memory cap of one child, whichever is first; then leave nothing of it.

    End-of-file is not waited for: a grandchild can hold both pipes open for ever.
    """
    log, answer = Log(), bytearray()
    pidfd = os.pidfd_open(pid)
    poll = select.poll()
    for fd in (reply, log_fd, pidfd):
        os.set_blocking(fd, False)
        poll.register(fd, select.POLLIN)
    start = time.monotonic()
    deadline, next_look, peak, end = start + limit_s, start, 0, ""
    while not end:
        now = time.monotonic()
        if now >= next_look:
            peak = max(peak, resident_bytes([pid, *descendants(pid)]))
            next_look = now + LOOK_S
        ready = {fd for fd, _ in poll.poll(max(1, int(1000 * min(LOOK_S, deadline - now))))}
        for fd in ready & {reply, log_fd}:
            data = b""
            with contextlib.suppress(BlockingIOError):
                data = os.read(fd, 1 << 16)
                if not data:
                    poll.unregister(fd)
            if fd == log_fd:
                log.add(data)
            elif b"\n" not in answer:
                answer += data
        if pidfd in ready:
            end = "ended"
        elif b"\n" in answer:
            deadline = min(deadline, time.monotonic() + EXIT_S)
        if not end and time.monotonic() >= deadline:
            end = "answer" if b"\n" in answer else "hang"
        if not end and peak > limit_bytes:
            end = "memory"
    if end == "hang":  # a Python child prints its stack on this signal: the best evidence a hang leaves
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR1)
        time.sleep(0.2)
    elapsed = time.monotonic() - start
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # before reaping, while the group's number is still ours
    for fd, take in ((log_fd, log.add), (reply, answer.extend)):
        with contextlib.suppress(BlockingIOError, OSError):
            while (data := os.read(fd, 1 << 16)) and log.size < (1 << 26):
                take(data)
        os.close(fd)
    os.close(pidfd)
    _, status, usage = os.wait4(pid, 0)
    left = sweep()
    result = outcome(end, bytes(answer), status)
    result.update(
        seconds=elapsed,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_bytes=max(peak, result.pop("peak_bytes", 0)),
        log=log.text(),
        log_bytes=log.size,
        left=left,
    )
    return result


def outcome(end: str, answer: bytes, status: int) -> dict[str, Any]:
    """Name the end of a child from what it said and how it died."""
    if end in ("hang", "memory"):
        return {"end": end}
    line, newline, _ = answer.partition(b"\n")
    if newline:
        try:
            said = json.loads(line)
            if isinstance(said, dict) and said.get("end") in ("answer", "raised"):
                return said
        except ValueError:
            pass
        return {"end": "garbled", "message": line[:200].decode("utf-8", "replace")}
    if os.WIFSIGNALED(status):
        return {"end": "signal", "signal": os.WTERMSIG(status)}
    return {"end": "exit", "code": os.WEXITSTATUS(status)}
