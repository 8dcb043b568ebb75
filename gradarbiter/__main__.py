"""`gradarbiter`, the command; careful that bad input is three lines and exit status 2, and a framework's own error keeps its traceback.

Exit status: 0 all that was asked holds, 1 a check fails, 2 a check raised or bad input, 4 nothing could be asked.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import gradarbiter
from gradarbiter import checks, compare, runs, show
from gradarbiter.result import Report


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        status: int = options.main(options)
    except ValueError as bad:
        if not str(bad).startswith("found:"):
            raise
        print(bad, file=sys.stderr)
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gradarbiter", description=gradarbiter.__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser("check", help="ask the step checks of a model", description="Ask the step checks of a model.")
    check.add_argument(
        "factory", metavar="MODULE:FACTORY", help="a function that returns the arguments of gradarbiter.check, a dict or a tuple"
    )
    check.add_argument("--only", type=_names, default=(), metavar="A,B", help="these checks (see: gradarbiter list)")
    check.add_argument("--skip", type=_names, default=(), metavar="A,B", help="all but these")
    check.set_defaults(main=_check)

    comparison = commands.add_parser("compare", help="two files of gradients", description="Two safetensors files of gradients, by name.")
    comparison.add_argument("gradients", type=Path, help="what your training code wrote")
    comparison.add_argument("reference", type=Path, help="what is right")
    comparison.add_argument(
        "--rtol", type=float, help="allowed, relative to each tensor's norm; else derived as gradarbiter/compare.py says"
    )
    comparison.add_argument("--derive", choices=compare.UNITS, metavar="DTYPE", help="the dtype computed in, if narrower than the file's")
    comparison.add_argument("--terms", type=int, default=compare.TERMS, help="of the longest sum (default %(default)s)")
    comparison.add_argument(
        "--depth", type=int, default=compare.DEPTH, help="sums in series between loss and gradient (default %(default)s)"
    )
    comparison.set_defaults(main=_compare)

    for command in (check, comparison):
        command.add_argument("--json", metavar="FILE", help="write the report as JSON; -: to standard output, instead of the table")

    listing = commands.add_parser("list", help="what can be asked", description="The checks, a line each.")
    listing.set_defaults(main=_list)

    for name in runs.names():
        module = runs.load(name)
        if hasattr(module, "arguments") and hasattr(module, "main"):
            first = _first_line(module.__doc__)
            command = commands.add_parser(name.replace("_", "-"), help=first.replace("%", "%%"), description=first.replace("%", "%%"))
            module.arguments(command)
            command.set_defaults(main=module.main)
    return parser


def _check(options: argparse.Namespace) -> int:
    made = runs.from_factory(options.factory, default="model")
    given = made["model"] if set(made) == {"model"} and isinstance(made["model"], tuple) else None
    choice = {"only": options.only, "skip": options.skip}
    try:
        report = gradarbiter.check(*given, **choice) if given else gradarbiter.check(**{**made, **choice})
    except TypeError as wrong:
        if not re.search(r"unexpected keyword argument|missing \d+ required|positional arguments? but", str(wrong)):
            raise
        raise ValueError(
            f"found:   {options.factory} returned what gradarbiter.check cannot take: {wrong}\n"
            "wanted:  model, batch, loss_fn, optimizer and options, in a dict, or the first of them in a tuple\n"
            "do this: see help(gradarbiter.check)"
        ) from wrong
    return _answer(report, options)


def _compare(options: argparse.Namespace) -> int:
    report = compare.files(
        options.gradients, options.reference, rtol=options.rtol, dtype=options.derive, terms=options.terms, depth=options.depth
    )
    return _answer(report, options)


def _list(_: argparse.Namespace) -> int:
    width = max(map(len, (*checks.names(), *runs.names()))) + 2
    print("step checks: gradarbiter check MODULE:FACTORY")
    for name in checks.names():
        print(f"  {name:{width}}{_first_line(import_module(f'gradarbiter.checks.{name}').__doc__)}")
    print("run checks: gradarbiter NAME --help")
    for name in runs.names():
        print(f"  {name.replace('_', '-'):{width}}{_first_line(runs.load(name).__doc__)}")
    return 0


def _answer(report: Report, options: argparse.Namespace) -> int:
    if options.json == "-":
        print(report.as_json())
    else:
        show.show(report)
        if options.json:
            Path(options.json).write_text(report.as_json() + "\n", encoding="utf-8")
    return report.exit_status


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _first_line(text: str | None) -> str:
    """What it is, without what it is careful about."""
    return (text or "").strip().partition("\n")[0].partition(";")[0].rstrip(".")


if __name__ == "__main__":
    sys.exit(main())
