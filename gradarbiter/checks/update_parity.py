"""Training steps are the ones the recipe says: each is recomputed in float64 from its gradient; careful that each starts from the model's own weights.

Asked with `expect.recipe`, of a run that has not begun: the recipe's optimizer state is empty and its schedule at step 0. Your loop takes STEPS steps;
before each, the gradient it is about to use is read (`subject.accumulated`). After each, every parameter must be where the recipe puts it. Allowed is what
healthy optimizers differ by: storing a weight rounds it, at most twice a step (decay, then the update): 2 u ||w|| with u of the parameter's dtype. The rest is
measured: a twin of the recipe whose state, products and gradients are each off by one rounding (float32's; for Newton-Schulz the recipe's) ends at a distance,
of which eight are allowed, since an optimizer rounds a few times where the twin does once. The first step that differs is named, with its worst parameters, and
with the common mistake that would explain it, if one does (`gradarbiter.guess`).

Not seen: a wrong gradient (both use it); mistakes after STEPS steps; and what is below the rounding of a narrow weight, which is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gradarbiter import first_step, slopes
from gradarbiter.checks.gradient_parity import UNITS
from gradarbiter.core import Array
from gradarbiter.first_step import Gradients
from gradarbiter.guess import Past, guess
from gradarbiter.recipe import FLOAT32, Recipe, State
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Arrays, Expect, Subject

STEPS = 4  # the second shows betas and what is stale, the third which of two; a warm-up shows its slope in all
TWINS = 8
SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class Off:
    ratio: float
    error: float
    moved: float  # by the recipe
    allowed: float


@dataclass(kw_only=True)
class Books:
    """The recipe's own optimizer state of every parameter, and the twin's."""

    recipe: Recipe
    units: Mapping[str, float]  # of the parameters
    states: dict[str, State] = field(default_factory=dict)
    twins: dict[str, State] = field(default_factory=dict)
    noise: np.random.Generator = field(default_factory=lambda: np.random.default_rng(2))
    seen: set[str] = field(default_factory=set)  # parameters that moved by more than what is allowed

    def compare(self, step: int, gradients: Gradients, start: Arrays, end: Arrays) -> dict[str, Off]:
        share, found = self.recipe.schedule(step), {}
        for name, gradient in self.recipe.clipped(gradients).items():
            weight = start[name].astype(np.float64)
            want, twin = weight, weight
            if gradient is not None:  # else optimizers leave the parameter and its state alone
                rule = self.recipe.rule(name)
                want = rule.move(weight, gradient, self.states.setdefault(name, {}), share)
                twin = rule.move(weight, self._rounded(gradient), self.twins.setdefault(name, {}), share, self.noise)
            allowed = 2 * self.units[name] * slopes.norm(want) + TWINS * float(np.linalg.norm(twin - want))
            moved, error = float(np.linalg.norm(want - weight)), float(np.linalg.norm(end[name] - want))
            if moved > 2 * allowed:
                self.seen.add(name)
            if not error <= allowed:
                found[name] = Off(ratio=error / allowed if allowed else np.inf, error=error, moved=moved, allowed=allowed)
        return found

    def _rounded(self, gradient: Array) -> Array:
        """Sums over tokens are rounded on the scale of their terms, not of what is left of them; a row that no token reached stays 0."""
        scale = np.where(gradient != 0, np.abs(gradient) + float(np.sqrt(np.mean(np.square(gradient)))), 0.0)
        return np.asarray(gradient + FLOAT32 * scale * self.noise.standard_normal(gradient.shape))


def update_parity(subject: Subject, expect: Expect) -> list[Finding]:
    if expect.recipe is None:
        raise NotAsked("no recipe: give expect=Expect(recipe=Recipe(...)), see gradarbiter.recipe")
    parameters = [p for p in subject.parameters() if p.trainable]
    books, past = Books(recipe=expect.recipe, units={p.name: UNITS.get(p.dtype, FLOAT32) for p in parameters}), Past()
    for p in parameters:
        expect.recipe.rule(p.name)
    for step in range(STEPS):
        gradients, sure = first_step.coming(subject)
        start = subject.read()
        past.gradients.append(gradients)
        past.weights.append(start)
        subject.step()
        end = subject.read()
        if off := books.compare(step, gradients, start, end):
            if not sure and not first_step.goes_down(gradients, start, end):
                raise NotAsked(
                    "your step does not go down the gradient of your batch: give accumulate=, the gradient of the step's own batch"
                )
            return _findings(expect.recipe, step, off, past, end)
    unseen = [name for name in books.units if name not in books.seen and name in gradients and gradients[name] is not None]
    if len(unseen) == len(books.units):
        raise NotAsked(f"no step moves a parameter by more than what rounding may: is the schedule still at 0 after {STEPS} steps?")
    if not unseen:
        return []
    text = f"{len(unseen)} parameters, {unseen[0]} first, move less in {STEPS} steps than their rounding hides: not compared"
    return [Finding(kind="hidden", parameter=unseen[0], text=text, numbers={"parameters": len(unseen)}, accuses=False)]


def _findings(recipe: Recipe, step: int, off: Mapping[str, Off], past: Past, end: Arrays) -> list[Finding]:
    found = []
    for name in sorted(off, key=lambda name: -off[name].ratio)[:SHOWN]:
        at = off[name]
        why = guess(recipe, name, past, end[name].astype(np.float64), at.allowed)
        text = (
            f"step {step} puts it {at.error:.3g} away from where the recipe does, whose step is {at.moved:.3g} long "
            f"({at.ratio:.3g} times what is allowed){why}"
        )
        numbers = {"step": float(step), "error": at.error, "moved": at.moved, "ratio": at.ratio}
        found.append(Finding(kind="update", parameter=name, text=text, numbers=numbers))
    if len(off) > SHOWN:
        text = f"{len(off)} parameters differ at step {step}; first in order {next(iter(off))}, last {list(off)[-1]}"
        found.append(Finding(kind="extent", parameter="updates", text=text, numbers={"parameters": len(off)}, accuses=False))
    return found
