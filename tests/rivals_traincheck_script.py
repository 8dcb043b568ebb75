"""The training script that traincheck instruments and runs: a plain loop over the trainer's own step; careful that `model` is the variable it tracks.

Not imported: `tests/rivals_traincheck.py` hands a copy of it to traincheck-collect, with the case in the environment.
"""

import dataclasses
import importlib
import json
import os
import sys
from pathlib import Path

# traincheck 0.2.0 reads every attribute of every module of torch; on a machine without a GPU this one raises (torch 2.15.0's CUDA build).
del importlib.import_module("torch.backends.cuda").cufft_plan_cache

import torch  # noqa: E402

sys.path.insert(0, os.environ["RIVALS_ROOT"])
from tests import rivals_runs as runs  # noqa: E402
from trainer import checkpoint, device, optim, step  # noqa: E402
from trainer.model import LM  # noqa: E402

case = runs.Case(**json.loads(os.environ["RIVALS_CASE"]))
saved = os.environ.get("RIVALS_SAVED")
with runs.planted(case, os.environ["RIVALS_DATA"]) as (twin, place):
    config = dataclasses.replace(twin.config, vocab_size=twin.tokens.vocab_size)
    device.seed_all(config.seed)
    model = LM(config)
    optimizers = optim.optimizers(model, config)
    objective = step.Objective(model)
    device.seed_all(config.seed + 1)
    run = step.Run(config=config, place=place, tokens=twin.tokens, model=model, objective=objective, optimizers=optimizers)
    if case.situation == "zero embedding":
        with torch.no_grad():
            model.embedding.weight[:8] = 0
    if saved:
        at = checkpoint.resume(Path(saved), model, optimizers, config, run.data, say=lambda _: None)
        run.step, run.tokens_seen = at.step, at.tokens_seen
    if case.late:
        run.step = runs.an_epoch(twin) - 2
    train_steps = range(5)
    for _ in train_steps:
        with runs.spoiled(twin, run):
            step.one_step(run)
    print("losses", json.dumps(run.losses))
    print("held out", step.held_out(run))
