"""The command line: python -m harness list | run | show | repro | bisect | bundle | report | export | summary | verify | doctor | build | lock."""

from __future__ import annotations

import json
import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from harness import build as builder
from harness import cell as cells
from harness import doctor as doctors
from harness import pins, record
from harness.bisect import command as bisecting
from harness.bundle import command as bundling
from harness.errors import EXIT_TABLE, BadInput, Exit, Failed
from harness.export import command as exporting
from harness.matrix import all_cells
from harness.options import Columns, Keyword
from harness.project import ROOT, Project
from harness.repro import command as reproducing

EPILOG = "Exit status of run: " + "; ".join(f"{int(code)} {text}" for code, text in EXIT_TABLE.items())
app = typer.Typer(
    help="Asks real silent-failure cases of pinned frameworks, keeps the records, draws the matrix.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=EPILOG,
)
out = Console(soft_wrap=True)
CHOSEN: dict[str, Project] = {"project": Project()}

Local = Annotated[list[str] | None, typer.Option("--local", help="FRAMEWORK=PATH: a column built from your own checkout or wheel.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]


@app.callback()
def choose(project: Annotated[Path, typer.Option(help="A folder with cases/ and harness/pins.toml.")] = ROOT) -> None:
    CHOSEN["project"] = Project(project.resolve())


@app.command(name="list")
def list_(columns: Columns = None, keyword: Keyword = "", as_json: Json = False) -> None:
    """The cells, one a line; -k here takes words joined by `and`."""
    project = CHOSEN["project"]
    chosen = all_cells(project, pins.select(pins.read(project.pins), columns or []))
    chosen = [c for c in chosen if all(word in c.id for word in keyword.split(" and "))]
    if as_json:
        print(
            json.dumps(
                [
                    {"cell": c.address, "column": c.column.id, "file": c.file.path.name if c.file else None, "claim": c.spec.claim}
                    for c in chosen
                ]
            )
        )
        return
    for c in chosen:
        print(f"{c.address:52} {c.column.id:16} {c.file.path.name if c.file else 'no run file'}")
    print(f"{len(chosen)} cells", file=sys.stderr)


@app.command()
def run(
    columns: Columns = None,
    keyword: Keyword = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask again also what an unfinished run has measured.")] = False,
    local: Local = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML there.")] = None,
) -> None:
    """Ask the cells and keep their records; goes on where a stopped run was."""
    from harness.run import run as ask

    raise typer.Exit(int(ask(CHOSEN["project"], columns=columns or [], keyword=keyword, fresh=fresh, local=local or [], junit=junit)))


@app.command()
def sweep(
    columns: Columns = None,
    keyword: Keyword = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask again also what has not changed since it was asked.")] = False,
    budget: Annotated[
        str, typer.Option(help="Time after which nothing more is begun, such as 90s, 10m or 1h; none: as long as it takes.")
    ] = "",
    local: Local = None,
) -> None:
    """Ask every operation in many ways; only what has changed since the last time."""
    from harness.run import run as ask

    asked = ask(
        CHOSEN["project"],
        columns=columns or [],
        keyword=keyword,
        fresh=fresh,
        local=local or [],
        junit=None,
        sweep=True,
        budget_s=_seconds(budget),
    )
    raise typer.Exit(int(asked))


def _seconds(text: str) -> float:
    """A duration such as 90s, 10m or 1h.

    Raises:
        BadInput: it is none.
    """
    units = {"s": 1, "m": 60, "h": 3600}
    if not text:
        return 0.0
    if text[-1] not in units or not text[:-1].replace(".", "", 1).isdigit():
        raise BadInput(f"--budget {text}", "a number and s, m or h", "for example: --budget 10m")
    return float(text[:-1]) * units[text[-1]]


@app.command()
def show(cell: str, column: Annotated[str, typer.Argument()] = "", baseline: Annotated[bool, typer.Option("--baseline")] = False) -> None:
    """The records of a cell: `show rms_norm_backward candle-0.11.1`; any part of an address will do."""
    project = CHOSEN["project"]
    folders = [project.baseline] if baseline else [project.latest, project.swept]
    records = [r for folder in folders for r in record.read_folder(folder)[0]]
    found = [r for r in records if cell in record.address(r) and r["column"].startswith(column)]
    if not found:
        raise BadInput(
            f"no record matches {cell!r} {column}",
            "part of an address such as rms_norm_backward/composed@float32",
            "python -m harness list",
        )
    for r in found:
        print(f"\n{record.address(r)}: {r['status']}" + (f" ({r['cause']})" if r["cause"] else ""))
        print(f"  {r['message']}\n  file {r['file'] or '-'}  run {r['run']}  {r['at']}  {r['run_s'] * 1000:.1f} ms  load {r['load']}")
        for c in r["checks"]:
            print(f"  {'ok    ' if c['holds'] else 'FAILED'} {c['check']}: got {c['got']}, want {c['want']}; {c['note']}")
        if r["log"]:
            print("  log: " + r["log"].strip().replace("\n", "\n       "))


@app.command()
def report(publish: Annotated[bool, typer.Option("--publish", help="Make this the committed baseline and page.")] = False) -> None:
    """Draw the page from the latest records."""
    from harness.report import page

    path = page.write(CHOSEN["project"], publish=publish)
    print(f"the matrix: {path}")


@app.command()
def summary(
    as_json: Json = False,
    latest: Annotated[bool, typer.Option("--latest", help="Count the latest run instead of the committed records.")] = False,
) -> None:
    """Counts from the committed records whose version is current."""
    from harness import summary as summaries  # pandas and the sweep's sampler: a second that no other command needs

    project = CHOSEN["project"]
    counted = summaries.summary(project, folder=project.latest if latest else None)
    print(json.dumps(counted, indent=None if as_json else 1))


@app.command()
def verify(
    sample: Annotated[int, typer.Option(help="How many committed cells to ask again.")] = 20,
    seed: Annotated[int | None, typer.Option()] = None,
) -> None:
    """Ask random committed cells again; exit 1 where status or values differ."""
    import random

    from harness import verify as verifying

    chosen_seed = seed if seed is not None else random.SystemRandom().randrange(10**6)
    project = CHOSEN["project"]
    committed = verifying.sample(project, sample, chosen_seed)
    differences = list(verifying.verify(project, committed))
    for d in differences:
        print(f"DIFFERS {d.cell}: {d.what}: committed {d.committed}; now {d.now}")
    print(f"verify: {len(committed)} committed cells asked again, {len(differences)} differences (seed {chosen_seed})")
    raise typer.Exit(int(Exit.NEW if differences else (Exit.CLEAN if committed else Exit.USAGE)))


@app.command()
def doctor() -> None:
    """What this machine has, what is built, what to install."""
    table = Table("what", "", "detail")
    for what, state, detail in doctors.examine(CHOSEN["project"]):
        table.add_row(what, state, detail)
    out.print(table)


@app.command()
def build(
    column: str,
    venv: Annotated[Path | None, typer.Option(help="The virtual environment nox made for it.")] = None,
    torch_backend: Annotated[str, typer.Option(help="cpu: take torch from uv's CPU index instead of its lock.")] = "",
    local: Annotated[str, typer.Option(help="A checkout or wheel to build the framework from.")] = "",
    missing: Annotated[bool, typer.Option("--missing", help="Only write that its interpreter is missing.")] = False,
) -> None:
    """Make one column's environment and write its manifest (noxfile.py calls this)."""
    project = CHOSEN["project"]
    columns = pins.read(project.pins)
    one = pins.local_column(columns, f"{column}={local}") if local else pins.select(columns, [column])[0]
    if missing:
        made = builder.refuse(project, one)
    else:
        backend = torch_backend if one.folder == "torch" else ""
        made = builder.build(project, one, cells.load_specs(project), venv=venv, backend=backend)
    for (case, why), n in Counter((key.split("/")[0], why["message"]) for key, why in made.dropped.items()).items():
        print(f"  {case}: {n} functions do not compile: {why}")
    print(f"{one.id}: {made.cause}: {made.problem}" if made.cause else f"{one.id}: ready ({made.toolchain})")


@app.command()
def lock(columns: Columns = None) -> None:
    """Make the lock files anew from the pins: newest versions that fit, with hashes."""
    project = CHOSEN["project"]
    for column in pins.select(pins.read(project.pins), columns or []):
        print(f"locked {builder.lock(project, column).name}")


for commands in (reproducing, bisecting, bundling, exporting):
    commands.register(app, CHOSEN)


def main() -> None:
    try:
        app()
    except Failed as failed:
        print(failed, file=sys.stderr)
        sys.exit(int(failed.exit))
    except Exception:  # noqa: BLE001  Python would say 1, which is ours for a new failure of a framework
        traceback.print_exc()
        sys.exit(int(Exit.OURS))


if __name__ == "__main__":
    main()
