"""The catalogue as a list: `python -m trainer.faults`; careful to show what the files say and nothing else."""

from trainer.faults import CATALOGUE

for fault in CATALOGUE.values():
    needs: list[str] = [fault.situation] if fault.situation else []
    needs += [f"{key}={value}" for key, value in fault.options.items()]
    shows = fault.shows_in + (f" (with {', '.join(needs)})" if needs else "")
    print(f"{fault.name} [{fault.layer}: {fault.stands_for}] first shows in {shows}\n    {fault.does}")
