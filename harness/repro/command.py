"""`python -m harness repro` and `repros`: one bad cell as a folder, or every silent one of the newest versions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.errors import Exit
from harness.options import Columns, Keyword
from harness.project import Project

Warm = Annotated[bool, typer.Option("--warm", help="Run in the column's own environment, not in a fresh one.")]


def register(app: typer.Typer, chosen: dict[str, Project]) -> None:
    """Add both commands to the harness's own."""

    @app.command()
    def repro(
        cell: str,
        column: str,
        to: Annotated[Path | None, typer.Option("--out", help="The folder to write; else one below results/latest/repros.")] = None,
        warm: Warm = False,
    ) -> None:
        """Make a bad cell a folder that its framework's maintainer runs: `repro rms_norm_backward candle-0.11.1`; exit 1 where it does not reproduce."""
        from harness.repro import one

        project = chosen["project"]
        made = one.make(project, *one.find(project, cell, column), out=to, warm=warm)
        where = to or one.home(project) / made.slug
        print(f"{made.cell} {made.column}: {made.status} in {made.lines} lines and {made.seconds:.1f} s: {where}")
        print(made.output.rstrip())
        if not made.valid:
            print(f"not kept as a repro: {made.reason}", file=sys.stderr)
        raise typer.Exit(int(Exit.CLEAN if made.valid else Exit.NEW))

    @app.command()
    def repros(
        columns: Columns = None,
        keyword: Keyword = "",
        warm: Warm = False,
        cold_sample: Annotated[int, typer.Option(help="With --warm: so many of each column in an environment of their own.")] = 0,
        fresh: Annotated[bool, typer.Option("--fresh", help="Also what an earlier run has made of the same answers.")] = False,
    ) -> None:
        """A repro and a bundle of every silent cell of the newest versions; goes on where a stopped run was."""
        from harness.repro import batch

        project = chosen["project"]
        try:
            lines = batch.run(project, columns=columns or ["newest"], keyword=keyword, warm=warm, cold_sample=cold_sample, fresh=fresh)
        except KeyboardInterrupt:
            print("interrupted; the same command goes on where it stopped", file=sys.stderr)
            raise typer.Exit(int(Exit.INTERRUPTED)) from None
        ran, valid = sum(each["executed"] for each in lines), sum(each["valid"] for each in lines)
        print(f"{len(lines)} silent, {ran} executed, {valid} reproduced, with a bundle that fits its form: {batch.file(project)}")
        raise typer.Exit(int(Exit.CLEAN if valid == len(lines) else Exit.NEW))
