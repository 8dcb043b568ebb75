"""The project's one catalogue of plantable faults, a file a layer; careful that each is silent (it raises nothing) and leaves no trace on exit.

from trainer import faults
with faults.plant("rope_axis"):
    run = train(nano())

A fault that a guard of the trainer would stop (a partition that is asserted, a checkpoint that is verified) takes the guard away too: it shows what
happens where nobody looked.
"""

from trainer.faults import data, loss, model, optimizer, precision, resume
from trainer.faults.catalogue import CATALOGUE, Fault, patched, plant

__all__ = ["CATALOGUE", "Fault", "data", "loss", "model", "optimizer", "patched", "plant", "precision", "resume"]
