"""A running loop's own gradients and updates, looked at every N steps; careful to cost one empty call when it is off, and to accuse only what stays.

    look = gradarbiter.watch(model, optimizer, every=500)
    loss.backward(); look.after_backward(); optimizer.step(); look.after_step()

What is normal for a while is waited for, `patience` readings: a zero gradient (behind a zero-initialised branch), a parameter that does not move (warm-up
from 0). A gradient that is missing is not: a parameter that a step may leave out, an expert, is to be named in `sparse`.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradarbiter import batch as nested
from gradarbiter.result import Finding
from gradarbiter.subject import matches

Tell = Callable[[list[Finding]], Any]


class DefectFound(RuntimeError):
    """What a watch raises where it is given nobody to tell: `findings`."""

    def __init__(self, findings: list[Finding], step: int) -> None:
        super().__init__("\n".join([f"training step {step}:", *(f"  {f.parameter}: {f.text}" for f in findings)]))
        self.findings = findings


class Off:
    """Every method is empty."""

    def after_backward(self, gradients: Any = None) -> None: ...

    def after_step(self) -> None: ...


OFF = Off()


def watch(
    model: Any,
    optimizer: Any = None,
    *,
    every: int = 0,
    patience: int = 3,
    sparse: Sequence[str] = (),
    scaled: bool = False,
    tell: Tell | None = None,
) -> Watch | Off:
    """Look at step 0 and each ``every`` steps; 0: off. One optimizer or several, in a list or dict.

    ``patience``: readings in a row before what may be normal is told. ``sparse``: patterns of parameters that a step may leave out. ``scaled``: a GradScaler
    skips steps whose gradients are not finite, so these are waited for, too. ``tell(findings)`` is called once for each; without it they are raised.

    PyTorch is read by itself. In another framework give ``after_backward`` the gradients, dicts and lists of arrays.
    """
    return Watch(model, optimizer, every, patience, sparse, scaled, tell) if every else OFF


class Watch:
    """``last``: the norms of the newest reading, by parameter; None where there was no gradient."""

    def __init__(
        self, model: Any, optimizer: Any, every: int, patience: int, sparse: Sequence[str], scaled: bool, tell: Tell | None
    ) -> None:
        self.last: dict[str, float | None] = {}
        self._every, self._patience, self._sparse, self._scaled, self._tell = every, patience, sparse, scaled, tell
        self._step, self._rows, self._told = 0, Counter[tuple[str, str]](), set[tuple[str, str]]()
        self._before: dict[str, int] = {}
        torch = sys.modules.get("torch")
        self._running: Any = None
        if torch is not None and isinstance(model, torch.nn.Module):
            from gradarbiter.frameworks import running

            self._running, self._parameters = running, running.trained(model)
            several = (
                optimizer.values() if isinstance(optimizer, dict) else optimizer if isinstance(optimizer, list | tuple) else [optimizer]
            )
            held = running.held(several) if optimizer is not None else {id(p) for p in self._parameters.values()}
            self._forgotten = [name for name, p in self._parameters.items() if id(p) not in held]

    def after_backward(self, gradients: Any = None) -> None:
        """Before the optimizer's step, and before gradients are clipped."""
        if self._step % self._every:
            return
        self.last = self._running.norms(self._parameters) if gradients is None else _norms(gradients)
        if self._running is not None:
            self._before = self._running.sums(self._parameters)
        self._say(self._gradients())

    def after_step(self) -> None:
        if self._before:
            after, before, self._before = self._running.sums(self._parameters), self._before, {}
            self._say(self._moves(before, after))
        self._step += 1

    def _gradients(self) -> Iterator[Finding | None]:
        for name, norm in self.last.items():
            known = norm is not None and math.isfinite(norm)
            wait = self._patience if matches(name, self._sparse) else 1
            yield self._seen("missing", name, norm is None, wait, "no gradient")
            yield self._seen(
                "non-finite", name, norm is not None and not known, self._patience if self._scaled else 1, f"a gradient of norm {norm}"
            )
            yield self._seen("zero", name, norm == 0, self._patience, "a gradient of zeros")

    def _moves(self, before: dict[str, int], after: dict[str, int]) -> Iterator[Finding | None]:
        for name in self._forgotten:
            yield self._seen("forgotten", name, True, 1, "no optimizer holds it")
        for name, was in before.items():
            pushed = bool(self.last.get(name)) and name not in self._forgotten
            text = f"the optimizer's step changed no bit of it (gradient norm {self.last.get(name)})"
            yield self._seen("unmoved", name, pushed and after[name] == was, self._patience, text)

    def _seen(self, kind: str, name: str, now: bool, wait: int, text: str) -> Finding | None:
        self._rows[kind, name] = self._rows[kind, name] + 1 if now else 0
        if self._rows[kind, name] < wait or not now or (kind, name) in self._told:
            return None
        self._told.add((kind, name))
        text += f", {wait} readings in a row" if wait > 1 else ""
        return Finding(kind=kind, parameter=name, text=text, numbers={"step": self._step})

    def _say(self, seen: Iterator[Finding | None]) -> None:
        findings = [finding for finding in seen if finding is not None]
        if findings and self._tell is None:
            raise DefectFound(findings, self._step)
        if findings and self._tell is not None:
            self._tell(findings)


def _norms(gradients: Any) -> dict[str, float | None]:
    return {".".join(map(str, at)): float(np.linalg.norm(np.asarray(leaf, dtype=np.float64))) for at, leaf in nested.leaves(gradients)}
