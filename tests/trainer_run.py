"""Runs of the trainer on made-up text, in this process or (as a script) in a fresh one; careful that a batch is a pure function, as real data's is.

python tests/trainer_run.py RESULT.json [--stop N] [--key value ...]
"""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from trainer import checkpoint, config, device
from trainer import train as loop


class Text:
    """Rows of a noisy arithmetic progression: something to learn, and every row a function of its own index."""

    vocab_size = 61
    fingerprint = "f" * 64
    digest = "d" * 64

    def batch(self, step, *, seed, batch, length, split="train", rank=0, world=1):
        rows = (step * world + rank) * batch + np.arange(batch)
        return np.stack([self.line(int(row), seed, split, length) for row in rows])

    def line(self, row, seed, split, length):
        random = np.random.default_rng([seed, split == "train", row])
        jumps = np.where(random.random(length + 1) < 0.9, 3, random.integers(0, self.vocab_size, length + 1))
        return np.cumsum(jumps) % self.vocab_size


class Ragged(Text):
    """Rows of 3, 8, 13 or 18 tokens and then padding: a mean of means, over micro-batches or processes, is another number than the mean."""

    def line(self, row, seed, split, length):
        tokens = super().line(row, seed, split, length)
        tokens[3 + 5 * (row % 4) :] = -1
        return tokens


def short(**changes):
    """A dozen steps with everything in them that has a state: both optimizers, accumulation, dropout, a schedule."""
    defaults = {"steps": 12, "length": 24, "window": 7, "batch": 2, "warmup": 3, "dropout": 0.1, "progress": False, "out": ""}
    return config.nano(**{**defaults, **changes})


def result(run):
    return {
        "from": run.outcomes[0].step if run.outcomes else run.step,
        "losses": [loss.hex() for loss in run.losses],
        "norms": [outcome.gradient_norm.hex() for outcome in run.outcomes],
        "skipped": [outcome.skipped for outcome in run.outcomes],
        **checkpoint.digests(run.model, run.optimizers),
    }


def train(**changes):
    return loop.train(short(**changes), Text(), say=lambda _: None)


def main(path, *argv):
    argv = list(argv)
    stop = int(argv.pop(argv.index("--stop") + 1)) if "--stop" in argv else 0
    argv = [word for word in argv if word != "--stop"]
    kinds = {name: type(value) for name, value in vars(short()).items()}
    given = {
        name[2:]: value == "true" if kinds[name[2:]] is bool else kinds[name[2:]](value)
        for name, value in zip(argv[::2], argv[1::2], strict=True)
    }
    if stop:
        one_step = loop.one_step

        def stopping(run):
            outcome = one_step(run)
            if run.step == stop:
                os.kill(os.getpid(), signal.SIGINT)
            return outcome

        loop.one_step = stopping
    run = loop.train(short(**given), Text())
    if run.place.first:
        Path(path).write_text(json.dumps(result(run)))
    return 130 if run.interrupted else 0


if __name__ == "__main__":
    device.leave(main(*sys.argv[1:]))
