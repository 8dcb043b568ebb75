"""The runs that every rival is shown: the twin's small one, healthy or with one fault planted; careful that both are begun and stepped in the same way.

A rival is a module with NAME, VERSION, USE (how it is used, a sentence), applies(fault) -> "" or why it does not, and ask(case, folder) -> Heard.
"""

import contextlib
import dataclasses
import io
import logging
import re
import resource
import statistics
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import torch

from trainer import checkpoint, data, device, faults, optim, step
from trainer.faults import twin as twins

SEED = 11  # of each faulty run and of its healthy twin
VOCAB = 500  # not a multiple of 128: there is a padded vocabulary
TOKENIZERS = ("tokenizer_fertility", "marks_stripped", "text_recomposed")  # their data is made with the faulty tokenizer
ONE_PROCESS = {"ranks_share_data": "needs two processes; the rival sees one"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One run: its configuration, and the fault in it ("": healthy)."""

    fault: str = ""
    seed: int = SEED
    situation: str = ""
    options: tuple = ()
    resumed: bool = False  # the run is broken off, and goes on from its checkpoint
    late: bool = False  # it begins two steps before the end of the first epoch

    @property
    def layer(self):
        return faults.CATALOGUE[self.fault].layer if self.fault else ""

    def healthy(self, seed=SEED):
        return dataclasses.replace(self, fault="", seed=seed)


def of(name):
    fault = faults.CATALOGUE[name]
    options = tuple(sorted(fault.options.items()))
    return Case(fault=name, situation=fault.situation, options=options, resumed=fault.shows_in == "resume", late=name == "epochs_alike")


@dataclass(kw_only=True)
class Heard:
    """What a rival said of a run."""

    alarms: list = field(default_factory=list)  # it raised, warned, stopped or failed
    shown: list = field(default_factory=list)  # a number of its own that is not finite, zero or absent, or a line about parameters
    cpu_s: float = 0.0
    steps: int = 0  # optimizer steps it took
    numbers: dict = field(default_factory=dict)


def kind(message):
    """A message without what differs from run to run: its numbers and addresses."""
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "#", " ".join(message.split()))


def new(heard, usual):
    """Alarms, and what is shown, that were not heard of the healthy ones."""
    known, seen = {kind(text) for each in usual for text in each.alarms}, {text for each in usual for text in each.shown}
    return [text for text in heard.alarms if kind(text) not in known], [text for text in heard.shown if text not in seen]


@contextlib.contextmanager
def planted(case, folder):
    """The fault for as long as the run lasts: its twin, and where it runs."""
    with contextlib.ExitStack() as stack:
        if case.fault:
            stack.enter_context(faults.plant(case.fault))
        if case.fault in TOKENIZERS:
            folder = data.sample(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "data", vocab=VOCAB)
        twin = twins.Twin(folder=Path(folder), situation=case.situation, options={"seed": case.seed, **dict(case.options)})
        yield twin, stack.enter_context(device.entered(twin.config))


def begin(case, twin, place):
    run = twin.begin(place)
    if case.late:
        run.step = an_epoch(twin) - 2
    return run


def an_epoch(twin):
    """Steps."""
    c = twin.config
    return twin.tokens.windows("train", c.length) // c.batch // c.accumulate


def save(run, root):
    if run.step in twins.SAVED:
        at = checkpoint.Position(step=run.step, tokens_seen=run.tokens_seen)
        checkpoint.save(Path(root), at, run.model, run.optimizers, run.config, run.data)


def resume(twin, place, root):
    """A new run at the place of the saved one; a byte is flipped first where the situation says so."""
    if twin.situation == "flipped byte":
        twins._flip(twins.store.folders(Path(root))[0] / "weights.safetensors")
    run = twin.begin(place)
    at = checkpoint.resume(Path(root), run.model, run.optimizers, run.config, run.data, say=lambda _: None)
    run.step, run.tokens_seen = at.step, at.tokens_seen
    return run


def micro_batches(run, first, count):
    """Of each step from the first on, as the trainer draws them."""
    for at in range(first, first + count):
        there = dataclasses.replace(run, step=at)
        yield [step.next_batch(there, micro) for micro in range(run.config.accumulate)]


def held_out(run):
    c = run.config
    for draw in range(c.held_out_batches):
        yield torch.from_numpy(run.tokens.batch(draw, seed=c.seed, batch=c.batch, length=c.length, split="held_out"))


def accumulate(twin, run, batches, loss_of, backward):
    """The first half of `trainer.step.one_step`, with the rival's forward and backward: the step's loss and its tokens."""
    count = int(torch.stack([step.scored(tokens) for tokens in batches]).sum())
    nll = 0.0
    with spoiled(twin, run):
        for tokens in batches:
            with device.arithmetic(run.config):
                loss = loss_of(tokens)
            backward(step.normalised(loss, count, 1))
            nll += float(loss.detach())
    return nll / count, count


def update(run, loss, count, take):
    """Its second half: judged, clipped, and taken by the rival."""
    norm = float(step.gradient_norm(run.model))
    rates = optim.set_rates(run.optimizers, optim.factor(run.step, run.config))
    reason = step.why_skip(loss, norm, run.model)
    if reason is None:
        step.clip(run.model, norm, run.config.clip)
        take()
    run.outcomes.append(step.Outcome(step=run.step, loss=loss, gradient_norm=norm, rates=rates, tokens=count, skipped=reason))
    run.step, run.tokens_seen = run.step + 1, run.tokens_seen + count


def spoiled(twin, run):
    """The infinite gradient of the second step, where the situation says so."""
    infinite = twin.situation == "infinite gradient" and run.step == 1
    return twins._infinite(run) if infinite else contextlib.nullcontext()


def cpu_s():
    """Of this process and its children so far, user and system."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def step_cpu_s(folder):
    """What one healthy training step costs here, alone: the unit of every cost."""
    case, each = Case(), []
    with planted(case, folder) as (twin, place):
        run = begin(case, twin, place)
        for upto in range(10, 110, 10):
            before = cpu_s()
            twin.steps(run, upto)
            each.append((cpu_s() - before) / 10)
    return statistics.median(each)


def first_line(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def finite(number):
    return bool(torch.isfinite(torch.as_tensor(number)).all())


@contextlib.contextmanager
def listening(heard, loggers):
    """Every Python warning, and every line at WARNING or above of these loggers."""

    class Ear(logging.Handler):
        def emit(self, record):
            heard.alarms.append(record.getMessage()[:300])

    loggers = [logging.getLogger(name) for name in loggers]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate = [Ear(logging.WARNING)], False
        logger.setLevel(logging.WARNING)
    quiet = io.StringIO()
    with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
                logger.handlers, logger.propagate = handlers, propagate
                logger.setLevel(level)
            heard.alarms += [f"{w.category.__name__}: {' '.join(str(w.message).split())}"[:300] for w in said]
