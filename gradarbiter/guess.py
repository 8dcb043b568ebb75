"""Which mistake explains a step that a recipe does not: the recipe with one common mistake in it, recomputed from the beginning; careful that a guess is one.

A mistake is named only if it gives the weights that were found, to within what the recipe itself was allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradarbiter.core import Array
from gradarbiter.recipe import Adam, Muon, Recipe, Rule, State
from gradarbiter.subject import Arrays


@dataclass(kw_only=True)
class Past:
    """Of every step up to now: the gradients before clipping, and the weights before it."""

    gradients: list[Mapping[str, Array | None]] = field(default_factory=list)
    weights: list[Arrays] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """Changes of one parameter's history; each default is the recipe."""

    says: str
    rule: Rule
    gradients: Sequence[Array]
    shares: Sequence[float]
    weights: Sequence[Array]
    between: Callable[[State], None] = lambda _: None  # what happens to the state after a step
    after: Callable[[Array], Array] = lambda weight: weight  # and to the weight
    times: int = 1

    def end(self) -> Array:
        state: State = {}
        for weight, gradient, share in zip(self.weights, self.gradients, self.shares, strict=True):
            end = weight
            for _ in range(self.times):
                end = self.rule.move(end, gradient, state, share)
            self.between(state)
        return self.after(end)


def guess(recipe: Recipe, name: str, past: Past, end: Array, allowed: float) -> str:
    """The mistake whose end is nearest, or nothing."""
    if any(step[name] is None for step in past.gradients):
        return ""
    found = [(float(np.linalg.norm(mistake.end() - end)), mistake.says) for mistake in _mistakes(recipe, name, past)]
    off, says = min(found, default=(math.inf, ""))
    return f"; {says} would explain it" if off <= allowed else ""


def _mistakes(recipe: Recipe, name: str, past: Past) -> Iterator[Mistake]:
    steps, rule = len(past.weights), recipe.rule(name)
    shares = [recipe.schedule(n) for n in range(steps)]
    weights = [values[name].astype(np.float64) for values in past.weights]
    raw = [_wide(gradients[name]) for gradients in past.gradients]
    clipped = [_wide(recipe.clipped(gradients)[name]) for gradients in past.gradients]
    right = Mistake(says="", rule=rule, gradients=clipped, shares=shares, weights=weights)
    for says, other in _rules(rule):
        yield replace(right, says=says, rule=other)
    yield replace(right, says="the peak learning rate", shares=[1.0] * steps)
    yield replace(right, says="the next step's learning rate", shares=[recipe.schedule(n + 1) for n in range(steps)])
    yield replace(right, says="a schedule that is stepped twice a step", shares=[recipe.schedule(2 * n) for n in range(steps)])
    yield replace(right, says="two updates a step", times=2)
    yield replace(right, says="gradients of the step before", gradients=[clipped[0], *clipped[:-1]])
    yield replace(right, says="weights of the step before", weights=[weights[0], *weights[:-1]])
    yield replace(
        right, says="gradients that are never set to zero", gradients=[_wide(step[name]) for step in _summed(recipe, past.gradients)]
    )
    yield replace(right, says="a second moment kept in bfloat16", between=_round)
    yield replace(right, says="weights kept in bfloat16", after=_bfloat16)
    yield replace(right, says="state that is one row out of step", between=_roll)
    if recipe.clip:
        alone = [g * min(1.0, recipe.clip / max(float(np.linalg.norm(g)), 1e-300)) for g in raw]
        yield replace(right, says="clipping of each parameter alone", gradients=alone)
        yield replace(right, says="no clipping", gradients=raw)


def _rules(rule: Rule) -> Iterator[tuple[str, Rule]]:
    changed: Any = rule
    if getattr(rule, "weight_decay", 0.0):
        yield "no weight decay", replace(changed, weight_decay=0.0)
    if isinstance(rule, Adam):
        yield "no bias correction", replace(rule, corrected=False)
        yield "betas that have changed places", replace(rule, beta1=rule.beta2, beta2=rule.beta1)
        yield f"decay {'in the step' if rule.coupled else 'in the gradient'}", replace(rule, coupled=not rule.coupled)
        yield f"eps {'after' if rule.eps_hat else 'before'} the correction of the second moment", replace(rule, eps_hat=not rule.eps_hat)
        for eps in (1e-2, 1e-3, 1e-4, 1e-6, 1e-8):
            yield f"eps = {eps:.0e}", replace(rule, eps=eps)
    if isinstance(rule, Muon):
        yield "no factor for the matrix's shape", replace(rule, scale="none")
        yield "one Newton-Schulz iteration", replace(rule, steps=1)
        yield "no Nesterov momentum" if rule.nesterov else "Nesterov momentum", replace(rule, nesterov=not rule.nesterov)


def _summed(recipe: Recipe, gradients: Sequence[Mapping[str, Array | None]]) -> Iterator[Mapping[str, Array | None]]:
    held: dict[str, Array | None] = {}
    for step in gradients:
        held = recipe.clipped(
            {name: _wide(g) + (0.0 if (old := held.get(name)) is None else old) for name, g in step.items() if g is not None}
        )
        yield held


def _round(state: State) -> None:
    if "second" in state:
        state["second"] = _bfloat16(state["second"])


def _bfloat16(value: Array) -> Array:
    """To the nearest, ties to even."""
    bits = value.astype(np.float32).view(np.uint32)
    nearest = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return np.asarray((nearest & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64))


def _roll(state: State) -> None:
    for key, value in state.items():
        if value.ndim:
            state[key] = np.roll(value, 1, 0)


def _wide(gradient: Array | None) -> Array:
    assert gradient is not None, "a parameter without a gradient has no history to explain"
    return np.asarray(gradient, dtype=np.float64)
