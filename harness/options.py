"""Options that several commands have, spelled once."""

from __future__ import annotations

from typing import Annotated

import typer

Columns = Annotated[list[str] | None, typer.Option("--columns", help="Column ids, shell patterns or tags; may be given more than once.")]
Keyword = Annotated[str, typer.Option("-k", help="pytest's expression over cell names.")]
