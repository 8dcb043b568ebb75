"""Options that several commands have, spelled once."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

Columns = Annotated[list[str] | None, typer.Option("--columns", help="Column ids, shell patterns or tags; may be given more than once.")]
Keyword = Annotated[str, typer.Option("-k", help="pytest's expression over cell names.")]
CELL = "CASE[:ITEM][/VARIANT][@DTYPE][+compiled]"
CELL_HELP = escape(CELL)  # help is markup, where [/VARIANT] would close a tag
