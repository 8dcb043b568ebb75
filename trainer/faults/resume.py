"""Faults of saving and resuming; careful that the first loss after the resume is mostly right, which is why it proves nothing."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trainer import checkpoint, optim, step, store
from trainer.checkpoint import Optimizers, Position
from trainer.faults.catalogue import fault, patched
from trainer.model import LM

RESUME = "exact resume"


@contextlib.contextmanager
def weights_restored(change: Callable[[LM, dict[str, Tensor]], dict[str, Tensor]]) -> Iterator[None]:
    restore = checkpoint.restore_weights
    with patched(checkpoint, restore_weights=lambda model, saved: restore(model, change(model, dict(saved)))):
        yield


@contextlib.contextmanager
def states_restored(change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> Iterator[None]:
    restore = checkpoint.restore_optimizers

    def changed(model: LM, optimizers: Optimizers, saved: Mapping[str, Tensor]) -> None:
        restore(model, optimizers, change(dict(saved)))

    with patched(checkpoint, restore_optimizers=changed):
        yield


@contextlib.contextmanager
def resumed(change: Callable[[Position], Position]) -> Iterator[None]:
    resume = checkpoint.resume

    def changed(*args: Any, **kwargs: Any) -> Position | None:
        at = resume(*args, **kwargs)
        return None if at is None else change(at)

    with patched(checkpoint, resume=changed):
        yield


@fault(RESUME, shows_in="resume")
def resume_without_optimizer() -> Iterator[None]:
    """Weights come back, moments and momentum do not: the first loss is right to the bit, the second is not."""
    with states_restored(lambda _saved: {}):
        yield


@fault(RESUME, shows_in="resume")
def resume_step_counter_reset() -> Iterator[None]:
    """Adam's moments come back, its step counter does not: the bias correction blows them up."""
    with states_restored(lambda saved: {path: torch.zeros_like(t) if path.endswith("/step") else t for path, t in saved.items()}):
        yield


@fault(RESUME, shows_in="resume")
def resume_states_misordered() -> Iterator[None]:
    """States are matched by position in a list whose order changed: gate and up projections, which have the same shape, trade theirs."""
    trade = {"gate": "up", "up": "gate"}

    def change(saved: dict[str, Tensor]) -> dict[str, Tensor]:
        return {".".join(trade.get(part, part) for part in path.split(".")): tensor for path, tensor in saved.items()}

    with states_restored(change):
        yield


@fault(RESUME, shows_in="resume")
def resume_partial_weights() -> Iterator[None]:
    """The norms' names changed, and a loader that is not strict leaves them as they were initialised."""

    def change(model: LM, saved: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: model.get_parameter(name).detach().clone() if "norm" in name else t for name, t in saved.items()}

    with weights_restored(change):
        yield


@fault(RESUME, shows_in="resume")
def resume_weights_rounded() -> Iterator[None]:
    """Weights were saved in bfloat16 to halve the file."""
    with weights_restored(lambda _model, saved: {name: tensor.bfloat16() for name, tensor in saved.items()}):
        yield


@fault(RESUME, shows_in="resume")
def resume_without_scheduler() -> Iterator[None]:
    """The schedule begins again after a resume: a second warm-up in the middle of the run."""
    factor, start = optim.factor, [0]

    def remember(at: Position) -> Position:
        start[0] = at.step
        return at

    with resumed(remember), patched(optim, factor=lambda at, config: factor(max(0, at - start[0]), config)):
        yield


@fault(RESUME, shows_in="resume")
def resume_without_data_position() -> Iterator[None]:
    """The data begins again after a resume: its start is read twice, its end never."""
    following, start = step.next_batch, [0]

    def remember(at: Position) -> Position:
        start[0] = at.step
        return at

    def again(run: step.Run, micro: int) -> Tensor:
        return following(dataclasses.replace(run, step=max(0, run.step - start[0])), micro)

    with resumed(remember), patched(step, next_batch=again):
        yield


@fault(RESUME, shows_in="resume")
def resume_off_by_one() -> Iterator[None]:
    """The saved step is taken for the last one that was done: one batch is never seen."""
    with resumed(lambda at: dataclasses.replace(at, step=at.step + 1)):
        yield


@fault(RESUME, shows_in="resume", dropout=0.3)
def resume_without_generators() -> Iterator[None]:
    """The random generators begin again: dropout drops other channels."""
    with patched(checkpoint, restore_generators=lambda _plain, _tensors: None):
        yield


@fault(RESUME, shows_in="resume", situation="flipped byte")
def checkpoint_unverified() -> Iterator[None]:
    """Files are loaded without a look at their hashes: a flipped bit becomes a weight (torch.load and safetensors do not notice either)."""

    def read(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != store.MANIFEST}

    with patched(store, read=read):
        yield
