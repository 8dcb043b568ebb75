"""The search for changes of a yes-or-no answer along an ordered list; careful that what cannot be answered is stepped over and named, never guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Ask = Callable[[int], bool | None]  # place -> bad, not bad, or None where it cannot be answered


@dataclass(frozen=True, kw_only=True)
class Flip:
    """Two neighbours among what could be answered, with different answers."""

    before: int
    after: int
    to_bad: bool

    @property
    def between(self) -> range:
        """Places between them: none of them could be answered."""
        return range(self.before + 1, self.after)


@dataclass(kw_only=True)
class Found:
    """Flips in their order, every answer that was given, and whether every place was looked at."""

    flips: list[Flip] = field(default_factory=list)
    answers: dict[int, bool | None] = field(default_factory=dict)
    scanned: bool = False


def search(count: int, ask: Ask, known: Mapping[int, bool] | None = None, *, scan: bool = False) -> Found:
    """The flips among ``count`` places. Both ends are asked first, then halves; every place where ``scan`` says so, or where what is ``known``
    already shows more than one flip. Between equal ends without a known difference nothing is looked for.
    """
    found = Found()

    def answer(place: int) -> bool | None:
        if place not in found.answers:
            found.answers[place] = known[place] if known and place in known else ask(place)
        return found.answers[place]

    first = next((place for place in range(count) if answer(place) is not None), None)
    last = next((place for place in reversed(range(count)) if answer(place) is not None), None)
    if first is None or last is None:
        return found
    sure = {**{p: bad for p, bad in (known or {}).items() if first < p < last}, first: answer(first), last: answer(last)}
    changes = sum(sure[a] != sure[b] for a, b in pairwise(sorted(sure)))
    if scan or changes > 1:
        for place in range(first, last):
            answer(place)
        found.flips, found.scanned = _flips(found.answers), True
    elif changes == 1:
        before = max(p for p in sure if sure[p] == sure[first])
        after = min(p for p in sure if sure[p] == sure[last])
        found.answers |= {before: sure[before], after: sure[after]}
        found.flips = [_halve(before, after, answer)]
    return found


def _halve(before: int, after: int, answer: Ask) -> Flip:
    bad_before = answer(before)
    while (middle := _answerable(before, after, answer)) is not None:
        if answer(middle) == bad_before:
            before = middle
        else:
            after = middle
    return Flip(before=before, after=after, to_bad=not bad_before)


def _answerable(before: int, after: int, answer: Ask) -> int | None:
    """The place nearest the middle that can be answered."""
    middle = (before + after) / 2
    return next((place for place in sorted(range(before + 1, after), key=lambda p: abs(p - middle)) if answer(place) is not None), None)


def _flips(answers: Mapping[int, bool | None]) -> list[Flip]:
    given: Sequence[tuple[int, bool]] = [(place, bad) for place, bad in sorted(answers.items()) if bad is not None]
    return [Flip(before=a, after=b, to_bad=now) for (a, was), (b, now) in pairwise(given) if was != now]
