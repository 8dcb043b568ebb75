"""Outputs depend on no later token, and on as many earlier ones as declared; careful that a probe which could not have seen anything is not taken for a pass.

One token is changed, and outputs before it are compared: nothing that is computed for them has changed, so they are equal, in practice to the bit. Four
positions are probed: the first (for the reach), the second, the middle one, the last; each in other rows of the batch, so that two forward passes do. An output
that moved is asked again with that one change in every row, since rows of a batch might also mix (`batch_independence`).
What moved by less than rounding is asked in float64, if float32 is not what it was computed in.
"""

from __future__ import annotations

import numpy as np

from gradarbiter import probe
from gradarbiter.core import Array
from gradarbiter.cross_entropy import trains_next_token
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Expect, Subject

# The influence of the farthest token comes along one path (a hop of window - 1 in each layer), that of the one after it along as many as there are layers, and
# so on: adjacent influences differ by a factor of layers at most. Where one that is this much above rounding is followed by none, that is an end, not a fading.
CLIFF = 30.0


def causality(subject: Subject, expect: Expect) -> list[Finding]:
    if expect.causal is False:
        raise NotAsked("declared as not causal")
    if expect.causal is None and not trains_next_token(subject, expect):
        raise NotAsked("whether outputs may depend on later tokens is not known: say causal=True, or causal=False")
    probe.wake(subject)
    seen = _Influence(subject, expect)
    if not seen.moves():
        raise NotAsked("no token changes the output of another position, so a leak could not be seen: ask after a training step")
    return _later(seen) or _reach(seen, expect)  # a leak shifts what the reach is measured from


class _Influence:
    """How much each output position moves when the token at one position is another, as a share of the largest output."""

    def __init__(self, subject: Subject, expect: Expect) -> None:
        self.subject, self.expect = subject, expect
        self.base = subject.outputs()
        self.ids = probe.positions(subject, self.base)
        self.known = probe.alphabet(self.ids, expect)
        self.limit = probe.rounding(subject, self.base)
        rows, self.length = self.ids.shape
        if self.length < 3:
            raise NotAsked(f"{self.length} positions: at least 3 are needed")
        self.of: dict[int, Array] = {}
        probed = sorted({0, 1, self.length // 2, self.length - 1})
        for start in range(0, len(probed), rows):
            some = probed[start : start + rows]
            moved = self._moved([some[row % len(some)] for row in range(rows)])
            self.of |= {at: moved[i :: len(some)].max(axis=0) for i, at in enumerate(some)}

    def everywhere(self, at: int) -> Array:
        return np.asarray(self._moved([at] * len(self.ids)).max(axis=0))

    def moves(self) -> bool:
        """Does any token reach the output of a later position: else nothing that mixes positions is at work."""
        return any((moved[at + 1 :] > self.limit).any() for at, moved in self.of.items())

    def _moved(self, at: list[int]) -> Array:
        ids = self.subject.tokens().copy()
        rows = np.arange(len(ids))
        ids[rows, at] = probe.others(ids[rows, at], self.known)
        got = self.subject.outputs(self.subject.with_tokens(ids))
        return probe.change(got, self.base)


def _later(seen: _Influence) -> list[Finding]:
    suspected = [at for at, moved in seen.of.items() if moved[:at].any()]
    found = {at: moved for at in suspected if (moved := seen.everywhere(at))[:at].any()}
    if not found:
        return []
    at = max(found, key=lambda at: found[at][:at].max())
    worst = int(found[at][:at].argmax())
    size = float(found[at][worst])
    numbers = {"position": worst, "sees": at, "change": size, "rounding": seen.limit}
    text = f"the output at position {worst} changes by {size:.1e} of the largest output when only the token at position {at} is another"
    if size > seen.limit:
        return [Finding(kind="leak", parameter=f"position {worst}", numbers=numbers, text=f"{text}: it sees a later token")]
    if probe.unit(seen.base) > probe.FLOAT32 and (wide := _wide(seen.subject)) is not None:
        again = _Influence(wide, seen.expect)
        return _later(again) if any(moved[:at].max(initial=0) > again.limit for at, moved in again.of.items()) else []
    text += f"; rounding alone could do that here ({seen.limit:.1e})"
    return [Finding(kind="rounding", parameter=f"position {worst}", numbers=numbers, text=text, accuses=False)]


def _wide(subject: Subject) -> Subject | None:
    try:
        return subject.wide()
    except NotAsked:
        return None


def _reach(seen: _Influence, expect: Expect) -> list[Finding]:
    """How many tokens back an output depends on, itself included: as far as the influence of any probed token goes."""
    last = {at: int(np.flatnonzero(moved > seen.limit).max(initial=at - 1)) for at, moved in seen.of.items()}
    start = max(last, key=lambda at: last[at] - at)
    end = last[start]
    measured, whole, size = end - start + 1, end == seen.length - 1, float(seen.of[start][end])
    ends = not whole and size > CLIFF * seen.limit
    declared, told = expect.reach, f"the token at {start} changes position {end} by {size:.1e}"
    numbers = {"measured": measured, "positions": seen.length, "rounding": seen.limit}
    if declared is None:
        text = f"outputs depend on {measured} tokens, themselves included: say reach={measured} to have that checked"
        return [Finding(kind="reach", parameter="outputs", text=text, numbers=numbers, accuses=False)] if ends else []
    text = f"outputs see {'at least ' if whole else ''}{measured} tokens back, {declared} declared: {told}"
    numbers["declared"] = declared
    if measured > declared:
        return [Finding(kind="reach", parameter="outputs", text=text, numbers=numbers)]
    if measured == declared or whole:
        return []
    if ends:
        return [Finding(kind="reach", parameter="outputs", text=f"{text} and none after it", numbers=numbers)]
    text += f"; what is farther fades into rounding ({seen.limit:.1e}), so where it ends cannot be seen"
    return [Finding(kind="reach", parameter="outputs", text=text, numbers=numbers, accuses=False)]
