"""Asks an operation its examples, and finds the smallest one of each kind of fault; careful that a crash costs one example, and that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from gradarbiter.core import Array
from harness.sweep import draw, judge, reference
from harness.sweep.judge import KINDS, Fault
from harness.sweep.op import Example, Op

SHRINKS = 40  # examples asked, at most, to make one finding smaller


@dataclass(frozen=True, kw_only=True)
class Reply:
    """How one example ended: with arrays, or with `raised`, `crash` or `hang` and what was said."""

    end: str
    arrays: Mapping[str, Array] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Found:
    fault: Fault
    example: Example
    of: int  # examples with this kind of fault, before any was made smaller


@dataclass(frozen=True, kw_only=True)
class Explored:
    asked: int
    answered: int
    found: tuple[Found, ...]  # worst kind first


def explore(
    op: Op, ask: Callable[[Sequence[Example]], Sequence[Reply]], *, dtypes: tuple[str, ...], layouts: tuple[str, ...], count: int
) -> Explored:
    """Ask ``count`` examples at once; then, for each kind of fault that shows, look for the smallest example that has it."""
    of = draw.strategy(op, dtypes, layouts)
    examples = draw.generated(of, count)
    replies = dict(zip((e.key for e in examples), ask(examples), strict=True))
    faulty: dict[str, list[Example]] = {}
    for example in examples:
        for kind in {fault.kind for fault in faults(op, example, replies[example.key])}:
            faulty.setdefault(kind, []).append(example)

    def smallest(kind: str) -> Found:
        left = SHRINKS

        def fails(example: Example) -> bool:
            nonlocal left
            if example.key not in replies:
                if not left:
                    return False
                left -= 1
                (replies[example.key],) = ask([example])
            return any(fault.kind == kind for fault in faults(op, example, replies[example.key]))

        # A hang is waited for each time: it stays as it was found.
        example = (draw.smallest(of, count, fails) if kind != "hang" else None) or faulty[kind][0]
        worst = max((f for f in faults(op, example, replies[example.key]) if f.kind == kind), key=lambda f: f.ratio)
        return Found(fault=worst, example=example, of=len(faulty[kind]))

    found = tuple(smallest(kind) for kind in KINDS if kind in faulty)
    return Explored(asked=len(examples), answered=sum(r.end == "answer" for r in replies.values()), found=found)


def faults(op: Op, example: Example, reply: Reply) -> list[Fault]:
    if reply.end == "answer":
        return list(judge.faults(op, example, wanted(op, example), reply.arrays))
    kind = "loud" if reply.end == "raised" else reply.end
    return [Fault(kind=kind, what="", got=reply.message, want="an answer", ratio=float("inf"))]


def wanted(op: Op, example: Example) -> reference.Reference:
    """The reference, computed once for all columns of a run."""
    return _wanted(_Keyed(op, example))


@dataclass(frozen=True)
class _Keyed:
    op: Op
    example: Example

    def __hash__(self) -> int:
        return hash((id(self.op), self.example.key))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.op is other.op and self.example.key == other.example.key


@lru_cache(maxsize=200_000)
def _wanted(asked: _Keyed) -> reference.Reference:
    return reference.ask(asked.op, asked.example)
