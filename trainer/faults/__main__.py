"""The catalogue as a table: `python -m trainer.faults`; careful to show what the files say and nothing else."""

from rich.console import Console
from rich.table import Table

from trainer.faults import CATALOGUE

table = Table("fault", "layer", "class", "first shows in", "what it does")
for fault in CATALOGUE.values():
    needs: list[str] = [fault.situation] if fault.situation else []
    needs += [f"{key}={value}" for key, value in fault.options.items()]
    shows = fault.shows_in + (f" (with {', '.join(needs)})" if needs else "")
    table.add_row(fault.name, fault.layer, fault.stands_for, shows, fault.does)
Console().print(table)
