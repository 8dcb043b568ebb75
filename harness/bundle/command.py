"""`python -m harness bundle`: makes a bundle, or checks one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.errors import BadInput, Exit
from harness.options import CELL_HELP
from harness.project import Project


def register(app: typer.Typer, chosen: dict[str, Project]) -> None:
    """Add the command to the harness's own."""

    @app.command()
    def bundle(
        cells: Annotated[list[str] | None, typer.Argument(help=f"{CELL_HELP} ..., then COLUMN.")] = None,
        repro: Annotated[Path | None, typer.Option(help="The folder of a repro; none: what `repro` left among the latest results.")] = None,
        out: Annotated[Path | None, typer.Option(help="Where to write; none: results/latest/bundles.")] = None,
        require_human: Annotated[
            bool | None, typer.Option("--require-human/--no-require-human", help="No address before human.md has a person's words.")
        ] = None,
        checked: Annotated[Path | None, typer.Option("--check", help="A bundle: hold it against its project's form.")] = None,
    ) -> None:
        """Make the folder that a person files upstream from, and check it. Nothing is posted."""
        from harness.bundle import gather, write

        if checked is not None:
            raise typer.Exit(int(_check(checked)))
        if not cells or len(cells) < 2:
            raise BadInput(f"bundle {' '.join(cells or [])}", "CELL... COLUMN, or --check DIR", "python -m harness bundle --help")
        *addresses, column = cells
        if len(addresses) > 1 and (repro or out):
            raise BadInput(f"{len(addresses)} cells with --repro or --out", "one cell", "name one, or leave both out")
        worst = Exit.CLEAN
        for address in addresses:
            known = gather.gather(chosen["project"], address, column, repro)
            folder = out or write.default_folder(known)
            made = write.write(known, folder, require_human=require_human)
            print(
                f"{folder}: {made['project'] or 'generic'} {made['template']}"
                + (f"; no address: {made['no_url']}" if made["no_url"] else "")
            )
            if _check(folder) is not Exit.CLEAN:
                worst = Exit.NEW
        raise typer.Exit(int(worst))


def _check(folder: Path) -> Exit:
    from harness.bundle import check

    found = check.problems(folder)
    for problem in found:
        print(f"  {problem}")
    print(f"{folder}: {'fits its form' if not found else f'{len(found)} problems'}")
    return Exit.NEW if found else Exit.CLEAN
