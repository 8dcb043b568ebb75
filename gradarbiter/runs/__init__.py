"""The run checks: each module is one, asked by its own call and its own command, its cost printed first; careful to say what was not asked.

A module NAME holds ``NAME(...) -> Result``, and for the command ``arguments(parser)`` and ``main(options) -> exit status``.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from gradarbiter import show
from gradarbiter.result import Finding, NotAsked, Report, Result

Say = Callable[[str], None]


def names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"gradarbiter.runs.{name}")


def say(text: str) -> None:
    """What a check costs goes to standard error: standard output is the report."""
    print(text, file=sys.stderr, flush=True)


def answered(check: str, ask: Callable[[], Iterable[Finding]]) -> Result:
    """The findings as a result; a question that cannot be asked, or that raises, is a status and not the end of the caller."""
    start, found = time.process_time(), list[Finding]()
    try:
        for finding in ask():
            found.append(finding)  # one by one: what was found before an error is kept
    except NotAsked as reason:
        return Result(check=check, findings=tuple(found), reason=str(reason), cpu_s=time.process_time() - start)
    except Exception as raised:  # noqa: BLE001  the user's code, or ours
        last = traceback.extract_tb(raised.__traceback__)[-1]
        why = f"{type(raised).__name__}: {raised} ({last.filename.rpartition('/')[2]}:{last.lineno})"
        return Result(check=check, findings=tuple(found), raised=True, reason=why, cpu_s=time.process_time() - start)
    return Result(check=check, findings=tuple(found), cpu_s=time.process_time() - start)


def note(kind: str, about: str, text: str, **numbers: float) -> Finding:
    return Finding(kind=kind, parameter=about, text=text, numbers=numbers, accuses=False)


def accusation(kind: str, about: str, text: str, **numbers: float) -> Finding:
    return Finding(kind=kind, parameter=about, text=text, numbers=numbers)


def from_factory(where: str, *, default: str) -> dict[str, Any]:
    """The arguments that ``module:factory`` returns: a dict of them, or the one called ``default``.

    Raises:
        ValueError: there is no such factory. What the factory itself raises is left as it is.
    """
    name, colon, attribute = where.partition(":")
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        module = importlib.import_module(name) if colon and name else None
        factory = getattr(module, attribute, None)
        if factory is None:
            what = f"no function {attribute!r} in {name}" if module else f"{where!r}"
            raise ValueError(f"found:   {what}\nwanted:  module:factory\ndo this: name a function that takes no arguments")
        made = factory()
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        raise ValueError(
            f"found:   no module {name!r}\nwanted:  module:factory\ndo this: run it from the folder of the module"
        ) from missing
    finally:
        sys.path.pop(0)
    return dict(made) if isinstance(made, dict) else {default: made}


def common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON; -: to standard output, instead of the table")


def finished(subject: str, result: Result, options: argparse.Namespace) -> int:
    """Print the report; the exit status of `Report`."""
    report = Report(subject=subject, results=(result,))
    if options.json == "-":
        print(report.as_json())
        return report.exit_status
    show.show(report)
    if options.json:
        Path(options.json).write_text(report.as_json() + "\n", encoding="utf-8")
    return report.exit_status
