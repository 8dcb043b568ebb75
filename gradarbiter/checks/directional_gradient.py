"""The gradient is the loss's: along lines of parameters it claims the slope that differences measure; careful to know the error of a difference first.

Two lines: along the gradient, each parameter by its own size (every claim is positive: a wrong scale shows), and a random one (a wrong or missing component
shows, which the first line cannot see). In a float64 copy (`subject.wide`) an error that is 1e-4 of a claim shows on any line, and one is measured, half of
the first and half of the second. Where there is none, both are, in the subject's own dtype, and a slope that is known to less than a tenth is not asked. The
error of a slope is measured, see `gradarbiter.slopes`; a gradient has a rounding of its own, for which CANCELLED of the claims is allowed. What deviates is
measured again with a quarter of the step: where that agrees with neither, the loss has kinks or jumps (routing) in between, and that is said. Which parameter
it is, is found by halves, each alone. Of a batch of tokens a few rows are taken: float64 is slow.

Dropout is the same in every call, by the contract. A straight-through estimator has a gradient that is not the loss's on purpose, and is accused: skip this
check, or give it the loss without the estimator. Not seen: a loss that is itself wrong; what is the same in forward and gradient (`gradient_parity`);
a gradient that is wrong in the training dtype only and right in float64 (`gradient_parity` again).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradarbiter import slopes
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Expect, Subject

# Half of float32's digits: what sums over tokens with both signs may lose where code computes in float32 in spite of us.
CANCELLED = 2.0**-12
KNOWN = 0.1  # a slope's error, as a share of what is claimed, above which agreement would say little

Line = dict[str, Array]


@dataclass(frozen=True, kw_only=True)
class Measured:
    claimed: float
    size: float  # of the claims of single parameters, without regard to sign: the claims may cancel
    slope: slopes.Slope

    @property
    def off(self) -> float:
        """How much farther the slope is from the claim than errors allow."""
        return abs(self.claimed - self.slope.value) - self.slope.error - CANCELLED * self.size

    @property
    def known(self) -> bool:
        return self.slope.error <= KNOWN * max(self.size, abs(self.slope.value))


def directional_gradient(subject: Subject, expect: Expect) -> list[Finding]:  # noqa: ARG001  a check's signature
    wide = _wide(subject)
    where = _Where(subject if wide is None else wide, exact=wide is not None)
    lines = {"mixed": where.mixed()} if where.exact else {"along": where.along(), "random": where.across()}
    found, reason = [], ""
    for kind, line in lines.items():
        try:
            at = where.known(kind, line)
            if at.off > 0 and where.stands(line, at):
                found.append((kind, at))
        except NotAsked as why:
            reason = str(why)
    if reason and not found:
        raise NotAsked(reason)
    return where.named(found) if found else []


def _wide(subject: Subject) -> Subject | None:
    with contextlib.suppress(NotAsked):
        if (wide := subject.wide()) is not None:
            return wide
    narrow = [p for p in subject.parameters() if p.trainable and p.dtype not in ("float32", "float64")]
    if narrow:
        raise NotAsked(f"{narrow[0].name} is {narrow[0].dtype}, too coarse for small steps, and there is no float64 copy")
    return None


class _Where:
    """A model at its present parameters: its gradient, and its loss along lines through them."""

    def __init__(self, subject: Subject, *, exact: bool) -> None:
        self._subject, self._batch = subject, slopes.few_rows(subject)
        loss, gradients = subject.gradients(self._batch)
        if self._batch is not subject.batch and not any(g is not None and g.any() for g in gradients.values()):  # a loss between rows
            self._batch = subject.batch
            loss, gradients = subject.gradients()
        if not math.isfinite(loss) or not all(np.isfinite(g).all() for g in gradients.values() if g is not None):
            raise NotAsked("the loss or a gradient is not finite: see gradient_flow")
        self._start = {name: value for name, value in subject.read().items() if name in gradients}
        self._gradients = {name: np.zeros_like(self._start[name]) if g is None else g for name, g in gradients.items()}
        self._size = slopes.sizes(self._start)
        # The forward pass of a gradient may round in another way than a loss alone, which float32 would show.
        self._loss = loss if exact else subject.loss(self._batch)
        self.exact = exact
        # Finer where jumps (routing) are near; coarser where code computes in float32 in spite of a float64 copy.
        self._steps = [slopes.FINE, slopes.FINE / 2**6, slopes.FINE / 2**12, slopes.COARSE] if exact else [slopes.COARSE]

    def along(self) -> Line:
        made = {}
        for name, gradient in self._gradients.items():
            length = slopes.norm(gradient)
            made[name] = np.asarray(gradient * (self._size[name] / length)) if length else np.zeros_like(gradient)
        return made

    def across(self) -> Line:
        return slopes.random(self._start, self._size)

    def mixed(self) -> Line:
        along, across = self.along(), self.across()
        return {name: np.asarray((along[name] + across[name]) / math.sqrt(2)) for name in along}

    def measured(self, line: Line, steps: Sequence[float] = ()) -> Measured:
        """With the first step that makes the slope known, else the last."""
        claims = [float(np.vdot(self._gradients[name], step)) for name, step in line.items()]
        for h in steps or self._steps:
            at = slopes.slope(self._subject, self._start, line, h=h, at_start=self._loss, batch=self._batch)
            found = Measured(claimed=math.fsum(claims), size=math.sqrt(math.fsum(c * c for c in claims)), slope=at)
            if found.known:
                break
        return found

    def known(self, kind: str, line: Line) -> Measured:
        """The same.

        Raises:
            NotAsked: no step makes it known.
        """
        at = self.measured(line)
        if at.known:
            return at
        raise NotAsked(
            f"the loss is too noisy, or too uneven, along a line ({kind}): slope {at.slope.value:.3g} +- {at.slope.error:.2g}, claimed "
            f"{at.claimed:.3g}; rounding of a loss {at.slope.noise:.1g}. Give a model that runs in float64"
        )

    def stands(self, line: Line, at: Measured) -> bool:
        """Whether a deviation is there with a quarter of the step too.

        Raises:
            NotAsked: that one agrees with neither.
        """
        steps = [h / 4 for h in self._steps]
        finer = self.measured(line, steps)
        if finer.off <= 0 and finer.slope.error < abs(at.claimed - at.slope.value) / 2:
            return False
        if abs(finer.slope.value - at.slope.value) <= finer.slope.error + at.slope.error + CANCELLED * at.size:
            return True
        raise NotAsked(
            f"the loss is not smooth along a line: slope {at.slope.value:.4g}, with a quarter of the step {finer.slope.value:.4g}, claimed "
            f"{at.claimed:.4g}: kinks or jumps (relu, routing) between"
        )

    def named(self, found: Sequence[tuple[str, Measured]]) -> list[Finding]:
        mixed, seen = self.mixed(), dict[str, Measured]()

        def wrong(names: Sequence[str]) -> bool:
            at = self.measured({name: mixed[name] for name in names})
            seen["/".join(names)] = at
            return at.off > 0 and abs(at.claimed - at.slope.value) > 2 * at.slope.error

        names = list(mixed)
        alone, groups = slopes.culprits(names, wrong)
        if not alone:
            return [self._finding("the gradient", kind, at) for kind, at in found]
        alone.sort(key=names.index)
        return [self._finding(name, "mixed", seen[name]) for name in alone] + [
            self._finding(name, f"with {len(group) - 1} more", seen["/".join(group)])
            for group in groups
            if len(group) < len(names)
            for name in group
        ]

    def _finding(self, name: str, kind: str, at: Measured) -> Finding:
        text = f"it claims that the loss changes by {at.claimed:.4g} a size along a line ({kind}), differences say {at.slope.value:.4g} +- {at.slope.error:.1g}"
        numbers = {"claimed": at.claimed, "measured": at.slope.value, "error": at.slope.error}
        return Finding(kind="wrong", parameter=name, text=text, numbers=numbers)
