"""The run's record, one JSON line a step; careful that a resumed run continues it without a gap or a double, and that a NaN stays visible and valid JSON."""

from __future__ import annotations

import json
import math
import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self, TextIO

SPAN = 20  # steps that a divergence is judged over
RISE = 1.0  # nats: the mean of SPAN losses this far above the lowest such mean is a divergence, a factor e in perplexity


class StepLog:
    """Appends to ``path`` (None: nowhere). Opened at step n, it first drops what a killed run wrote of step n and later, which will be done again."""

    def __init__(self, path: Path | None, *, step: int) -> None:
        self.watch = Watch()
        self._file: TextIO | None = None
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = [line for line in _lines(path) if line.get("step", -1) < step]
        temporary = path.with_suffix(".writing")
        temporary.write_text("".join(_text(line) for line in kept))
        os.replace(temporary, path)
        self.watch = Watch(line["loss"] for line in kept if line["event"] == "step")
        self._file = path.open("a")

    def step(self, step: int, loss: float, **facts: Any) -> None:
        self.write("step", step=step, loss=loss, loss_hex=loss.hex(), **facts)
        if (event := self.watch.see(loss)) is not None:
            self.write("divergence", step=step, reason=event)

    def write(self, event: str, **facts: Any) -> None:
        if self._file:
            self._file.write(_text({"event": event, **facts}))
            self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()


class Watch:
    """Says once when the loss has risen, and again only after it came back."""

    def __init__(self, losses: Iterable[Any] = ()) -> None:
        self._last: deque[float] = deque(maxlen=SPAN)
        self._lowest = math.inf
        self._risen = False
        for loss in losses:
            self.see(loss)

    def see(self, loss: Any) -> str | None:
        if not isinstance(loss, int | float) or not math.isfinite(loss):  # a skipped step has its own entry
            return None
        self._last.append(loss)
        if len(self._last) < SPAN:
            return None
        mean = math.fsum(self._last) / SPAN
        self._lowest = min(self._lowest, mean)
        risen, before = mean > self._lowest + RISE, self._risen
        self._risen = risen
        return f"mean loss of {SPAN} steps is {mean:.3f}, its lowest was {self._lowest:.3f}" if risen and not before else None


def read(path: Path) -> list[dict[str, Any]]:
    """All whole lines, numbers that JSON has none of (nan, inf) as floats."""
    return [{key: float(v) if v in ("nan", "inf", "-inf") else v for key, v in line.items()} for line in _lines(path)]


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    found = []
    for text in path.read_text().splitlines():
        try:
            found.append(json.loads(text))
        except json.JSONDecodeError:  # the last line of a killed run
            continue
    return found


def _text(line: dict[str, Any]) -> str:
    plain = {key: str(v) if isinstance(v, float) and not math.isfinite(v) else v for key, v in line.items()}
    return json.dumps(plain, allow_nan=False) + "\n"
