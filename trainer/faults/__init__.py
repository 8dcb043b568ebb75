"""The project's one catalogue of plantable faults, a file a layer; careful that each is silent (it raises nothing) and leaves no trace on exit.

    from trainer import device, faults
    from trainer.faults.twin import differences, twin_of

    fault = faults.CATALOGUE["rope_axis"]               # name, layer, does, stands_for, shows_in, situation, options
    twin = twin_of(fault, folder)                       # its configuration and situation, on data that `trainer.data.sample` made
    with faults.plant(fault.name), device.entered(twin.config) as place:
        run = twin.begin(place)                         # model, objective, optimizers and tokens, before its first step
        twin.steps(run, 3)                              # `trainer.step.one_step`, and what the situation asks for
    healthy = twin.show(fault.shows_in)                 # the same without the fault
    with faults.plant(fault.name):
        found = differences(twin.show(fault.shows_in), healthy)  # which parameters (or other entries) it moved, and by how much

Plant before the run begins and keep it planted as long as the run goes on: some faults are in the making of a model, its optimizers or its tokenizer, some in
every step. A checkpoint may be healthy: `twin.resumed` under a fault of layer resume goes on from it wrongly. Any run will do in place of the twin's, where
it has the fault's ``options`` and its situation.

A fault that a guard of the trainer would stop (a partition that is asserted, a checkpoint that is verified) takes the guard away too: it shows what
happens where nobody looked.
"""

from trainer.faults import data, loss, model, model_position, optimizer, precision, resume
from trainer.faults.catalogue import CATALOGUE, Fault, patched, plant

__all__ = ["CATALOGUE", "Fault", "data", "loss", "model", "model_position", "optimizer", "patched", "plant", "precision", "resume"]
