"""A subject that is asked the same by several checks answers once; careful to remember only what was said of the subject as it was given.

A check may write parameters, take steps or give it another batch. From then on until its `kept` ends, and after anything in training mode (running statistics
move), every question is asked anew and no answer is kept. There is one float64 copy for all checks, which is remembered, and put back, in the same way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from gradarbiter.core import Array
from gradarbiter.subject import Arrays, Subject


class Remembered:
    """`Subject`'s questions about its own batch, or about the first rows of it (`slopes.few_rows`); all others go through."""

    def __init__(self, subject: Subject) -> None:
        self._subject, self._known, self._moved = subject, dict[Hashable, Any](), False
        self._parts: dict[int, Any] = {}  # batches of so many first rows
        self._keeping = contextlib.ExitStack()  # the copy, until the check that asked for it ends

    def __getattr__(self, name: str) -> Any:
        return getattr(self._subject, name)

    @property
    def batch(self) -> Any:
        return self._subject.batch

    @batch.setter
    def batch(self, batch: Any) -> None:
        self._moved = True
        self._subject.batch = batch

    def with_rows(self, index: Sequence[int]) -> Any:
        if self._moved or list(index) != list(range(len(index))):
            return self._subject.with_rows(index)
        if len(index) not in self._parts:
            self._parts[len(index)] = self._subject.with_rows(index)
        return self._parts[len(index)]

    def loss(self, batch: Any = None, *, training: bool = True) -> float:
        return float(self._once(("loss", training), batch, lambda: self._subject.loss(batch, training=training), moves=training))

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        loss, found = self._once(("gradients", training), batch, lambda: self._subject.gradients(batch, training=training), moves=training)
        return loss, dict(found)

    def outputs(self, batch: Any = None, *, seed: int = 0) -> Array:
        """The whole batch, given as an argument, asks anew: what is remembered cannot show that the next answer is another."""
        if batch is self.batch:
            return self._subject.outputs(batch, seed=seed)
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

    def wide(self) -> Subject | None:
        """The copy of all checks; of a subject that was changed, one of its own."""
        if self._moved:
            return self._subject.wide()
        if "wide" not in self._known:
            made = self._subject.wide()
            self._known["wide"] = None if made is None else Remembered(made)
        if (wide := self._known["wide"]) is not None:
            self._keeping.enter_context(wide.kept())
        return cast("Subject | None", wide)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        moved, batch, keeping = self._moved, self.batch, self._keeping
        with self._subject.kept(), contextlib.ExitStack() as copies:
            self._keeping = copies
            try:
                yield
            finally:
                if self.batch is not batch:
                    self.batch = batch
                self._moved, self._keeping = moved, keeping

    def _once(self, key: Hashable, batch: Any, ask: Callable[[], Any], *, moves: bool = False) -> Any:
        whole = batch is None or batch is self.batch
        part = 0 if whole else next((rows for rows, of in self._parts.items() if of is batch), None)
        if part is None or self._moved:
            self._moved |= moves
            return ask()
        if (key, part) not in self._known:
            found = ask()
            self._known[key, part] = _fixed(found)
            self._moved |= moves
        return self._known[key, part]


def _fixed(found: Any) -> Any:
    """Arrays that a check cannot change for the next one."""
    if isinstance(found, np.ndarray):
        found.flags.writeable = False
    elif isinstance(found, dict | tuple):
        for part in found.values() if isinstance(found, dict) else found:
            _fixed(part)
    return found
