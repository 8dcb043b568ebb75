"""Ask checks of one subject; careful that each leaves it as it was, and that a check that raises is an error of that check and not the end of the report."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any, cast

from gradarbiter import checks, frameworks
from gradarbiter.remembered import Remembered
from gradarbiter.result import NotAsked, Report, Result
from gradarbiter.subject import Check, Expect, Subject


def check(
    model: Any,
    batch: Any,
    loss_fn: Callable[[Any, Any], Any],
    optimizer: Any = None,
    *,
    expect: Expect | None = None,
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    **options: Any,
) -> Report:
    """Ask every step check of a model, its loss, a batch and its optimizer; all of them are left as they were.

    ``loss_fn(model, batch)`` returns the mean loss, a scalar tensor of the framework. ``expect`` is what you know of the model.
    ``only`` and ``skip`` name checks (`gradarbiter.checks.names()`). ``options`` are the adapter's: ``predict``, ``tokens``, ``step``, ``reference``.

    Raises:
        ValueError: no adapter knows the model, or a check is not known.
    """
    return ask(frameworks.subject(model, batch, loss_fn, optimizer, **options), expect=expect, only=only, skip=skip)


def ask(subject: Subject, *, expect: Expect | None = None, only: Iterable[str] = (), skip: Iterable[str] = ()) -> Report:
    """The same for a `Subject`."""
    known = checks.names()
    wanted, unwanted = tuple(only) or known, tuple(skip)
    for name in (*wanted, *unwanted):
        if name not in known:
            raise ValueError(f"found:   check {name!r}\nwanted:  one of {', '.join(known)}\ndo this: correct the name")
    expect, once = expect or Expect(), cast(Subject, Remembered(subject))
    results = [one(name, checks.load(name), once, expect) for name in known if name in wanted and name not in unwanted]
    return Report(subject=f"{subject.framework}: {len(subject.parameters())} parameters", results=tuple(results))


def one(name: str, asked: Check, subject: Subject, expect: Expect) -> Result:
    start = time.process_time()
    try:
        with subject.kept():
            findings = asked(subject, expect)
    except NotAsked as reason:
        return Result(check=name, reason=str(reason), cpu_s=time.process_time() - start)
    except Exception as raised:  # noqa: BLE001  a model's own error, or ours: the other checks are still worth asking
        last = traceback.extract_tb(raised.__traceback__)[-1]
        return Result(
            check=name,
            raised=True,
            reason=f"{type(raised).__name__}: {raised} ({last.filename.rpartition('/')[2]}:{last.lineno})",
            cpu_s=time.process_time() - start,
        )
    return Result(check=name, findings=tuple(findings), cpu_s=time.process_time() - start)
