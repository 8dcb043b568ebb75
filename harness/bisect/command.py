"""`python -m harness bisect`: its options, its table, its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from harness import verdict
from harness.bisect import answer as answers
from harness.errors import Exit
from harness.options import CELL_HELP
from harness.project import Project

if TYPE_CHECKING:
    from harness.bisect.answer import Answer

out = Console(soft_wrap=True)


def register(app: typer.Typer, chosen: dict[str, Project]) -> None:
    """Add the command to the harness's own."""

    @app.command()
    def bisect(
        cell: Annotated[str, typer.Argument(help=CELL_HELP)],
        framework: Annotated[str, typer.Argument(help="A framework of harness/pins.toml.")],
        first: Annotated[str, typer.Option("--from", help="The oldest release; none: the oldest pinned one.")] = "",
        last: Annotated[str, typer.Option("--to", help="The newest release; none: the newest stable one.")] = "",
        backend: Annotated[str, typer.Option(help="Such as wgpu, where a pin has it.")] = "",
        pre: Annotated[bool, typer.Option("--pre", help="Ask pre-releases too.")] = False,
        scan: Annotated[bool, typer.Option("--scan", help="Ask every version.")] = False,
        fresh: Annotated[bool, typer.Option("--fresh", help="Ask again what the matrix or an earlier search knows, and compare.")] = False,
        discard: Annotated[bool, typer.Option("--discard", help="Remove each Python environment after its answer.")] = False,
        bad: Annotated[list[str] | None, typer.Option("--bad", help="Statuses that count as bad; none: those of a defect.")] = None,
        local: Annotated[Path | None, typer.Option(help="A clone: go on between the two releases, commit by commit.")] = None,
        old: Annotated[str, typer.Option(help="With --local: the commit of the older release.")] = "",
        new: Annotated[str, typer.Option(help="With --local: the commit of the newer release.")] = "",
        as_json: Annotated[bool, typer.Option("--json", help="Print the kept answer.")] = False,
    ) -> None:
        """Find the release that changed an answer; goes on where a stopped search was."""
        from harness.bisect import question as questions
        from harness.bisect import run as running

        project = chosen["project"]
        options = running.Options(
            first=first,
            last=last,
            backend=backend,
            pre=pre,
            scan=scan,
            fresh=fresh,
            discard=discard,
            bad=tuple(bad or verdict.BAD),
            local=local,
            old=old,
            new=new,
        )
        say = (lambda _: None) if as_json else (lambda text: out.print(text, markup=False, highlight=False))
        search = running.open_(project, questions.read(project, cell), framework, options, say)
        try:
            answer = search.run()
        except KeyboardInterrupt:
            typer.echo("interrupted: the same command goes on where it stopped", err=True)
            raise typer.Exit(int(Exit.INTERRUPTED)) from None
        if as_json:
            print(json.dumps(answer))
        else:
            show(answer, out)
            out.print(f"kept in {search.file}", highlight=False)
        raise typer.Exit(int(status(answer)))


def status(answer: Answer) -> Exit:
    """1 where two answers to one question disagree, 4 where fewer than two versions could be asked, else 0."""
    if answer["disagreements"]:
        return Exit.NEW
    return Exit.CLEAN if sum(e["bad"] is not None for e in answer["versions"]) > 1 else Exit.NOT_ASKED


def show(answer: Answer, console: Console) -> None:
    """The verdicts as a table, then what follows from them."""
    table = Table("version", "", "status", "what it said", "from", "build s", title=f"{answer['cell']} on {answer['package']}")
    flipped = {f["after"]: f["to"] for f in answer["flips"]}
    for e in answer["versions"]:
        mark = {"bad": "<- first bad", "good": "<- first good"}.get(flipped.get(e["version"], ""), "")
        colour = "yellow" if e["bad"] is None else "red" if e["bad"] else "green"
        said = e["number"] or e["message"]
        table.add_row(
            e["version"],
            mark,
            f"[{colour}]{e['status']}[/]",
            said[:90].replace("[", r"\["),
            e["source"],
            f"{e['build_s']:g}" if e["build_s"] else "",
        )
    console.print(table)
    for line in answers.lines(answer):
        console.print(line, markup=False, highlight=False)
