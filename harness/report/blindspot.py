"""The section on loss curves, from results/blindspot.json; careful to draw all curves of one setting on one scale, so that what looks alike is alike."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import BadInput

WIDTH, HEIGHT = 150.0, 48.0
Curve = Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class Band:
    """Healthy runs of one setting: what lies within the rule's standard deviations, and their mean, as SVG path data."""

    id: str
    area: str
    mean: str


@dataclass(frozen=True, kw_only=True)
class Row:
    fault: dict[str, Any]
    band: Band
    curve: str


@dataclass(frozen=True, kw_only=True)
class Blindspot:
    rule: dict[str, Any]
    totals: dict[str, int]
    bands: tuple[Band, ...]
    rows: tuple[Row, ...]
    candle: dict[str, Any] | None
    candle_curves: tuple[str, str]


def file(root: Path) -> Path:
    return root / "results" / "blindspot.json"


def totals(root: Path) -> dict[str, int] | None:
    """What `summary --json` says of it: faults, curve_told, caught, healthy_accused, ...; None where the session was never run.

    Raises:
        BadInput: the file cannot be read.
    """
    found = _read(root)
    return dict(found["totals"]) if found else None


def view(root: Path) -> Blindspot | None:
    """What the page draws; None where the session was never run.

    Raises:
        BadInput: the file cannot be read.
    """
    found = _read(root)
    if found is None:
        return None
    sigmas, top = found["rule"]["sigmas"], _top(found)
    bands = tuple(_band(f"band{at}", band, sigmas, top) for at, band in enumerate(found["bands"]))
    rows = tuple(Row(fault=f, band=bands[f["band"]], curve=_path(f["curve"], top)) for f in found["faults"])
    candle = found["candle"]
    curves = (candle["fused"]["losses"], candle["composed"]["losses"]) if candle else ([], [])
    scale = max((x for curve in curves for x in curve), default=1.0)
    return Blindspot(
        rule=found["rule"],
        totals=found["totals"],
        bands=bands,
        rows=rows,
        candle=candle,
        candle_curves=(_path(curves[0], scale), _path(curves[1], scale)),
    )


def _read(root: Path) -> dict[str, Any] | None:
    path = file(root)
    if not path.exists():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise BadInput(f"{path} is no JSON: {error}", "what the session writes", "python3 noxfile.py -s blindspot") from error
    if missing := {"rule", "totals", "bands", "faults", "candle"} - found.keys():
        raise BadInput(f"{path} without {sorted(missing)}", "what the session writes", "python3 noxfile.py -s blindspot")
    return found


def _top(found: dict[str, Any]) -> float:
    """The highest healthy loss and a bit: a faulty curve above it leaves the picture, which says enough."""
    return 1.15 * max(float(x) for band in found["bands"] for x in band["mean"])


def _band(name: str, band: dict[str, Any], sigmas: float, top: float) -> Band:
    pairs = list(zip(band["mean"], band["sd"], strict=True))
    above, below = ([m + sign * sigmas * sd for m, sd in pairs] for sign in (1, -1))
    edge = _points(above, top) + _points(below, top)[::-1]
    return Band(id=name, area=f"M{' '.join(edge)}Z", mean=_path(band["mean"], top))


def _path(curve: Curve, top: float) -> str:
    """A line, cut where a loss is not finite."""
    parts, pen_down = [], False
    for x, y in zip(_across(len(curve)), curve, strict=True):
        parts += [f"{'L' if pen_down else 'M'}{x:.1f},{_down(y, top):.1f}"] if y is not None else []
        pen_down = y is not None
    return "".join(parts)


def _points(curve: Sequence[float], top: float) -> list[str]:
    return [f"{x:.1f},{_down(y, top):.1f}" for x, y in zip(_across(len(curve)), curve, strict=True)]


def _across(count: int) -> list[float]:
    return [WIDTH * at / max(count - 1, 1) for at in range(count)]


def _down(y: float, top: float) -> float:
    return HEIGHT * (1 - min(max(y / top, -0.1), 1.1)) if math.isfinite(y) else HEIGHT
