"""The page: one HTML file whose table reads without JavaScript; careful that what a framework printed is escaped and that nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from harness import pins, verdict
from harness.bisect import answer as answers
from harness.case import FAILURES, Spec
from harness.errors import BadInput
from harness.project import Project
from harness.report import blindspot, ledger, nights, plots, repros, table, text, throughput, top
from harness.report.evidence import Evidence, baseline_of
from harness.report.packed import tidy
from harness.report.payload import payload, reasons
from harness.report.ran import Ran
from harness.report.table import ColumnHead, Record
from harness.report.throughput import Block
from harness.verdict import STATUSES

TEMPLATES = Path(__file__).parent / "templates"
OPEN_ROWS = 8  # a group with more rows starts folded
SCRIPTS = (
    "base.js",
    "query.js",
    "matrix.js",
    "drawer.js",
    "evidence.js",
    "repro.js",
    "pick.js",
    "ledger.js",
    "keys.js",
    "export.js",
    "start.js",
)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A column where the matrix has it: newest first in its framework; ``older``: hidden until its framework is opened."""

    head: ColumnHead
    at: int  # its place in the index
    framework: int
    older: bool
    opens: int  # how many older ones the framework has, at its first column


def render(
    records: Sequence[Record],
    baseline: Sequence[Record],
    specs: Sequence[Spec],
    *,
    root: Path,
    title_facts: Mapping[str, Any],
    change: Callable[[Any, Any], str] = verdict.change,
    runs: Sequence[tuple[str, Sequence[Record]]] = (),
) -> str:
    """The page of a run.

    ``title_facts``: run, started, ended, made, platform, cpu, load, mutants {killed, total, explained}, twins_accused, harness_errors, stale,
    broken_lines, overhead, generator and command; one that is missing reads "not measured". ``change`` tells a record's change since its
    baseline record; ``runs`` are earlier ones (harness/report/nights.py).

    Raises:
        BadInput: there is no record, or one that this version cannot read.
    """
    if not records:
        raise BadInput("no records", "at least one cell that was asked", "run: python3 noxfile.py")
    records, facts = [tidy(r) for r in records], _Facts(tidy(dict(title_facts)))
    cells = table.latest(table.frame(records))
    kept = [records[i] for i in cells.index]
    heads = table.columns(cells, _frameworks(root))
    by_id = {h.id: h for h in heads}
    evidence = Evidence(specs={s.row: s for s in specs}, change=baseline_of(baseline, change), columns=by_id)
    cases = evidence.cases(kept)
    found = [s for c in cases for r in c.rows for s in r.squares.values()]
    changes = [c for s in found for c in top.changed(s)]
    counts, blocks, blind = table.summary(cells), throughput.blocks(kept, by_id), blindspot.view(root)
    asked_keys = {table.key(r) for r in kept}
    listed, history = ledger.findings(kept, specs), nights.view(runs, kept, by_id, baseline)
    shares, made = throughput.shares(blocks), repros.read(Project(root))
    newest = [s for s in found if s.status == "silent" and s.column.newest]
    shown = _shown(heads)
    more = {
        "made": facts["made"] or facts["ended"] or max(str(r["at"]) for r in kept),
        "run": facts["run"],
        "baseline": bool(baseline),
        "aside": [top.CONTROL, top.OURS],
        "shares": [[row, column, round(share, 3)] for (row, column), share in shares.items()],
        "nights": nights.plain(history),
        "curves": _curves(blind),
        "shown": [s.at for s in shown],
    }
    packed = payload(cases, heads, Ran(root=root), listed, more, made, answers.listed(Project(root)))
    environment = _environment()
    style = environment.get_template("style.css.j2").render(statuses=STATUSES, frameworks=len({h.framework for h in heads}))
    script = "(() => {\n" + "".join((TEMPLATES / "js" / name).read_text() for name in SCRIPTS) + "})();"
    return environment.get_template("page.html.j2").render(
        facts=facts,
        problems=top.problems(facts, kept),
        statuses=STATUSES,
        squares=Counter(s.status for s in found),
        cells=counts,
        asked=table.executed(counts),
        causes=reasons(kept),
        columns=shown,
        choices=top.choices(heads, cases),
        frameworks={h.framework for h in heads},
        failures=FAILURES,
        cases=cases,
        tallies={c.id: top.tallies(c, heads) for c in cases if c.grouped},
        open_rows=OPEN_ROWS,
        has_baseline=bool(baseline),
        changes=changes,
        change_counts=Counter(c for s in found for c in s.changes),
        vanished=len({table.key(r) for r in baseline} - asked_keys),
        silent_newest=len(newest),
        reproduced=sum(any("files" in (made.of(r) or ()) for r in s.records) for s in newest),
        unseen=sorted({s.row for s in specs} - {r.id for c in cases for r in c.rows}),
        ages=(min(str(r["at"]) for r in kept), max(str(r["at"]) for r in kept), len({str(r["run"]) for r in kept})),
        blocks=blocks,
        shares=shares,
        plots=plots,
        spark=_sparks(history, blocks),
        nights=history.runs,
        blind=blind,
        ledger=_by_framework(listed),
        ledger_size=len(listed),
        ledger_standing=sum(not f.fixed for f in listed),
        blobs=packed.blobs,
        control=top.CONTROL,
        ours=top.OURS,
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )


class _Facts(dict[str, Any]):
    """A template asks for a fact by name; one that nobody measured is None."""

    def __missing__(self, name: str) -> None:
        return None


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        name: getattr(text, name)
        for name in ("value", "seconds", "size", "rate", "ratio", "share", "fact", "links", "breakable", "overhead")
    }
    environment.filters["count_"] = text.count
    environment.filters["anchor"] = anchor
    return environment


def anchor(name: str) -> str:
    """An element id from the name of a row or of a square: readable, and without the white space that an id cannot hold."""
    return "_".join(name.split())


def _hash(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _frameworks(root: Path) -> list[str]:
    """The order of the pins file is the order of the page."""
    try:
        return list(dict.fromkeys(c.framework for c in pins.read(root / "harness" / "pins.toml")))
    except BadInput:
        return []  # another project's records, without its pins


def _shown(heads: Sequence[ColumnHead]) -> list[Shown]:
    found = []
    names = list(dict.fromkeys(h.framework for h in heads))
    for at, framework in enumerate(sorted(names, key=(top.CONTROL, top.OURS).__contains__)):  # those that nobody chooses come last
        mine = [(i, h) for i, h in enumerate(heads) if h.framework == framework]
        first = [(i, h) for i, h in mine if h.newest or h.id.endswith("-local")] or mine[-1:]
        older = [pair for pair in reversed(mine) if pair not in first]
        for place, (i, head) in enumerate([*first, *older]):
            found.append(Shown(head=head, at=i, framework=at, older=(i, head) in older, opens=0 if place else len(older)))
    return found


def _curves(blind: blindspot.Blindspot | None) -> dict[str, Any]:
    """Case -> the loss curve of its fault, planted in the trainer or met in a framework."""
    if blind is None:
        return {}
    curves: dict[str, Any] = {
        r.fault["fault"]: {
            "of": "the reference trainer",
            "told": r.fault["told"],
            "band": r.band.area,
            "mean": r.band.mean,
            "curve": r.curve,
        }
        for r in blind.rows
    }
    if blind.candle:
        fused, composed = blind.candle_curves
        curves["rms_norm_backward"] = {
            "of": f"{blind.candle['version']}, docs/rust/candle --fused",
            "framework": "candle",
            "told": False,
            "curve": fused,
            "mean": composed,
        }
    return curves


def _sparks(history: nights.Nights, blocks: Sequence[Block]) -> dict[nights.Name, str]:
    names = {(b.row, line.column.id, line.variant, b.dtype) for b in blocks for line in b.lines}
    lines = {name: plots.spark(ratios) for name, ratios in history.ratios.items() if name in names and not all(map(math.isnan, ratios))}
    return {name: line for name, line in lines.items() if line}


def _by_framework(found: Sequence[ledger.Finding]) -> list[tuple[str, int, int, list[tuple[str, int]]]]:
    """Framework, findings, those that stand in its newest version, and what is wrong in how many."""
    names = Counter(f.framework for f in found)
    listed = []
    for framework, count in names.most_common():
        mine = [f for f in found if f.framework == framework]
        kinds = Counter(f.kind for f in mine if not f.fixed)
        listed.append((framework, count, sum(not f.fixed for f in mine), kinds.most_common(4)))
    return listed
