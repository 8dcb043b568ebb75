"""Faults of the loss and of what is done with it before the optimizer; careful that the number printed stays plausible."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from trainer import step
from trainer.config import Config
from trainer.faults.catalogue import fault, patched
from trainer.model import LM, PADDING


def _nll(logits_BTV: Tensor, targets_BT: Tensor, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
    logits, targets = logits_BTV.flatten(0, 1).float(), targets_BT.flatten()
    nll = F.cross_entropy(logits, targets, ignore_index=PADDING, reduction="sum", label_smoothing=smoothing)
    return nll, (targets_BT != PADDING).sum()


@fault("shifted targets", shows_in="loss")
def targets_two_ahead() -> Iterator[None]:
    """Targets are shifted twice, by the data and by the loss: the model learns the token after the next."""

    def loss(self: LM, tokens_BT1: Tensor) -> tuple[Tensor, Tensor]:
        return _nll(self(tokens_BT1[:, :-2].clamp_min(0)), tokens_BT1[:, 2:])

    with patched(LM, loss=loss):
        yield


@fault("shifted targets", shows_in="loss")
def targets_not_shifted() -> Iterator[None]:
    """The target is the token itself: the loss falls to nearly nothing, and nothing is learnt."""

    def loss(self: LM, tokens_BT1: Tensor) -> tuple[Tensor, Tensor]:
        return _nll(self(tokens_BT1[:, :-1].clamp_min(0)), tokens_BT1[:, :-1])

    with patched(LM, loss=loss):
        yield


@fault("loss masking", shows_in="loss", situation="padding")
def padding_scored() -> Iterator[None]:
    """Padding is scored as id 0: easy targets, a lower loss."""

    def loss(self: LM, tokens_BT1: Tensor) -> tuple[Tensor, Tensor]:
        return _nll(self(tokens_BT1[:, :-1].clamp_min(0)), tokens_BT1[:, 1:].clamp_min(0))

    with patched(LM, loss=loss):
        yield


@fault("loss masking", shows_in="logits")
def padded_vocabulary_scored() -> Iterator[None]:
    """Ids that only fill the vocabulary up to a multiple of 128 take part in the softmax, and can be sampled."""
    make = LM.__init__

    def init(self: LM, config: Config) -> None:
        make(self, config)
        self.config = dataclasses.replace(config, vocab_size=config.padded_vocab)

    with patched(LM, __init__=init):
        yield


@fault("loss masking", shows_in="loss")
def smoothing_left_on() -> Iterator[None]:
    """A label smoothing of 0.1 stays in the loss, evaluation included: no score can be compared with another model's."""

    def loss(self: LM, tokens_BT1: Tensor) -> tuple[Tensor, Tensor]:
        return _nll(self(tokens_BT1[:, :-1].clamp_min(0)), tokens_BT1[:, 1:], smoothing=0.1)

    with patched(LM, loss=loss):
        yield


@fault("detached graph", shows_in="gradients")
def graph_truncation() -> Iterator[None]:
    """An in-place write inside a custom loss cuts the graph for the first half of the positions: the loss is right to the bit."""
    forward = LM.forward

    def cut(self: LM, tokens_BT: Tensor) -> Tensor:
        logits_BTV = forward(self, tokens_BT)
        half = logits_BTV.shape[1] // 2
        return torch.cat([logits_BTV[:, :half].detach(), logits_BTV[:, half:]], 1)

    with patched(LM, forward=cut):
        yield


class _Micros:
    """The counts of a step's micro-batches: `one_step` counts all of them first, then normalises them in the same order."""

    def __init__(self) -> None:
        self.counts: list[float] = []
        self.done = 0
        self._scored = step.scored

    def scored(self, tokens_BT1: Tensor) -> Tensor:
        if self.done:
            self.counts, self.done = [], 0
        found = self._scored(tokens_BT1)
        self.counts.append(float(found))
        return found

    def following(self) -> float:
        self.done += 1
        return self.counts[self.done - 1]


@fault("accumulation", shows_in="gradients", situation="padding")
def mean_of_means() -> Iterator[None]:
    """Accumulation takes the mean of the micro-batches' means: tokens of short batches weigh more."""
    micros = _Micros()

    def normalised(nll: Tensor, _count: int, world: int) -> Tensor:
        return nll * (world / micros.following() / len(micros.counts))

    with patched(step, scored=micros.scored, normalised=normalised):
        yield


@fault("accumulation", shows_in="gradients")
def accumulation_not_divided() -> Iterator[None]:
    """Micro-batches are summed without division by their number: gradients too large, hidden by clipping and by both optimizers."""
    micros = _Micros()

    def normalised(nll: Tensor, _count: int, world: int) -> Tensor:
        return nll * (world / micros.following())

    with patched(step, scored=micros.scored, normalised=normalised):
        yield


@fault("low precision", shows_in="updates", situation="infinite gradient")
def clip_hides_inf() -> Iterator[None]:
    """Infinite gradients become zero before the norm is taken: the step is not skipped, and nothing is logged."""
    norm = step.gradient_norm

    def cleaned(model: nn.Module) -> Tensor:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.nan_to_num_(0.0, 0.0, 0.0)
        return norm(model)

    with patched(step, gradient_norm=cleaned):
        yield


@fault("low precision", shows_in="updates", situation="infinite gradient")
def safeguard_off() -> Iterator[None]:
    """A step whose gradient is not finite is not skipped: weights become NaN and stay so."""
    with patched(step, why_skip=lambda _loss, _norm, _model: None):
        yield


@fault("memory", shows_in="cost")
def activations_kept() -> Iterator[None]:
    """Each step's logits are appended to a list for a later metric, with their graphs: memory grows until it ends."""
    forward, kept = LM.forward, list[Tensor]()

    def keeping(self: LM, tokens_BT: Tensor) -> Tensor:
        kept.append(forward(self, tokens_BT))
        return kept[-1]

    try:
        with patched(LM, forward=keeping):
            yield
    finally:
        kept.clear()
