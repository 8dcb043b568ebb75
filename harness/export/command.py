"""`python -m harness export`: one format, or all of them into a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.errors import BadInput
from harness.options import Columns, Keyword
from harness.project import Project


def register(app: typer.Typer, chosen: dict[str, Project]) -> None:
    """Add the command to the harness's own."""

    @app.command()
    def export(
        name: Annotated[
            str, typer.Argument(metavar="FORMAT", help="csv, json, junit, sarif, openmetrics, annotations, summary, markdown, badge, atom.")
        ] = "",
        path: Annotated[Path | None, typer.Option("--out", help="Write there instead of to standard output.")] = None,
        every: Annotated[Path | None, typer.Option("--all", metavar="DIR", help="Write every format into this folder.")] = None,
        columns: Columns = None,
        keyword: Keyword = "",
        since: Annotated[
            str, typer.Option(help="`baseline`: only what is not as it says; a run's id: only what later runs measured.")
        ] = "",
        baseline: Annotated[bool, typer.Option("--baseline", help="The committed records instead of the latest run.")] = False,
    ) -> None:
        """The records for other programs: one format, or all of them into a folder (docs/exports.md)."""
        from harness.export import gather, write

        if every and (name or path):
            raise BadInput("--all beside a format or --out", "one of them", "python -m harness export --all DIR")
        form = None if every else write.one(name)
        selection = gather.select(chosen["project"], columns=columns or [], keyword=keyword, since=since, committed=baseline)
        for line in selection.broken:
            print(f"warning: {line}", file=sys.stderr)
        if selection.stale:
            print(f"warning: {selection.stale} records left out: their question has changed since", file=sys.stderr)
        if form:
            write.put(form.write(selection), path)
        for file, size in write.everything(selection, every) if every else ():
            print(f"{size:>10} bytes  {file}")
