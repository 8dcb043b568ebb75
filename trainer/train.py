"""The training loop; careful that a run which was killed or interrupted goes on as if it had not been, to the bit.

python -m trainer.train --preset nano --out runs/first
torchrun --nproc_per_node 2 -m trainer.train --preset nano --accumulate 1
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from trainer import checkpoint, device
from trainer.checkpoint import Position
from trainer.config import Config, help_text, parse, without_effect
from trainer.errors import Refused, refusal
from trainer.log import StepLog
from trainer.speed import Meter
from trainer.step import Outcome, Run, Tokens, begin, held_out, one_step

SAMPLE = Path("runs/sample")


class GaveUp(Exception):
    """Too many steps in a row were skipped."""


def main(argv: Sequence[str] | None = None) -> int:
    """0 done, 1 the run failed, 2 the command is wrong, 4 no GPU, 130 interrupted and saved."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if "--help" in argv or "-h" in argv:
        print(help_text())
        return 0
    exits: dict[type[Exception], int] = {Refused: 2, device.NoGPU: 4, device.NotCompiled: 1, GaveUp: 1}
    try:
        config = parse(argv)
        for sentence in without_effect(config, argv):
            _print(f"note: {sentence}")
        run = train(config)
    except tuple(exits) as failed:
        _print(str(failed))
        return exits[type(failed)]
    except OSError as failed:
        do = "make room, or correct the path; the same command goes on from the last checkpoint"
        _print(str(refusal(str(failed), "files that can be read and written", do)))
        return 1
    return 130 if run.interrupted else 0


def train(config: Config, tokens: Tokens | None = None, *, say: Callable[[str], None] | None = None) -> Run:
    """Train to ``config.steps``, or to Ctrl-C; goes on where the checkpoints in ``config.out`` end. An empty ``out`` keeps nothing on disk."""
    with device.entered(config) as place, _interrupts() as asked:
        say = (say or _print) if place.first else _nothing
        run = begin(config, tokens or open_tokens(config, place), place)
        out = Path(config.out) if config.out else None
        if out and (at := checkpoint.resume(out / "checkpoints", run.model, run.optimizers, run.config, run.data, say=say)):
            run.step, run.tokens_seen = at.step, at.tokens_seen
        if not place.alike(run.step):  # else each would go on with its own weights, and exchange gradients
            do = "put --out where all processes see it"
            raise refusal(f"process {place.rank} would begin at step {run.step}, others elsewhere", "one checkpoint for all", do)
        meter = Meter(run.config, place.world)
        say(f"{sum(p.numel() for p in run.model.parameters()):,} parameters; peak: {meter.peak}")
        with StepLog(out / "log.jsonl" if out and place.first else None, step=run.step) as log, _progress(run) as progressed:
            log.write("start", from_step=run.step, config=dataclasses.asdict(run.config), **meter.facts())
            while run.step < config.steps and not run.interrupted:
                start = time.perf_counter()
                outcome = one_step(run)
                figures = meter.step(outcome.tokens, time.perf_counter() - start)
                log.step(**dataclasses.asdict(outcome), tokens_seen=run.tokens_seen, **figures)
                progressed(outcome, figures)
                give_up(run)
                if config.held_out_every and run.step % config.held_out_every == 0:
                    log.write("held_out", step=outcome.step, loss=held_out(run))
                run.interrupted = agreed(asked(), place)
                if out and (run.interrupted or run.step == config.steps or due(run, outcome)):
                    save(run, out)
            log.write("end", at_step=run.step, interrupted=run.interrupted, **checkpoint.digests(run.model, run.optimizers))
        place.wait()  # torchrun ends all processes when one has left with a status: none may leave while the first still writes
        say(meter.summary())
        if run.interrupted:
            say(f"interrupted after {run.step} steps" + ("; saved: the same command goes on from there" if out else ""))
    return run


def give_up(run: Run) -> None:
    last = run.outcomes[-run.config.max_skips :]
    if len(last) == run.config.max_skips and all(outcome.skipped for outcome in last):
        raise GaveUp(
            f"found:   {len(last)} steps in a row skipped, the last because {last[-1].skipped}\n"
            "wanted:  finite losses and gradients\n"
            "do this: start again from a checkpoint before them with a lower --lr and --muon_lr"
        )


def due(run: Run, outcome: Outcome) -> bool:
    """Not after a skipped step: its weights may be beyond repair already, and would push the last good checkpoint out."""
    return outcome.skipped is None and run.config.save_every > 0 and run.step % run.config.save_every == 0


def save(run: Run, out: Path) -> None:
    at = Position(step=run.step, tokens_seen=run.tokens_seen)
    checkpoint.save(out / "checkpoints", at, run.model, run.optimizers, run.config, run.data)


def agreed(interrupted: bool, place: device.Place) -> bool:
    """Whether any process was told to stop: all must leave after the same step."""
    return place.total(torch.tensor(float(interrupted), device=place.device)).item() > 0 if place.world > 1 else interrupted


def open_tokens(config: Config, place: device.Place) -> Tokens:
    from trainer import data

    folder = Path(config.data) if config.data else SAMPLE
    if not config.data and not folder.exists() and place.first:
        data.sample(folder)
    place.wait()
    return data.Tokens(folder)


@contextlib.contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM wait for the end of a step; a second Ctrl-C does not."""
    asked: list[int] = []

    def heard(number: int, _frame: object) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: nobody can interrupt us
        before = {}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _progress(run: Run) -> Iterator[Callable[[Outcome, dict[str, Any]], None]]:
    if not (run.config.progress and run.place.first):
        yield _nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=run.config.steps, completed=run.step)

        def progressed(outcome: Outcome, figures: dict[str, Any]) -> None:
            share = "" if figures["mfu_useful"] is None else f"  useful MFU {figures['mfu_useful']:.1%}"
            text = f"loss {outcome.loss:.3f}  {figures['tokens_per_s']:,.0f} tokens/s{share}"
            bar.update(task, advance=1, description=f"skipped: {outcome.skipped}" if outcome.skipped else text)

        yield progressed


def _print(text: str) -> None:
    print(text, file=sys.stderr)


def _nothing(*_: object) -> None:
    pass


if __name__ == "__main__":
    device.leave(main())
