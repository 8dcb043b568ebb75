"""What a search asks of every version: a row of the matrix, read from its address; careful that a name which matches nothing is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness import cell, contract, pins
from harness.case import Spec
from harness.cell import Cell
from harness.errors import BadInput
from harness.options import CELL
from harness.pins import Column
from harness.project import Project

ADDRESS = re.compile(r"(?P<case>\w+)(?::(?P<item>\w+))?(?:/(?P<variant>\w+))?(?:@(?P<dtype>\w+?))?(?P<compiled>\+compiled)?(?:\+eager)?")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A row, one variant of its run files, one dtype or all, one mode."""

    row: str
    variant: str
    dtype: str  # "" for all
    mode: str
    specs: tuple[Spec, ...]  # of its case

    @property
    def spec(self) -> Spec:
        return next(s for s in self.specs if s.row == self.row)

    @property
    def address(self) -> str:
        variant, dtype = (f"/{self.variant}" if self.variant else ""), (f"@{self.dtype}" if self.dtype else "")
        return f"{self.row}{variant}{dtype}{'+compiled' if self.mode == 'compiled' else ''}"

    def cells(self, project: Project, column: Column) -> list[Cell]:
        """Its cells on a column; none where the column's framework has no such function, dtype or mode."""
        known = {c.framework for c in pins.read(project.pins)}
        return [c for c in cell.expand(list(self.specs), [column], known) if self._takes(c)]

    def _takes(self, one: Cell) -> bool:
        return (one.spec.row, one.variant, one.mode) == (self.row, self.variant, self.mode) and self.dtype in ("", one.dtype)


def read(project: Project, text: str) -> Question:
    """The question of an address ``CASE[:ITEM][/VARIANT][@DTYPE][+compiled]``.

    Raises:
        BadInput: no such case, item or dtype.
    """
    parts = ADDRESS.fullmatch(text)
    if not parts:
        raise BadInput(f"cell {text!r}", CELL, "python -m harness list")
    folder = project.cases / parts["case"]
    if not (folder / "case.py").is_file():
        near = sorted(p.parent.name for p in project.cases.glob("*/case.py"))
        raise BadInput(f"no case {parts['case']!r}", f"one of {', '.join(near)}", "python -m harness list")
    specs = tuple(contract.load(folder))
    row = f"{parts['case']}:{parts['item']}" if parts["item"] else parts["case"]
    spec = next((s for s in specs if s.row == row), None)
    if spec is None:
        raise BadInput(f"no row {row!r}", f"one of {', '.join(s.row for s in specs)}", "name one item of the case")
    if parts["dtype"] and parts["dtype"] not in spec.tol:
        raise BadInput(f"{row}@{parts['dtype']}", f"one of {', '.join(spec.tol)}", "correct the dtype")
    mode = "compiled" if parts["compiled"] else "eager"
    return Question(row=row, variant=parts["variant"] or "", dtype=parts["dtype"] or "", mode=mode, specs=specs)
