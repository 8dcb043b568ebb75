"""A training step moves every parameter that has a gradient, by a sensible amount, and what it moved stays; careful to tell a stall from a master copy.

Your own step is taken twice (`subject.step`), and a third time where something looks wrong; a first one that moves nothing (a warm-up from 0) is not counted.
Before the second, every parameter is changed at random, by 1/32 of its size or eight updates: the steps after it must start from there. Kinds:

*nothing*: no bit of any parameter changes. *unmoved*: none of one that has a gradient. *stall*: most of it, by squared gradient, is on elements that keep
their bits in every step; or what was float32 has the digits of bfloat16 after a step. *lost_update*: the change is gone after the second step, and back after
the third: the optimizer works on weights one step old. (Gone for good: it keeps a copy of its own, as mixed precision does: a note.) *replaced*: a step as long
as the parameter, and as its initialiser would make it. *moved_frozen*, *nonfinite*: by their names. *step_size*, *epsilon*, *not_orthogonal*: see
`gradarbiter.first_step`, where the optimizer can be read.

Not seen: updates that are wrong but of the right size (`update_parity`); without `accumulate=`, which of a table's rows and which experts your step's own
batch reaches, so an unmoved parameter that is in the optimizer is then a note. Stochastic rounding that moves few elements a step looks like a stall.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradarbiter import first_step, slopes
from gradarbiter.core import Array
from gradarbiter.first_step import Gradients
from gradarbiter.probe import unit
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Arrays, Expect, Group, Subject, matches

STEPS = 3
UPDATES, SHARE = 8, 1 / 32  # the change before the second step: far above what a rounding to bfloat16, 1/256, and an update move


@dataclass(frozen=True, kw_only=True)
class Taken:
    """Two or three steps; ``changed`` was added before the second."""

    gradients: Gradients  # of the first; None where there is none, or none that the loss's rounding does not hide (see gradient_flow)
    sure: bool  # they are those of the step's own batch
    before: tuple[Arrays, ...]
    after: tuple[Arrays, ...]
    changed: Arrays
    groups: list[tuple[Group, Group]]  # before and after the first
    fresh: bool  # no step was taken before the first

    def moved(self, step: int, name: str) -> Array:
        return self.after[step][name].astype(np.float64) - self.before[step][name]


def update_flow(subject: Subject, expect: Expect) -> list[Finding]:
    taken = _two(subject)
    if taken is None:
        text = f"{STEPS} training steps change no bit of any parameter: is the learning rate 0?"
        return [Finding(kind="nothing", parameter="step", text=text)]
    broken = [name for name in taken.gradients if not all(np.isfinite(values[name]).all() for values in taken.after)]
    if broken:
        return [Finding(kind="nonfinite", parameter=name, text="it is not finite after a training step") for name in broken]
    if any(_kept(taken, 1, name) < 1 / 4 or _still(taken, name, gradient) for name, gradient in taken.gradients.items()):
        taken = _third(subject, taken)
    findings = _frozen(taken, expect)
    copied = []
    for name, gradient in taken.gradients.items():
        kept, back = _kept(taken, 1, name), _kept(taken, -1, name)
        if kept < 1 / 4 < 3 / 4 < back:
            text = f"a change made before a step is gone after it ({kept:.0%} left) and back after the next ({back:.0%})"
            text += ": it is updated from weights one step old"
            findings.append(Finding(kind="lost_update", parameter=name, text=text, numbers={"kept": kept, "back": back}))
        elif kept < 1 / 4 and back < 1 / 4:
            copied.append(name)
        elif found := _still(taken, name, gradient) or _rounded(taken, name) or _replaced(taken, name):
            findings.append(found)
    if copied:
        text = f"{len(copied)} parameters, {copied[0]} first, are overwritten from a copy that the optimizer keeps: what you write to the model is lost"
        findings.append(Finding(kind="copied", parameter=copied[0], text=text, numbers={"parameters": len(copied)}, accuses=False))
    if taken.fresh:
        first = first_step.Step(before=taken.before[0], after=taken.after[0], gradients=taken.gradients, groups=taken.groups)
        findings += first_step.findings(first)
    return findings


def _two(subject: Subject) -> Taken | None:
    for tries in range(STEPS):  # noqa: B007  read after the loop
        gradients, sure = first_step.coming(subject)
        groups, start, loss = _groups(subject), subject.read(), subject.loss(slopes.few_rows(subject))
        subject.step()
        one, groups_after = subject.read(), _groups(subject)
        if any(not np.array_equal(one[name], start[name]) for name in gradients):
            break
    else:
        return None
    if not all(np.isfinite(one[name]).all() for name in gradients):
        return Taken(gradients=gradients, sure=sure, before=(start,), after=(one,), changed={}, groups=[], fresh=False)
    changed = _change(start, one, gradients)
    subject.write({name: np.asarray(one[name] + step) for name, step in changed.items()})
    two = subject.read()
    changed = {name: two[name].astype(np.float64) - one[name] for name in changed}  # as the dtype has it
    subject.step()
    return Taken(
        gradients=_live(gradients, start, loss),
        sure=sure or first_step.goes_down(gradients, start, one),
        before=(start, two),
        after=(one, subject.read()),
        changed=changed,
        groups=list(zip(groups, groups_after, strict=False)),
        fresh=tries == 0,
    )


def _third(subject: Subject, taken: Taken) -> Taken:
    subject.step()
    return replace(taken, before=(*taken.before, taken.after[-1]), after=(*taken.after, subject.read()))


def _live(gradients: Gradients, start: Arrays, loss: float) -> Gradients:
    size, least = slopes.sizes(start), slopes.rounding(loss)
    return {name: None if g is None or slopes.norm(g) * size[name] < least else g for name, g in gradients.items()}


def _groups(subject: Subject) -> list[Group]:
    try:
        return subject.groups()
    except NotAsked:
        return []


def _change(start: Arrays, one: Arrays, gradients: Gradients) -> dict[str, Array]:
    sizes = {
        name: max(UPDATES * slopes.norm(one[name].astype(np.float64) - start[name]), SHARE * slopes.norm(one[name])) for name in gradients
    }
    return slopes.random({name: one[name] for name in gradients}, sizes, seed=1)


def _kept(taken: Taken, step: int, name: str) -> float:
    """How much of the change is left after a step."""
    change = taken.changed[name]
    size = float(np.vdot(change, change))
    return float(np.vdot(taken.after[step][name].astype(np.float64) - taken.after[0][name], change)) / size if size else 1.0


def _frozen(taken: Taken, expect: Expect) -> list[Finding]:
    found = []
    for name, value in taken.before[0].items():
        meant = name not in taken.gradients and (expect.frozen is None or matches(name, expect.frozen))
        if meant and not np.array_equal(value, taken.after[-1][name]):
            found.append(Finding(kind="moved_frozen", parameter=name, text="it asks for no gradient, and training steps move it"))
    return found


def _still(taken: Taken, name: str, gradient: Array | None) -> Finding | None:
    if gradient is None or not gradient.any():
        return None
    still = np.asarray(np.logical_and.reduce([taken.moved(step, name) == 0 for step in range(len(taken.after))]))
    inside = [group for group, _ in taken.groups if name in group.names]
    if still.all():
        if taken.groups and not inside:
            text = "it has a gradient and no optimizer holds it: three training steps change no bit of it"
        elif taken.sure or not taken.groups:
            text = "it has a gradient, and three training steps change no bit of it"
        else:
            text = "three training steps change no bit of it; it has a gradient on your batch. Give accumulate=, to know whether it has one on theirs"
            return Finding(kind="unmoved", parameter=name, text=text, accuses=False)
        return Finding(kind="unmoved", parameter=name, text=text + _resolution(taken, name))
    squares = np.square(np.asarray(gradient, dtype=np.float64))
    if not taken.sure and still.ndim:  # rows that never moved may be of tokens, or experts, that the step's batch does not have
        squares[still.reshape(len(still), -1).all(axis=1)] = 0
    share = float(squares[still].sum() / squares.sum()) if squares.any() else 0.0
    if share <= 0.5:
        return None
    text = f"{share:.0%} of its squared gradient is on elements that keep their bits in {len(taken.after)} training steps" + _resolution(
        taken, name
    )
    # In float32 that is what a small learning rate does at first, e.g. of SGD behind a branch that is scaled down: no defect of arithmetic.
    return Finding(kind="stall", parameter=name, text=text, numbers={"share": share}, accuses=_coarse(taken, name))


def _resolution(taken: Taken, name: str) -> str:
    return ": updates below half of a last place of bfloat16 or float16 vanish" if _coarse(taken, name) else ""


def _coarse(taken: Taken, name: str) -> bool:
    return bool(taken.after[-1][name].any()) and unit(taken.after[-1][name]) > 2.0**-24


def _rounded(taken: Taken, name: str) -> Finding | None:
    start, end = unit(taken.before[1][name]), unit(taken.after[1][name])
    if not (start <= 2.0**-24 < end):
        return None
    text = f"it is float32 before a step and has the digits of {'bfloat16' if end > 2.0**-9 else 'float16'} after it: small updates will vanish"
    return Finding(kind="stall", parameter=name, text=text, numbers={"unit": end})


def _replaced(taken: Taken, name: str) -> Finding | None:
    weight = taken.before[0][name]
    length, size = slopes.norm(taken.moved(0, name)), slopes.norm(weight)
    usual = slopes.sizes({name: np.zeros_like(weight)})[name]
    if not size or length <= max(size, usual):
        return None
    text = f"one training step is {length / size:.3g} times as long as the parameter, whose norm is {size:.3g}"
    return Finding(kind="replaced", parameter=name, text=text, numbers={"ratio": length / size})
