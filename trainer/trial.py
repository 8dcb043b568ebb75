"""A short run at full speed: tokens a second, MFU, memory, power and price of a preset; careful that it ends by itself, whatever hangs, and keeps nothing.

python -m trainer.trial paper --device cuda
python -m trainer.trial nano --minutes 1

It trains on random tokens: no kernel's time depends on what they say, and its loss means nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import faulthandler
import gc
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from trainer import config as options
from trainer import device, order, speed
from trainer.config import Config
from trainer.errors import Refused, refusal
from trainer.step import begin, one_step
from trainer.train import GaveUp, give_up

STEPS = 30
WARM = 3  # the first compiles, the second finds the optimizers' memory taken, the third is to be sure
GRACE_S = 120  # after --minutes: by default the process is gone after 8 minutes
GOAL = 0.45  # of useful MFU, for the paper's preset on one H100; the paper itself had 0.026
BUDGET = 2e9  # tokens, the paper's
VOCABULARY = 4096  # where a preset leaves it to the data

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Measured:
    config: Config
    peak: speed.Peak
    silent: str | None  # why a GPU told neither power nor clock
    steps: list[dict[str, Any]]  # the figures of each step after the warm ones


class Random:
    """Tokens of every id alike, a function of seed and step as real data is."""

    fingerprint = digest = "random"

    def __init__(self, vocab_size: int) -> None:
        self.vocab_size = vocab_size

    def batch(self, step: int, *, seed: int, batch: int, length: int, split: str = "train", rank: int = 0, world: int = 1) -> order.Int64s:
        random = np.random.default_rng([seed, step * world + rank, split == "train"])
        return random.integers(0, self.vocab_size, (batch, length + 1))


def say_at_once(text: str) -> None:
    print(text, flush=True)  # who ends a run that hangs reads what it said before


def main(argv: Sequence[str] | None = None, *, say: Say = say_at_once) -> int:
    """0 measured, 1 the run failed or was too short, 2 the command is wrong, 4 no GPU."""
    parser = argparse.ArgumentParser(prog="python -m trainer.trial", description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("preset", help=f"{', '.join(options.PRESETS)}; then --key value, as of python -m trainer.train")
    parser.add_argument("--minutes", type=float, default=6.0, help="of the whole run; no step begins that would end later (default 6)")
    given, rest = parser.parse_known_args(argv)
    exits: dict[type[Exception], int] = {Refused: 2, device.NoGPU: 4, device.NotCompiled: 1, GaveUp: 1, torch.OutOfMemoryError: 1}
    faulthandler.dump_traceback_later(60 * given.minutes + GRACE_S, exit=True, file=2)  # descriptor: a captured sys.stderr has none
    try:
        measured = fitting(chosen(given.preset, rest), time.monotonic() + 60 * given.minutes, say)
        product = speed.measured_peak(measured.config)
    except tuple(exits) as failed:
        print(failed, file=sys.stderr)
        return exits[type(failed)]
    finally:
        faulthandler.cancel_dump_traceback_later()
    if not measured.steps:
        print(f"error: {given.minutes:g} minutes were too short for {WARM} warm steps and one more", file=sys.stderr)
        return 1
    for name, text in lines(measured, product_tflops=product).items():
        say(f"{name + ':':13}{text}")
    return 0


def chosen(preset: str, argv: Sequence[str]) -> Config:
    keys = {word.partition("=")[0] for word in argv}
    for key in sorted(keys & {"--data", "--out", "--save_every", "--resume"}):
        raise refusal(f"{key} for a trial", "nothing to read or to keep: its tokens are random", "train: python -m trainer.train")
    config = options.parse(["--preset", preset, *argv])
    steps = config.steps if "--steps" in keys else STEPS
    return dataclasses.replace(config, steps=steps, vocab_size=config.vocab_size or VOCABULARY, out="")


def fitting(config: Config, ends: float, say: Say) -> Measured:
    """Measured with the preset's micro-batch, or with the largest half, quarter, ... of it that the memory holds, at the same tokens a step."""
    while True:
        try:
            return measure(config, ends, say)
        except torch.OutOfMemoryError:
            if config.batch % 2:
                raise
        gc.collect()  # outside of the except block: the exception holds the frames, and they hold the tensors
        if config.device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        config = dataclasses.replace(config, batch=config.batch // 2, accumulate=config.accumulate * 2)
        say(f"out of memory: going on with --batch {config.batch} --accumulate {config.accumulate}")


def measure(config: Config, ends: float, say: Say) -> Measured:
    with device.entered(config) as place:
        run = begin(config, Random(config.vocab_size), place)
        meter = speed.Meter(config, place.world)
        parameters = sum(p.numel() for p in run.model.parameters())
        say(f"{config.preset} on {_name(config)}, torch {torch.__version__}: {parameters:,} parameters; random tokens, nothing is kept")
        steps = []
        for number in range(WARM + config.steps):
            start = time.perf_counter()
            outcome = one_step(run)
            seconds = time.perf_counter() - start
            figures = meter.step(outcome.tokens, seconds)
            say(f"step {number + 1}: {seconds:.2f} s, {figures['tokens_per_s']:,.0f} tokens/s{' (warm-up)' if number < WARM else ''}")
            give_up(run)
            if number >= WARM:
                steps.append(figures)
            if time.monotonic() + seconds > ends:
                break
    return Measured(config=config, peak=meter.peak, silent=meter.facts()["no_power_and_clock"], steps=steps)


def lines(measured: Measured, *, product_tflops: float) -> dict[str, str]:
    """Medians over the steps; every share with its definition and its peak."""
    config, steps = measured.config, measured.steps
    typical = {key: statistics.median(step[key] for step in steps) for key, value in steps[0].items() if value is not None}
    hours = BUDGET / typical["tokens_per_s"] / 3600
    names = {"palm": "mfu_palm", "useful": "mfu_useful", "HFU": "hfu"}
    shares = ", ".join(f"{name} {typical[key]:.1%}" for name, key in names.items() if key in typical)
    tokens = config.batch * config.accumulate * config.length
    return {
        "tokens/s": f"{typical['tokens_per_s']:,.0f}, the median of {len(steps)} steps of {tokens:,} tokens",
        "MFU": f"{shares or 'not known'}; peak: {measured.peak}",
        "one product": f"{product_tflops:.4g} TFLOP/s, measured now in {config.dtype}",
        "memory": f"{steps[-1].get('memory_bytes', _resident_bytes()) / 2**30:.1f} GiB at most",
        "GPU": f"{typical['power_w']:.0f} W, {typical['sm_mhz']:.0f} MHz" if "power_w" in typical else measured.silent or "none",
        "2B tokens": f"{hours:,.1f} hours, ${hours * config.dollars_per_hour:,.2f} at ${config.dollars_per_hour:.2f} an hour",
        "goal": _goal(config, typical),
    }


def _goal(config: Config, typical: dict[str, float]) -> str:
    wanted = f"{GOAL:.0%} useful MFU, preset paper on one H100"
    if config.preset != "paper" or config.device != "cuda" or "mfu_useful" not in typical:
        return f"{wanted}: not asked here"
    return f"{wanted}: {'reached' if typical['mfu_useful'] >= GOAL else 'not reached'}"


def _name(config: Config) -> str:
    return torch.cuda.get_device_name() if config.device == "cuda" else f"cpu ({platform.machine()}, {torch.get_num_threads()} threads)"


def _resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
