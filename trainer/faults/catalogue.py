"""What a fault is, how it is planted and found by name; careful that everything is put back, also after an error, also attributes that were not there.

A fault is a generator function in a file of its layer (LAYER.py or LAYER_part.py): its name is the fault's name, its docstring what it does. It replaces
attributes of the trainer's own modules and classes (`patched`), so it must be planted before the run begins, and nothing is to be compiled inside: graphs
outlive the patch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from trainer.errors import refusal

Layer = Literal["model", "loss", "optimizer", "data", "precision", "resume"]
# What a run shows, in the order in which one follows from another (see `trainer.faults.twin`).
Stage = Literal["tokenizer", "batches", "logits", "loss", "gradients", "updates", "evaluation", "resume", "cost"]
Situation = Literal["", "padding", "infinite gradient", "zero embedding", "flipped byte"]  # what some faults need before they show

MISSING = object()


@dataclass(frozen=True, kw_only=True)
class Fault:
    name: str
    layer: Layer
    does: str
    stands_for: str  # the failure class in the paper's list
    shows_in: Stage  # the first stage at which a faulty run differs from a healthy one
    situation: Situation
    options: Mapping[str, Any]  # configuration that it needs to show
    plant: Callable[[], AbstractContextManager[None]]


CATALOGUE: dict[str, Fault] = {}


def fault(
    stands_for: str, *, shows_in: Stage, situation: Situation = "", **options: Any
) -> Callable[[Callable[[], Iterator[None]]], Callable[[], AbstractContextManager[None]]]:
    def register(function: Callable[[], Iterator[None]]) -> Callable[[], AbstractContextManager[None]]:
        name, layer = function.__name__, function.__module__.rpartition(".")[2].partition("_")[0]
        assert name not in CATALOGUE, f"two faults are named {name}"
        assert layer in get_args(Layer), f"{name} is in a file that is no layer: {layer}"
        assert function.__doc__, f"{name} does not say what it does"
        plant = contextlib.contextmanager(function)
        CATALOGUE[name] = Fault(
            name=name,
            layer=cast(Layer, layer),
            does=" ".join(function.__doc__.split()),
            stands_for=stands_for,
            shows_in=shows_in,
            situation=situation,
            options=options,
            plant=plant,
        )
        return plant

    return register


def plant(name: str) -> AbstractContextManager[None]:
    """Runs that begin in its context are faulty; everything is as before on exit."""
    if name not in CATALOGUE:
        raise refusal(f"fault {name!r}", f"one of {', '.join(CATALOGUE)}", "`python -m trainer.faults` lists them with what they do")
    return CATALOGUE[name].plant()


@contextlib.contextmanager
def patched(owner: Any, **replacements: Any) -> Iterator[None]:
    """Attributes of a module or a class replaced; `vars` because `getattr` would bind and would find what is inherited."""
    before = {name: vars(owner).get(name, MISSING) for name in replacements}
    try:
        for name, value in replacements.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            if value is MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
