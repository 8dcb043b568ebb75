"""One of two processes of a run, without torchrun's own seconds: every scenario in turn, each with a store that the test holds; careful to end as a run does.

RANK=0 WORLD_SIZE=2 python tests/trainer_ranks.py FOLDER PORT ...
"""

import json
import math
import os
import signal
import sys
from pathlib import Path

from trainer_run import Ragged, Text, result, short

from trainer import device
from trainer import train as loop

RANK = int(os.environ.get("RANK", "0"))


def parity(folder, **changes):
    """Rows of many lengths: the processes' micro-batches have different numbers of tokens."""
    return result(train(folder / "parity", Ragged(), optimizer="adamw", steps=8, accumulate=2, **changes))


def skip(folder):
    """One process alone has a gradient that is not finite."""

    def spoil(run):
        if RANK == 1 and run.step == 3:
            run.model.layers[0].ffn.up.weight.register_hook(lambda g: g * (math.inf if run.step == 3 else 1))

    return result(before_steps(spoil, lambda: train(folder / "skip", steps=6)))


def interrupt(folder):
    """One process alone is told to stop."""

    def stop(run):
        if RANK == 1 and run.step == 2:
            os.kill(os.getpid(), signal.SIGINT)

    run = before_steps(stop, lambda: train(folder / "interrupt", steps=6))
    return {"step": run.step, "interrupted": run.interrupted}


def saved(folder):
    return result(train(folder / "apart-0", steps=2))


def apart(folder):
    """Each process has a folder of its own, and the second's is empty."""
    try:
        train(folder / f"apart-{RANK}", steps=2)
    except ValueError as refused:
        return {"refused": str(refused)}
    return {}


SCENARIOS = (parity, skip, interrupt, saved, apart)


def train(out, text=None, **changes):
    return loop.train(short(dropout=0.0, out=str(out), **changes), text or Text(), say=lambda _: None)


def before_steps(happens, run):
    one_step = loop.one_step

    def stepping(run):
        happens(run)
        return one_step(run)

    loop.one_step = stepping
    try:
        return run()
    finally:
        loop.one_step = one_step


def main(folder, *ports):
    for scenario, port in zip(SCENARIOS, ports, strict=True):
        os.environ["MASTER_PORT"] = port
        (Path(folder) / f"{scenario.__name__}-{RANK}.json").write_text(json.dumps(scenario(Path(folder))))


if __name__ == "__main__":
    main(*sys.argv[1:])
    device.leave(0)
