"""A subject that is asked the same by several checks answers once; careful to remember only what was said of the subject as it was given.

A check may write parameters or take steps. From then on until its `kept` ends, and after anything in training mode (running statistics move), every question
is asked anew and no answer is kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from gradarbiter.core import Array
from gradarbiter.subject import Arrays, Subject


class Remembered:
    """`Subject`'s questions about its own batch; all others go through."""

    def __init__(self, subject: Subject) -> None:
        self._subject, self._known, self._moved = subject, dict[Hashable, Any](), False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._subject, name)

    def loss(self, batch: Any = None, *, training: bool = True) -> float:
        return float(self._once(("loss", training), batch, lambda: self._subject.loss(batch, training=training), moves=training))

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        loss, found = self._once(("gradients", training), batch, lambda: self._subject.gradients(batch, training=training), moves=training)
        return loss, dict(found)

    def outputs(self, batch: Any = None, *, seed: int = 0) -> Array:
        found: Array = self._once(("outputs", seed), batch, lambda: self._subject.outputs(batch, seed=seed))
        return found

    def output_gradient(self) -> tuple[float, Array, Array]:
        found: tuple[float, Array, Array] = self._once("output gradient", None, self._subject.output_gradient)
        return found

    def accumulated(self, *, training: bool = True, seed: int | None = 0) -> dict[str, Array | None]:
        ask = lambda: self._subject.accumulated(training=training, seed=seed)  # noqa: E731
        return dict(self._once(("accumulated", training, seed), None, ask, moves=True))

    def write(self, values: Arrays) -> None:
        self._moved = True
        self._subject.write(values)

    def step(self) -> None:
        self._moved = True
        self._subject.step()

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        before = self._moved
        with self._subject.kept():
            try:
                yield
            finally:
                self._moved = before

    def _once(self, key: Hashable, batch: Any, ask: Callable[[], Any], *, moves: bool = False) -> Any:
        if batch is not None or self._moved:
            self._moved |= moves
            return ask()
        if key not in self._known:
            found = ask()
            self._known[key] = _fixed(found)
            self._moved |= moves
        return self._known[key]


def _fixed(found: Any) -> Any:
    """Arrays that a check cannot change for the next one."""
    if isinstance(found, np.ndarray):
        found.flags.writeable = False
    elif isinstance(found, dict | tuple):
        for part in found.values() if isinstance(found, dict) else found:
            _fixed(part)
    return found
