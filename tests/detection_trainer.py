"""Everything gradarbiter can ask of the reference trainer, with or without a fault; careful that a fault is planted before the run begins, as in the field."""

import contextlib

import numpy as np
from arbiter_trainer import mean_loss, shown

import gradarbiter
from gradarbiter.runs.data_order import data_order
from gradarbiter.runs.exact_resume import exact_resume
from gradarbiter.runs.low_precision import low_precision
from gradarbiter.runs.memory_growth import memory_growth
from gradarbiter.runs.safeguard import safeguard
from gradarbiter.runs.tokenizer_fertility import tokenizer_fertility
from trainer import checkpoint, data, device, faults, step
from trainer import tokenizer as tk
from trainer.faults.twin import Twin

VOCABULARY = 500


def results_of(fault, folder, *, seed=1, options=None, situation=""):
    """Results of all step checks and run checks for one small run; ``fault``: a name of the catalogue, or None for a healthy run."""
    wanted = faults.CATALOGUE[fault] if fault else None
    options = {**(wanted.options if wanted else {}), **(options or {}), "seed": seed, "steps": 20, "held_out_every": 0}
    twin = Twin(folder=folder, situation=wanted.situation if wanted else situation, options=options)
    with faults.plant(fault) if fault else contextlib.nullcontext(), device.entered(twin.config) as place:
        given = shown(twin.begin(place))
        report = gradarbiter.check(**given)
        return [*report.results, *run_checks(twin, place, folder)]


def run_checks(twin, place, folder):
    run = twin.begin(place)
    yield safeguard(run.model, lambda: step.one_step(run), run.optimizers, say=quiet)
    run = twin.begin(place)
    given = shown(run)
    keep = {key: given[key] for key in ("step", "keep")}
    yield low_precision(run.model, given["batch"], mean_loss(run.config), run.optimizers, say=quiet, **keep)
    run = twin.begin(place)
    yield memory_growth(lambda: step.one_step(run), say=quiet)
    yield data_order(**drawn(twin, place, folder), say=quiet)
    yield exact_resume(lambda saved: Resumable(twin, place, saved), say=quiet, flips=4)
    yield fertility()


def drawn(twin, place, folder):
    """The trainer's batches as functions of step and seed, and the text that they are to come from, read without the trainer."""
    config, tokens = twin.config, data.Tokens(folder)
    shape = {"batch": config.batch, "length": config.length}
    run = twin.begin(place)

    def micro(at, seed):
        assert seed == config.seed
        run.step = at
        return [step.next_batch(run, m).numpy() for m in range(config.accumulate)]

    return {
        "batch": lambda at, seed: tokens.batch(at, seed=seed, **shape),
        "held_out": lambda at, seed: tokens.batch(at, seed=seed, split="held_out", **shape),
        "ranks": [lambda at, seed, rank=rank: tokens.batch(at, seed=seed, rank=rank, world=2, **shape) for rank in range(2)],
        "micro": micro if twin.situation != "padding" else None,
        "corpus": text(folder, "train"),
        "held_out_corpus": text(folder, "held_out"),
        "seed": config.seed,
    }


def text(folder, split):
    subsets = sorted(path.parent for path in folder.glob("*/manifest.json"))
    return {at.name: np.concatenate([np.load(shard) for shard in sorted(at.glob(f"{split}-*.npy"))]) for at in subsets}


class Resumable:
    """A run as `exact_resume` asks for it: the trainer's own saves and its own resume."""

    def __init__(self, twin, place, saved):
        self._twin, self._run = twin, twin.begin(place)
        if saved is not None:
            run = self._run
            at = checkpoint.resume(saved, run.model, run.optimizers, run.config, run.data, say=quiet)
            run.step, run.tokens_seen = at.step, at.tokens_seen

    def step(self):
        return step.one_step(self._run).loss

    def save(self, folder):
        save(self._run, folder)

    def state(self):
        run = self._run
        both = checkpoint.weights(run.model) | checkpoint.optimizer_state(run.model, run.optimizers)
        return {name: tensor.float().numpy().copy() for name, tensor in both.items()}


def save(run, folder):
    at = checkpoint.Position(step=run.step, tokens_seen=run.tokens_seen)
    checkpoint.save(folder, at, run.model, run.optimizers, run.config, run.data)


def fertility():
    samples = tk.sample_texts()
    tokenizer = tk.train([line for of in samples.values() for line in of], vocab=2000)
    return tokenizer_fertility(tokenizer, {language: "\n".join(of) for language, of in samples.items()}, blocked={}, say=quiet)


def quiet(_):
    """What a check costs is not said a hundred times."""
