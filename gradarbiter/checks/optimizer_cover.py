"""Every trainable parameter is in exactly one optimizer group of its kind; careful to call none forgotten that a step moves, for an optimizer may hold copies.

Kinds: *forgotten* (in no group, and a training step does not move it), *duplicated* (in two: two updates a step), *foreign* (the optimizer holds tensors that
are none of the model's, and none that are: those of a model made earlier). *fence*: a Muon-like group holds what is not a hidden matrix: a table or a head,
whose rows are tokens of which most have no gradient, a vector, or a tensor of three axes, which is a stack of matrices and not one; `expect.hidden` names what
it may hold instead. *untied*: two names that `expect.tied` says are one parameter are two; or a table and a head are two parameters with the same bits, not
constant: one was copied from the other, and they will part at the first step.

Not seen: which group is right for a parameter (a decay on norms: `update_parity`), and heads and tables whose name and class do not tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from gradarbiter.first_step import is_muon
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Expect, Group, Parameter, Subject, matches

STEPS = 3  # a warm-up from 0 moves nothing at first


def optimizer_cover(subject: Subject, expect: Expect) -> list[Finding]:
    parameters = subject.parameters()
    findings = _tied(parameters, expect) or _copies(subject, parameters)
    try:
        groups = subject.groups()
    except NotAsked:
        if findings:
            return findings
        raise
    held = Counter(name for group in groups for name in group.names)
    for name, times in held.items():
        if times > 1:
            text = f"it is {times} times in the optimizers, in {_in(groups, name)}: as many updates a step"
            findings.append(Finding(kind="duplicated", parameter=name, text=text, numbers={"times": times}))
    lost = [p.name for p in parameters if p.trainable and p.name not in held]
    foreign = sum(group.foreign for group in groups)
    findings += _forgotten(subject, lost, foreign, held) if lost else _foreign(foreign)
    frozen = [p.name for p in parameters if not p.trainable and p.name in held]
    if frozen:
        text = (
            f"{len(frozen)} parameters, {frozen[0]} first, ask for no gradient and are in an optimizer: without effect, unless decay is on"
        )
        findings.append(Finding(kind="frozen", parameter=frozen[0], text=text, accuses=False))
    return findings + [finding for group in groups if is_muon(group) for finding in _fence(group, parameters, expect)]


def _forgotten(subject: Subject, lost: Sequence[str], foreign: int, held: Counter[str]) -> list[Finding]:
    still = set(lost)
    before = subject.read()
    try:
        for _ in range(STEPS):
            subject.step()
            after = subject.read()
            still = {name for name in lost if np.array_equal(before[name], after[name])}
            if any(not np.array_equal(before[name], after[name]) for name in before):
                break
    except NotAsked:
        pass
    if foreign and not held and len(still) == len(lost):
        text = f"none of the model's {len(lost)} parameters is in the optimizer, and {foreign} tensors of something else: was the model made again?"
        return [Finding(kind="foreign", parameter="optimizer", text=text, numbers={"foreign": foreign})]
    found = [
        Finding(kind="forgotten", parameter=name, text="no optimizer holds it, and a training step does not move it")
        for name in lost
        if name in still
    ]
    if copied := [name for name in lost if name not in still]:
        text = f"{len(copied)} parameters, {copied[0]} first, are in no optimizer and move: something holds copies of them"
        found.append(Finding(kind="copied", parameter=copied[0], text=text, accuses=False))
    return found


def _foreign(foreign: int) -> list[Finding]:
    if not foreign:
        return []
    text = f"{foreign} tensors in the optimizers are no parameters of the model: another model's, or the loss's own"
    return [Finding(kind="foreign", parameter="optimizer", text=text, numbers={"foreign": foreign}, accuses=False)]


def _fence(group: Group, parameters: Sequence[Parameter], expect: Expect) -> list[Finding]:
    found = []
    for p in parameters:
        if p.name not in group.names:
            continue
        if expect.hidden is not None:
            why = "" if matches(p.name, expect.hidden) else "expect.hidden does not name it"
        elif p.table:
            why = "it is an embedding: a token that does not occur would move as much as one that does"
        elif p.head:
            why = "it is the output head: its rows are tokens, most of which hardly have a gradient"
        elif len(p.shape) == 3:
            why = f"its shape {p.shape} is a stack of matrices: flattened to one, what is made orthogonal is none of them"
        else:
            why = "it is no matrix" if len(p.shape) < 2 else ""
        if why:
            text = f"{group.optimizer} holds it, and {why}. If that is meant, say so with expect.hidden"
            found.append(Finding(kind="fence", parameter=p.name, text=text))
    return found


def _tied(parameters: Sequence[Parameter], expect: Expect) -> list[Finding]:
    names, found = {p.name for p in parameters}, []
    for one, other in expect.tied:
        if one not in names and other not in names:
            do = "correct the names (a framework lists a tied parameter once, under the first)"
            raise ValueError(f"found:   expect.tied = ({one!r}, {other!r})\nwanted:  at least one name of a parameter\ndo this: {do}")
        if one in names and other in names and one != other:
            text = f"it is to be one parameter with {one}, and is another: each gets half of the gradient, and they part"
            found.append(Finding(kind="untied", parameter=other, text=text))
    return found


def _copies(subject: Subject, parameters: Sequence[Parameter]) -> list[Finding]:
    pairs = [(table, head) for table in parameters for head in parameters if table.table and head.head and table.name != head.name]
    pairs = [(table, head) for table, head in pairs if table.shape in (head.shape, head.shape[::-1])]
    values = subject.read() if pairs else {}
    found = []
    for table, head in pairs:
        one, other = values[table.name], values[head.name]
        same = np.array_equal(one, other) or np.array_equal(one, other.T)
        if same and np.ptp(one) > 0:
            text = f"it has the bits of {table.name} and is another parameter: two copies of what looks like one tied weight"
            found.append(Finding(kind="untied", parameter=head.name, text=text))
    return found


def _in(groups: Sequence[Group], name: str) -> str:
    return " and ".join(group.optimizer for group in groups if name in group.names)
