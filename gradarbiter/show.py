"""A report for a person: a table where rich is installed, else plain lines."""

from __future__ import annotations

from gradarbiter.result import WORST, Report

COLOURS = {"ok": "green", "fail": "red", "not asked": "yellow", "error": "magenta"}


def show(report: Report) -> None:
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ModuleNotFoundError:
        print(report)
        return
    table = Table(title=escape(report.subject), title_justify="left", show_lines=True)
    for heading in ("check", "answer", "what was seen"):
        table.add_column(heading, no_wrap=heading != "what was seen")
    for result in sorted(report.results, key=lambda result: WORST.index(result.status)):
        seen = [escape(result.reason)] if result.reason else []
        for finding in result.findings:
            line = escape(f"{finding.parameter}: {finding.text}")
            seen.append(f"[bold]{line}[/bold]" if finding.accuses else f"[dim]{line}[/dim]")
        table.add_row(result.check, f"[{COLOURS[result.status]}]{result.status}[/]", "\n".join(seen))
    Console().print(table)
