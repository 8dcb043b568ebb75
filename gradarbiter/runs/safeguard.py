"""Whether a training step survives a gradient that is not finite: skipped, or an error; careful to ask the user's own step and to put everything back."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradarbiter import frameworks, runs
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.runs import accusation, note
from gradarbiter.subject import Subject

VALUES = (math.inf, math.nan)


def safeguard(
    model: Any, step: Callable[[], Any], optimizer: Any = None, *, parameters: Sequence[str] = (), say: runs.Say = runs.say
) -> Result:
    """Poison one element of one gradient during ``step``, your own training step of ``model``: the weights must stay as they were, or it must raise.

    Asked with infinity and with NaN, for each of ``parameters`` (the first and the last trainable one). ``optimizer`` (one, or several in a list or dict) is
    put back with the model; without it its state keeps what the check did to it. Only torch can be asked: NotAsked for others.
    """

    def ask() -> Iterator[Finding]:
        subject = frameworks.subject(model, None, lambda *_: None, optimizer, step=step)
        if subject.framework != "torch":
            raise NotAsked(
                f"no way to poison a gradient of {subject.framework} from outside: make one infinite in your own step, and compare the weights"
            )
        trainable = [p.name for p in subject.parameters() if p.trainable]
        if not trainable:
            raise NotAsked("no parameter is trainable")
        names = list(parameters) or list(dict.fromkeys((trainable[0], trainable[-1])))
        size = sum(math.prod(p.shape) for p in subject.parameters())
        say(
            f"safeguard: {1 + len(names) * len(VALUES)} training steps, all undone; {8 * size:,} bytes for two copies of the weights, and the optimizer's"
        )
        before = subject.read()
        with subject.kept():
            subject.step()
            if not changed(before, subject.read()):
                raise NotAsked("a healthy step does not move any weight: give a step of this model, past its warm-up")
        if optimizer is None:
            yield note("not asked", "optimizer", "its state was not looked at, nor put back: give optimizer=")
        reached = 0
        for name in names:
            for value in VALUES:
                for finding in _poisoned(subject, model, name, value, before):
                    reached -= finding.kind == "not asked"
                    yield finding
                reached += 1
        if not reached:
            raise NotAsked(f"no gradient reached {' or '.join(names)} in a step: give parameters= that are trained")

    return runs.answered("safeguard", ask)


def _poisoned(subject: Subject, model: Any, name: str, value: float, before: Mapping[str, Array]) -> Iterator[Finding]:
    from gradarbiter.frameworks.torch_runs import bad_states, poisoned

    said = f"after a gradient of {name} was {value}"
    with subject.kept(), poisoned(model, name, value) as fired:
        try:
            subject.step()
        except Exception as refused:  # the step says so itself: that is a safeguard
            if not fired():
                raise
            yield note("raised", name, f"{said}: {type(refused).__name__}: {str(refused)[:200]}")
            return
        if not fired():
            yield note("not asked", name, "no gradient reached it in this step")
            return
        after = subject.read()
        broken = [other for other, array in after.items() if not np.isfinite(array).all() and np.isfinite(before[other]).all()]
        moved = changed(before, after)
        states = bad_states(subject)
    if broken:
        text = f"{len(broken)} of {len(after)} parameters are not finite {said}: the step was not skipped"
        yield accusation("weights not finite", name, f"{text}, first {broken[0]}", parameters=len(broken))
    elif moved:
        text = f"{len(moved)} of {len(after)} parameters moved {said}: it was hidden, not skipped"
        yield accusation("moved", name, f"{text}, first {moved[0]}", parameters=len(moved))
    elif states:
        yield accusation(
            "state not finite", name, f"weights are as before, and {states[0]} of the optimizer is not finite {said}", states=len(states)
        )


def changed(before: Mapping[str, Array], after: Mapping[str, Array]) -> list[str]:
    return [name for name, array in after.items() if not np.array_equal(array, before[name], equal_nan=True)]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("factory", help="module:function that returns a dict with model, step and optimizer")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    given = runs.from_factory(options.factory, default="model")
    return runs.finished(options.factory, safeguard(**given), options)
