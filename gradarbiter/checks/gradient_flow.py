"""Every trainable parameter has a gradient that exists, is finite and is not dead; careful to accuse only where the loss is seen to depend on the parameter.

Dead is *missing* (None), *zero* (all of it), or *vanishing*: moving the parameter by its whole size, ||g|| ||w||, would to first order change the loss L by
less than the rounding of the loss, u |L| (u: unit roundoff of the loss's dtype). That needs no constant, and scales with parameter and loss alike.

A gradient may well be dead: of an idle expert, of a LoRA factor beside a zero one, of attention keys' bias (softmax does not see a shift). So a zero one is
read again after training steps (`subject.step`), while zero-initialised branches wake one layer a step; and whatever is still dead is moved. If the slope of
the loss, by differences (`gradarbiter.slopes`), is more than a gradient of that norm can give in any direction (Cauchy and Schwarz: ||g|| times the move; twice
that, for a gradient that is itself rounded), the gradient is wrong, and that is the accusation. Otherwise it is a note, or silence for `expect.unused`.
A slope of 0 whose error is more than UNTOLD of what is usual, the median of what living parameters claim (||g|| ||w||; of the loss, where none lives), could
as well be one of theirs: then the check says that it cannot tell. In float32, where there is no float64 copy, it may have to.

Not seen: a gradient that is wrong but not dead (`directional_gradient`), single rows of a table, and a parameter whose optimizer ignores it (`update_flow`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradarbiter import slopes
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Arrays, Expect, Subject, matches

STEPS = 4  # of training at most: DiT's adaLN-zero needs two, and a first step of a warm-up from 0 moves nothing
REACH = 1 / 8  # h: the loss is read up to a quarter of a parameter's own size away, where rounding is far below what a live parameter does
FINER = 16
UNTOLD = 0.1  # as `directional_gradient.KNOWN`: with a larger error, agreement would say little

Gradients = Mapping[str, Array | None]


@dataclass(frozen=True, kw_only=True)
class Reading:
    loss: float
    gradients: Gradients
    dead: Mapping[str, str]  # name -> kind
    steps: int = 0  # of training before it
    raised: str = ""  # by a step


def gradient_flow(subject: Subject, expect: Expect) -> list[Finding]:
    loss, gradients = subject.gradients()
    findings = _frozen(subject, expect)
    if broken := _not_finite(loss, gradients):
        return findings + broken
    first = last = Reading(loss=loss, gradients=gradients, dead=_dead(loss, gradients, subject.read(), expect))
    if {"missing", "zero"} & set(first.dead.values()):
        last = _later(subject, expect, first)
        if last.raised:
            findings.append(Finding(kind="step", parameter="step", text=f"a training step raised {last.raised}: read once", accuses=False))
        if broken := _not_finite(last.loss, last.gradients):
            return findings + broken
        findings += _woken(sorted(set(first.dead) - set(last.dead)), last.steps)
    findings += _judged(subject, last) if last.dead else []
    untold = [finding.text for finding in findings if finding.kind == "untold"]
    if untold and not any(finding.accuses for finding in findings):
        raise NotAsked(untold[0])
    return findings


def _frozen(subject: Subject, expect: Expect) -> list[Finding]:
    parameters = subject.parameters()
    frozen = [p.name for p in parameters if not p.trainable]
    if expect.frozen is None:
        text = f"{len(frozen)} of {len(parameters)} parameters are frozen, {_listed(frozen)}: say which are meant to be with expect.frozen"
        return [Finding(kind="frozen", parameter=frozen[0], text=text, accuses=False)] if frozen else []
    patterns = expect.frozen
    unmeant = [name for name in frozen if not matches(name, patterns)]
    trained = [p.name for p in parameters if p.trainable and matches(p.name, patterns)]
    return [
        *(Finding(kind="frozen", parameter=name, text="asks for no gradient, and expect.frozen does not name it") for name in unmeant),
        *(Finding(kind="frozen", parameter=name, text="is trained, and expect.frozen says that it is not") for name in trained),
    ]


def _not_finite(loss: float, gradients: Gradients) -> list[Finding]:
    found = []
    if not math.isfinite(loss):
        found.append(Finding(kind="nonfinite", parameter="loss", text=f"the loss is {loss}"))
    for name, gradient in gradients.items():
        bad = 0 if gradient is None else int(np.count_nonzero(~np.isfinite(gradient)))
        if gradient is not None and bad:
            text = f"{bad} of {gradient.size} elements of its gradient are not finite"
            found.append(Finding(kind="nonfinite", parameter=name, text=text, numbers={"elements": bad}))
    return found


def _dead(loss: float, gradients: Gradients, values: Arrays, expect: Expect) -> dict[str, str]:
    """The dead ones and their kind, without those that may be unused."""
    found, size = {}, slopes.sizes(values)
    for name, gradient in gradients.items():
        if matches(name, expect.unused) or (gradient is not None and gradient.size == 0):
            continue
        if gradient is None:
            found[name] = "missing"
        elif not gradient.any():
            found[name] = "zero"
        elif slopes.norm(gradient) * size[name] < slopes.rounding(loss):
            found[name] = "vanishing"
    return found


def _later(subject: Subject, expect: Expect, reading: Reading) -> Reading:
    """The last reading of several, with training steps between them, as long as these wake some."""
    values = subject.read()
    for steps in range(1, STEPS + 1):
        try:
            subject.step()
        except NotAsked:
            return reading
        except Exception as error:  # noqa: BLE001  a loop of the user's may refuse what we are about to accuse
            return replace(reading, raised=f"{type(error).__name__}: {error}")
        before, values = values, subject.read()
        loss, gradients = subject.gradients()
        dead = {name: kind for name, kind in _dead(loss, gradients, values, expect).items() if name in reading.dead}
        woke, stood = len(dead) < len(reading.dead), all(np.array_equal(before[name], values[name]) for name in values)
        reading = Reading(loss=loss, gradients=gradients, dead=dead, steps=steps)
        if not dead or not math.isfinite(loss) or not (woke or stood):
            break
    return reading


def _woken(names: Sequence[str], steps: int) -> list[Finding]:
    if not names:
        return []
    text = f"{len(names)} parameters get a gradient only after training steps ({steps} taken), {_listed(names)}: zero-initialised branches"
    return [Finding(kind="woken", parameter=names[0], text=text, accuses=False)]


def _judged(subject: Subject, reading: Reading) -> list[Finding]:
    """Accusations for the dead that the loss depends on, notes for the rest."""
    dead, steps = reading.dead, reading.steps
    after, line = f" after {steps} training step{'s' * (steps > 1)}" if steps else "", _Line(subject, reading)
    if not line.moves(list(dead)):
        return _idle(list(dead), after, "and the loss does not change when they are moved")
    if set(dead.values()) == {"vanishing"} and line.flat() and line.tells(next(iter(dead))):
        return _idle(list(dead), after, "and rightly: the loss has no slope there")
    found = []
    alone, groups = slopes.culprits(list(dead), line.wrong) if line.wrong(list(dead)) else ([], [])
    for group in [[name] for name in alone] + groups:
        at = line.slopes[tuple(group)]
        of = "it is moved" if len(group) == 1 else f"it and {len(group) - 1} others are moved"
        for name in filter(line.moves_alone, group):
            text = f"its gradient is {dead[name]}{after}, and the loss changes by {at.value:.3g} a size if {of} along a line (+- {at.error:.1g})"
            numbers = {"slope": at.value, "error": at.error, "steps": float(steps)}
            found.append(Finding(kind=dead[name], parameter=name, text=text, numbers=numbers))
    found.sort(key=lambda finding: list(dead).index(finding.parameter))
    accused = {finding.parameter for finding in found}
    stuck = line.stuck([name for name in dead if name not in accused]) if steps else []
    for name in stuck:
        text = f"it is all zero and its gradient too{after}: the loss depends on it only once others of {_listed(stuck)} have left zero"
        found.append(Finding(kind="zero", parameter=name, text=text))
    rest = [name for name in dead if name not in accused and name not in stuck]
    told = [name for name in rest if line.tells(name)]
    return found + _idle(told, after, "and rightly: the loss has no slope there") + _untold(line, rest, told, after)


def _idle(names: Sequence[str], after: str, why: str) -> list[Finding]:
    if not names:
        return []
    text = f"{len(names)} without a gradient to speak of{after}, {why}: {_listed(names)}"
    return [Finding(kind="unused", parameter=names[0], text=text, numbers={"parameters": len(names)}, accuses=False)]


def _untold(line: _Line, rest: Sequence[str], told: Sequence[str], after: str) -> list[Finding]:
    names = [name for name in rest if name not in told]
    if not names:
        return []
    numbers = {"parameters": len(names), "error": line.error(names[0]), "usual": line.usual}
    text = f"{len(names)} without a gradient to speak of{after}, {_listed(names)}: whether rightly cannot be told, the slope of the loss there is known to "
    text += f"+- {numbers['error']:.1g} only, where {line.usual:.1g} is usual. Give a model that runs in float64"
    return [Finding(kind="untold", parameter=names[0], text=text, numbers=numbers, accuses=False)]


class _Line:
    """The loss along one line through the present parameters that moves each of the dead by its own size; in float64 where that can be had."""

    def __init__(self, subject: Subject, reading: Reading) -> None:
        self._subject = subject
        self._own = {name: value for name, value in subject.read().items() if name in reading.dead}
        size = slopes.sizes(self._own)
        self._step = slopes.random(self._own, size)
        self._claims = {name: 0.0 if (g := reading.gradients[name]) is None else slopes.norm(g) * size[name] for name in reading.dead}
        live = {name: g for name, g in reading.gradients.items() if g is not None and name not in reading.dead}
        lengths = slopes.sizes({name: value for name, value in subject.read().items() if name in live})
        claims = [slopes.norm(g) * lengths[name] for name, g in live.items()]
        self.usual = float(np.median(claims)) if claims else abs(reading.loss)
        self._loss = subject.loss()
        self._exact: tuple[Subject, float, Arrays] | None = None
        self.slopes: dict[tuple[str, ...], slopes.Slope] = {}

    def moves(self, names: Sequence[str]) -> bool:
        """Whether one bit of the subject's own loss changes: of an expert that is idle it does not, though a float64 copy might use it."""
        return self._moved(names) != self._loss

    def error(self, name: str) -> float:
        """Of the best slope along a line that moves it."""
        return min(at.error for names, at in self.slopes.items() if name in names)

    def tells(self, name: str) -> bool:
        return self.error(name) <= UNTOLD * self.usual

    def moves_alone(self, name: str) -> bool:
        return self.moves([name])

    def flat(self) -> bool:
        """Whether the subject's own loss, if it is not a noisy one, has no slope along the line: a cheap answer for all at once."""
        at = self.slopes[tuple(self._own)] = slopes.slope(self._subject, self._own, self._step, h=REACH, at_start=self._loss)
        return at.noise <= 8 * slopes.rounding(self._loss) and not self._refutes(at, list(self._own))

    def wrong(self, names: Sequence[str]) -> bool:
        self._exact = self._exact or self._wide()
        subject, at_start, values = self._exact
        direction = {name: self._step[name] for name in names}
        for h in (REACH,) if subject is self._subject else (slopes.FINE, REACH):  # a float64 copy may compute in float32 in spite of us
            at = slopes.slope(subject, values, direction, h=h, at_start=at_start)
            if not self._refutes(at, names):  # a kink here (a zero layer before relu) looks like noise, but one that shrinks with the step
                noise = min(at.noise, slopes.slope(subject, values, direction, h=h / FINER, at_start=at_start).noise)
                at = replace(at, noise=noise, error=at.error - 8 * (at.noise - noise) / h)
            self.slopes[tuple(names)] = at
            if self._refutes(at, names):
                return True
        return False

    def stuck(self, names: Sequence[str]) -> list[str]:
        """Of these, the all-zero ones that change the loss, by the same on both sides, only together: each waits for another to leave zero."""
        zero = [name for name in names if not self._own[name].any()]
        if len(zero) < 2 or self.wrong(zero):
            return []
        at, together = self.slopes[tuple(zero)], self._moved(zero)
        if not abs(at.even) > 16 * at.noise:  # it is made of three losses and of six in the fourth difference; twice the eight of a slope
            return []
        return [name for name in zero if self._moved([other for other in zero if other != name]) != together]

    def _refutes(self, at: slopes.Slope, names: Sequence[str]) -> bool:
        return abs(at.value) > at.error + 2 * sum(self._claims[name] for name in names)

    def _moved(self, names: Sequence[str]) -> float:
        start = {name: self._own[name] for name in names}
        try:
            self._subject.write({name: np.asarray(value + 2 * REACH * self._step[name]) for name, value in start.items()})
            return self._subject.loss()
        finally:
            self._subject.write(start)

    def _wide(self) -> tuple[Subject, float, Arrays]:
        try:
            wide = self._subject.wide()
        except NotAsked:
            wide = None
        return (self._subject, self._loss, self._own) if wide is None else (wide, wide.loss(), wide.read())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
