"""Every way silentbench itself can fail, and the exit code of each.

    Failed
    ├── BadInput       exit 2   the user's: an unknown column, a broken case, a bad option
    ├── CannotKeep     exit 5   a record could not be written: full disk, read-only folder, a second run
    └── CannotBuild    (data)   an environment could not be made: becomes `error` records, never ends a run

A worker's failure is not here: it is data, a status.
"""

from __future__ import annotations

import enum
from typing import Literal

Cause = Literal["interpreter", "toolchain", "build", "install", "device", "budget", "harness"]


class Exit(enum.IntEnum):
    """What the exit status of `python -m harness run` and `python3 noxfile.py` says; where several hold, the first listed wins."""

    OURS = 5  # a bug of the harness, or a record that could not be kept
    NEW = 1  # a cell is worse than its baseline (or silent without one)
    NOT_ASKED = 4  # a cell could not be asked: an environment, a tool or a device is missing
    FIXED = 3  # known failures are gone: publish a new baseline
    CLEAN = 0  # every cell as in its baseline
    USAGE = 2  # the command line, a pin or a case is wrong; nothing was asked
    INTERRUPTED = 130  # Ctrl-C: run the same command again to go on


EXIT_TABLE = {
    Exit.CLEAN: "every cell is as its baseline says, or no worse",
    Exit.NEW: "a cell turned worse than its baseline, or fails and has no baseline",
    Exit.USAGE: "bad input: the command line, a pin or a case; nothing was asked",
    Exit.FIXED: "known failures are gone; nothing turned worse",
    Exit.NOT_ASKED: "a cell could not be asked (missing interpreter, toolchain, build, disk or device); the rest was",
    Exit.OURS: "our own error: a bug of the harness, or a record that could not be kept",
    Exit.INTERRUPTED: "interrupted; the same command goes on where it stopped",
}


class Failed(Exception):
    """Ends the command with one clear message and no traceback."""

    exit: Exit = Exit.OURS

    def __init__(self, found: str, wanted: str, do: str) -> None:
        super().__init__(found, wanted, do)
        self.found, self.wanted, self.do = found, wanted, do

    def __str__(self) -> str:
        return f"found:   {self.found}\nwanted:  {self.wanted}\ndo this: {self.do}"


class BadInput(Failed, ValueError):
    exit: Exit = Exit.USAGE


class CannotKeep(Failed):
    exit: Exit = Exit.OURS


class CannotBuild(Failed):
    """An environment that could not be made: the column's cells become `error` with this cause."""

    def __init__(self, cause: Cause, found: str, wanted: str, do: str, log: str = "") -> None:
        super().__init__(found, wanted, do)
        self.cause, self.log = cause, log
