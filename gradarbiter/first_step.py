"""What the first step of a known optimizer looks like in the weights; careful to judge only steps that are seen to be a first one.

Adam: both moments hold one gradient, so with bias correction every element moves by lr |g| / (|g| + eps): by lr, where eps is small. Elements that all move by
one and the same other multiple of lr do so only from empty moments as well. In the middle of a run the multiples spread, and nothing is said.

Muon: the update is c U S V' with every S in 0.68 ... 1.20: the range of five of Jordan's quintic steps for singular values from 0.002 to 1 times the Frobenius
norm of what they are given. Taken here from 0.01 times the gradient's, a margin of five for a momentum that is not the gradient; and 2 instead of 1.20 / 0.68,
for products in bfloat16. So the largest and the smallest of the update's leading singular values are within a factor of 2, if the whole matrix was the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradarbiter.core import Array
from gradarbiter.probe import FLOAT32
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Arrays, Group, Subject

ALIKE = 0.01  # elements' multiples of lr within 1 % are the same: eps = 1e-8 against a gradient of 1e-6
MOST = 0.9  # of the elements; the rest may have gradients as small as eps
OFF = 0.05  # the common multiple may be off by this, e.g. for a decay that is not known
ENOUGH = 64  # elements, for which it is no accident that they are alike
CONVERGED, SPREAD = 0.01, 2.0
MATRICES = 8  # of one group, spread over it: a singular value decomposition of each is expensive
VARIANTS = ("nadam", "radam", "schedulefree", "adamax", "adamuon", "normuon", "adamini", "adam_mini")  # other first steps


Gradients = Mapping[str, Array | None]


@dataclass(frozen=True, kw_only=True)
class Step:
    """Weights before and after the first step, the live gradients it was given, and its groups before and after it (lr may change in the step)."""

    before: Arrays
    after: Arrays
    gradients: Gradients
    groups: Sequence[tuple[Group, Group]]


def coming(subject: Subject) -> tuple[Gradients, bool]:
    """The gradient that the next step will use, and whether it is known to be; else that of the subject's batch."""
    try:
        return subject.accumulated(seed=None), True
    except NotAsked:
        return subject.gradients()[1], False


def goes_down(gradients: Gradients, start: Arrays, end: Arrays) -> bool:
    """Whether most elements went against their gradient, as all do in a first step of SGD or Adam; of another batch's gradient it is half of them."""
    against = total = 0
    for name, gradient in gradients.items():
        if gradient is not None:
            signs = np.sign(gradient) * np.sign(end[name] - start[name])
            against, total = against + int((signs < 0).sum()), total + int((signs != 0).sum())
    return total > 0 and against > 0.75 * total


def is_adam(optimizer: str) -> bool:
    return "adam" in optimizer.lower() and not any(variant in optimizer.lower() for variant in VARIANTS)


def is_muon(group: Group) -> bool:
    """Where one optimizer holds Muon's and Adam's parameters (Jordan's MuonWithAuxAdam), its groups say which with `use_muon`."""
    return "muon" in group.optimizer.lower() and bool(group.options.get("use_muon", True))


def findings(step: Step) -> Iterator[Finding]:
    for before, after in step.groups:
        rates = [rate for group in (after, before) if (rate := _number(group.options.get("lr"))) > 0]
        if not rates:
            continue
        if is_muon(after) and not any(variant in after.optimizer.lower() for variant in VARIANTS):
            judge = _muon
        elif is_adam(after.optimizer) or ("muon" in after.optimizer.lower() and not is_muon(after)):
            judge = _adam
        else:
            continue
        yield from min((list(judge(step, after, rate)) for rate in rates), key=len)


def _adam(step: Step, group: Group, rate: float) -> Iterator[Finding]:
    multiples = {name: _multiples(step, group, name, rate) for name in group.names if name in step.gradients}
    multiples = {name: found for name, found in multiples.items() if found.size}
    if not multiples:
        return
    together = _alike(np.concatenate(list(multiples.values())), ENOUGH)
    eps = _number(group.options.get("eps"))
    for name, found in multiples.items():
        common = float(np.median(found))
        gradient = step.gradients[name]
        numbers = {"multiple": common, "lr": rate}
        if (together or _alike(found, ENOUGH)) and _alike(found, 1) and abs(common - 1) > OFF:
            text = f"the first step moves each element by {common:.4g} x lr (lr = {rate:.3g}): Adam's moves it by lr{_guess(common, group)}"
            yield Finding(kind="step_size", parameter=name, text=text, numbers=numbers)
        elif common < 0.5 and eps > 0 and gradient is not None and _share_below(gradient, eps) > 0.5:
            largest = float(np.abs(gradient).max())
            text = f"eps = {eps:.3g} is larger than its gradient (at most {largest:.3g}): half of the elements move by less than {common:.2g} x lr"
            yield Finding(kind="epsilon", parameter=name, text=text, numbers={**numbers, "eps": eps, "largest": largest})


def _multiples(step: Step, group: Group, name: str, rate: float) -> Array:
    """|update| / lr of every element that has a gradient and moved, and whose own resolution is far below lr."""
    weight, options = step.before[name].astype(np.float64), group.options
    moved = step.after[name] - weight
    if moved.any() and (options.get("decoupled_weight_decay") or "adamw" in group.optimizer.lower()):
        moved = moved + rate * _number(options.get("weight_decay")) * weight
    if (gradient := step.gradients[name]) is not None:
        moved = np.where(gradient != 0, moved, 0.0)
    fine = (moved != 0) & (2 * FLOAT32 * np.abs(weight) < ALIKE / 2 * rate)
    return np.asarray(np.abs(moved[fine]) / rate)


def _alike(multiples: Array, enough: int) -> bool:
    common = np.median(multiples)
    return multiples.size >= enough and float(np.mean(np.abs(multiples - common) <= ALIKE * common)) >= MOST


def _guess(common: float, group: Group) -> str:
    betas = group.options.get("betas")
    uncorrected = (1 - betas[0]) / math.sqrt(1 - betas[1]) if betas and betas[1] < 1 else math.nan
    if abs(common / uncorrected - 1) < OFF:
        return "; this is Adam's without bias correction"
    return "; the update is made twice" if abs(common - 2) < 2 * OFF else ""


def _share_below(gradient: Array, eps: float) -> float:
    """Of the squared gradient, what lies in elements smaller than eps."""
    squares = np.square(gradient.astype(np.float64))
    return float(squares[np.abs(gradient) < eps].sum() / squares.sum()) if squares.any() else 0.0


def _muon(step: Step, group: Group, rate: float) -> Iterator[Finding]:
    names = [name for name in group.names if step.gradients.get(name) is not None and step.before[name].ndim > 1]
    for name in names[:: -(-len(names) // MATRICES)] if names else []:
        weight = step.before[name].astype(np.float64)
        moved = step.after[name] - weight + rate * _number(group.options.get("weight_decay")) * weight
        gradient = step.gradients[name]
        if gradient is None or not moved.any():
            continue
        given, made = _singular(gradient), _singular(moved)
        leading = int(np.count_nonzero(given >= CONVERGED * np.linalg.norm(given)))
        if leading < 2 or made[0] <= SPREAD * made[leading - 1]:
            continue
        spread = float(made[0] / made[leading - 1]) if made[leading - 1] else math.inf
        text = (
            f"Muon's update is not orthogonal: its {leading} leading singular values differ by a factor of {spread:.3g}, after Newton-Schulz "
            f"at most {SPREAD:.2g}. Too few iterations, or another matrix than this one of shape {weight.shape}"
        )
        yield Finding(kind="not_orthogonal", parameter=name, text=text, numbers={"spread": spread, "leading": float(leading)})


def _singular(value: Array) -> Array:
    """Singular values of (first axis, all others), falling; by the Gram matrix of the shorter side, to 1e-8 of the largest."""
    matrix = value.reshape(len(value), -1).astype(np.float64)
    matrix = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(matrix @ matrix.T), 0))[::-1])


def _number(option: Any) -> float:
    """An option of a group, which may be a tensor of one element, or absent."""
    try:
        return float(option)
    except (TypeError, ValueError):
        return 0.0
