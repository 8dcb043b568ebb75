"""Asks an operation its examples, and finds the smallest one of each kind of fault; careful that a crash costs one example, and that nothing is asked twice."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gradarbiter.core import Array
from harness.sweep import draw, judge, reference
from harness.sweep.judge import KINDS, Fault
from harness.sweep.op import Asked, Example, Op

SHRINKS = 40  # examples asked, at most, to make one finding smaller


@dataclass(frozen=True, kw_only=True)
class Reply:
    """How one example ended: with arrays, or with `raised`, `crash`, `hang` or `unasked` and what was said; of what refused its backward alone, the value."""

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
    blurred: int = 0  # examples whose view alone is wrong already: they accuse no operation
    differs: str = ""  # of a documented choice: an example that shows it


Ask = Callable[[Sequence[Example]], Sequence[Reply]]
VIEW = Op(forward=lambda **seen: next(iter(seen.values())), takes=lambda d: Asked(tensors={"x": d.floats(*d.shape())}))


class _Views:
    """Whether a framework's views hold: asked alone, with fixed numbers, and once for each type, layout and shape."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.hold: dict[str, bool] = {}

    def sound(self, examples: Sequence[Example]) -> list[bool]:
        """Of each example, whether each of its tensors is seen rightly where no operation is asked."""
        views = [[] if example.invalid else _views(example) for example in examples]
        unknown = list({view.key: view for mine in views for view in mine if view.key not in self.hold}.values())
        if unknown:
            for view, reply in zip(unknown, self.ask(unknown), strict=True):
                self.hold[view.key] = not faults(VIEW, view, reply)
        return [all(self.hold[view.key] for view in mine) for mine in views]


def _views(example: Example) -> list[Example]:
    made = []
    for name, layout in example.layouts.items():
        if layout != "contiguous" and name in example.floats:
            shape = example.asked.tensors[name].shape
            seen = np.broadcast_to(draw.STYLES["grid"](np.random.default_rng(0), (1, *shape[1:])), shape).copy()
            upstream = draw.STYLES["grid"](np.random.default_rng(1), shape)
            made.append(
                Example(
                    asked=Asked(tensors={"x": seen}),
                    dtype=example.dtype,
                    layouts={"x": layout},
                    use=example.use,
                    upstream=upstream,
                    view=True,
                )
            )
    return made


def explore(op: Op, ask: Ask, *, framework: str, dtypes: Sequence[str], count: int) -> Explored:
    """Ask ``count`` examples at once, but for types the framework has not; then, for each kind of fault, look for the smallest example that has it."""
    examples = draw.generated(op, count, dtypes)
    replies = dict(zip((e.key for e in examples), ask(examples), strict=True))
    views = _Views(ask)
    wrong = [(example, kinds) for example in examples if (kinds := {f.kind for f in faults(op, example, replies[example.key], framework)})]
    sound = views.sound([example for example, _ in wrong])
    faulty: dict[str, list[Example]] = {}
    for (example, kinds), seen in zip(wrong, sound, strict=True):
        for kind in kinds if seen else ():
            faulty.setdefault(kind, []).append(example)
    choice = faulty.pop("differs", [])

    def smallest(kind: str) -> Found:
        left = SHRINKS

        def fails(example: Example) -> bool:
            nonlocal left
            if dtypes and example.dtype not in dtypes:
                return False
            if example.key not in replies:
                if not left:
                    return False
                left -= 1
                (replies[example.key],) = ask([example])
            return any(f.kind == kind for f in faults(op, example, replies[example.key], framework)) and all(views.sound([example]))

        # A hang is waited for each time, and what shows only after others is not shown alone: these stay as they were found.
        alone = kind not in ("hang", "order-dependent")
        example = draw.smallest(op, faulty[kind][0], fails) if alone else faulty[kind][0]
        worst = max((f for f in faults(op, example, replies[example.key], framework) if f.kind == kind), key=lambda f: f.ratio)
        return Found(fault=worst, example=example, of=len(faulty[kind]))

    answered = sum(replies[e.key].end == "answer" or (e.invalid and replies[e.key].end == "raised") for e in examples)
    found = tuple(smallest(kind) for kind in KINDS if kind in faulty)
    differs = choice[0].told() if choice else ""
    return Explored(asked=len(examples), answered=answered, found=found, blurred=sound.count(False), differs=differs)


def faults(op: Op, example: Example, reply: Reply, framework: str = "") -> list[Fault]:
    """Everything wrong with a reply; of an answer that the framework documents, only that it `differs`."""
    if reply.end == "unasked":
        return []
    invalid = example.invalid
    if reply.end != "answer":
        kind = "loud" if reply.end == "raised" else reply.end
        if invalid and kind == "loud":
            return []
        # What refuses its backward alone has a value that can be wrong.
        value = list(judge.output(op, example, wanted(op, example), reply.arrays["y"])) if "y" in reply.arrays else []
        return [Fault(kind=kind, what="", got=reply.message, want="an answer", ratio=float("inf")), *value]
    documented = op.documented.get(framework)
    if documented and (invalid or list(judge.faults(op, example, wanted(op, example), reply.arrays))):
        second = dataclasses.replace(op, forward=documented[2], invalid=_never, documented={})
        upstream = example.upstream
        if invalid:  # a valid one's output has the shape that its upstream gradient was made for
            upstream = np.zeros(np.shape(second.forward(**example.asked.tensors, **example.asked.attributes)))
        asked = dataclasses.replace(example, upstream=upstream)
        if not list(judge.faults(second, asked, wanted(second, asked), reply.arrays)):
            return [Fault(kind="differs", what="", got="", want="", ratio=0.0)]
    if invalid:
        got = reply.arrays.get("y")
        said = float(got.ravel()[0]) if got is not None and got.size else "an answer"
        return [Fault(kind="accepts", what="y", got=said, want="a refusal", ratio=float("inf"))]
    return list(judge.faults(op, example, wanted(op, example), reply.arrays))


def _never(_: object) -> bool:
    return False


def wanted(op: Op, example: Example) -> reference.Reference:
    """The reference, computed once for all columns."""
    asked = (op, example.key)
    if asked not in KNOWN:
        KNOWN[asked] = reference.ask(op, example)
    return KNOWN[asked]


KNOWN: dict[tuple[Op, str], reference.Reference] = {}
