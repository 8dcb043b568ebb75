"""The example of a record that was too long to be written down, found again as the sweep found it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.ask import Asker
from harness.cell import Cell
from harness.errors import BadInput
from harness.project import Project
from harness.sweep import kept
from harness.sweep.ask import _Asking, _CannotAsk
from harness.sweep.explore import explore
from harness.sweep.op import Example


@np.errstate(all="ignore")
def again(project: Project, cell: Cell, check: Mapping[str, Any]) -> Example:
    """Ask the operation's examples of its column again: drawing is the same in every run, and so is what is smallest.

    Raises:
        BadInput: that failure is not found, or in another example.
    """
    assert cell.spec.op
    with Asker(project, run="repro") as asker:
        asking = _Asking(asker, cell, asker.environment(cell))
        try:
            with kept.of(cell.spec, project.environments / "sweep"):
                explored = explore(
                    cell.spec.op,
                    asking,
                    framework=cell.column.framework,
                    dtypes=cell.column.dtypes,
                    count=cell.column.examples[cell.mode == "compiled"],
                )
        except _CannotAsk as cannot:
            raise BadInput(f"it cannot be asked again: {cannot.verdict.message}", "the column, built", "python -m harness doctor") from None
    for found in explored.found:  # a later judge may have another word for the same failure
        if f"; {found.example.told()};" in f"; {check['note']}":
            return found.example
    kinds = ", ".join(found.fault.kind for found in explored.found) or "nothing"
    raise BadInput(f"asked again, {kinds} is wrong, in other examples", check["note"][:120], "ask it again: python -m harness sweep")
