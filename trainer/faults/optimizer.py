"""Faults of the optimizers, their grouping and their schedule; careful that guards which would stop one (the partition) are taken away with it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Adam, AdamW, Optimizer

from trainer import optim, step
from trainer.config import Config
from trainer.faults.catalogue import fault, patched
from trainer.model import LM

Split = dict[str, dict[str, nn.Parameter]]
GROUPS = "optimizer parameter groups"
FENCE = "optimizer dimensionality fence"
STATE = "optimizer state"
RACE = "host/device synchronisation race"


@contextlib.contextmanager
def around_steps(*, before: Callable[[Optimizer], None] | None = None, after: Callable[[Optimizer], None] | None = None) -> Iterator[None]:
    """Called before or after each step of every optimizer that is made meanwhile; the hooks leave with the fault."""
    make, handles = optim.optimizers, list[Any]()

    def hooked(model: LM, config: Config) -> dict[str, Optimizer]:
        found = make(model, config)
        for optimizer in found.values():
            if before:
                handles.append(optimizer.register_step_pre_hook(lambda o, _args, _kwargs: before(o)))
            if after:
                handles.append(optimizer.register_step_post_hook(lambda o, _args, _kwargs: after(o)))
        return found

    try:
        with patched(optim, optimizers=hooked):
            yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def split_by(change: Callable[[Split], None]) -> Iterator[None]:
    """The grouping changed in place, and the assertion that it is a partition gone."""
    by_role = optim.by_role

    def changed(model: LM, config: Config) -> Split:
        split = by_role(model, config)
        change(split)
        return split

    with patched(optim, by_role=changed, assert_partition=lambda _model, _groups: None):
        yield


def parameters(optimizer: Optimizer) -> list[nn.Parameter]:
    return [p for group in optimizer.param_groups for p in group["params"]]


@fault(FENCE, shows_in="updates")
def muon_on_embeddings() -> Iterator[None]:
    """The split is by number of axes: embedding and head are matrices, so Muon gets them, and every token's row moves at every step."""

    def change(split: Split) -> None:
        split["muon"] |= {name: split["adamw"].pop(name) for name, p in list(split["adamw"].items()) if p.ndim == 2}

    with split_by(change):
        yield


@fault(FENCE, shows_in="updates")
def muon_on_3d() -> Iterator[None]:
    """Muon takes each matrix as two stacked ones and flattens them to two long rows: what is made orthogonal is not the matrix."""
    orthogonal = optim.orthogonal

    def flattened(g_XRC: Tensor) -> Tensor:
        return orthogonal(g_XRC.reshape(len(g_XRC), 2, -1)).reshape(g_XRC.shape)

    with patched(optim, orthogonal=flattened):
        yield


@fault(FENCE, shows_in="updates")
def muon_scale_lost() -> Iterator[None]:
    """Tall matrices lose the factor sqrt(rows / columns): they learn slower than wide ones."""
    orthogonal = optim.orthogonal

    def unscaled(g_XRC: Tensor) -> Tensor:
        return orthogonal(g_XRC) / math.sqrt(max(1.0, g_XRC.shape[-2] / g_XRC.shape[-1]))

    with patched(optim, orthogonal=unscaled):
        yield


@fault(FENCE, shows_in="updates")
def newton_schulz_once() -> Iterator[None]:
    """One Newton-Schulz step instead of five: the update stays far from orthogonal, and its size depends on the gradient's spectrum."""
    with patched(optim, STEPS=1):
        yield


class _Uncorrected(AdamW):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for p in parameters(self):  # after a million steps the corrections are 1
            count = torch.tensor(1e6, device=p.device)
            self.state[p] = {"step": count, "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}


@fault(STATE, shows_in="updates")
def no_bias_correction() -> Iterator[None]:
    """Adam's moments are used as if they had been filled for ever: the first steps are far too large for these betas."""
    with patched(optim, AdamW=_Uncorrected):
        yield


@fault(STATE, shows_in="updates")
def optimizer_state_shape() -> Iterator[None]:
    """Adam's accumulators are one row out of step with the weights, as after a change of sequence length that moved one and not the other."""

    def roll(optimizer: Optimizer) -> None:
        for state in optimizer.state.values():
            for key in ("exp_avg", "exp_avg_sq"):
                if key in state and state[key].ndim:
                    state[key].copy_(state[key].roll(1, 0))

    with around_steps(after=roll):
        yield


@fault(STATE, shows_in="updates")
def betas_swapped() -> Iterator[None]:
    """Adam's two betas change places."""

    def swapped(groups: Any, *, betas: tuple[float, float], **rest: Any) -> AdamW:
        return AdamW(groups, betas=betas[::-1], **rest)

    with patched(optim, AdamW=swapped):
        yield


@fault(STATE, shows_in="updates")
def adam_eps_large() -> Iterator[None]:
    """Adam's epsilon is larger than the gradients: parameters with small ones hardly move."""
    with patched(optim, EPS=1e-2):
        yield


@fault(GROUPS, shows_in="updates")
def forgotten_parameters() -> Iterator[None]:
    """The value projections are in no optimizer: they have gradients and never learn."""

    def change(split: Split) -> None:
        for group in split.values():
            for name in [name for name in group if name.endswith("value.weight")]:
                del group[name]

    with split_by(change):
        yield


@fault(GROUPS, shows_in="updates")
def duplicated_parameters() -> Iterator[None]:
    """The value projections are in both optimizers: two updates a step."""

    def change(split: Split) -> None:
        split["adamw"] |= {name: p for name, p in split["muon"].items() if name.endswith("value.weight")}

    with split_by(change):
        yield


@fault(GROUPS, shows_in="updates", weight_decay=0.5)
def decay_everywhere() -> Iterator[None]:
    """Weight decay also on norms, scales and embeddings: gains are pulled to 0, unseen tokens forget."""

    def change(split: Split) -> None:
        split["adamw_decayed"] |= split["adamw"]
        split["adamw"] = {}

    with split_by(change):
        yield


@fault(GROUPS, shows_in="updates", optimizer="adamw", weight_decay=0.1)
def coupled_weight_decay() -> Iterator[None]:
    """Adam with an L2 term where AdamW was meant: the decay is divided by the gradient's size."""
    with patched(optim, AdamW=Adam):
        yield


@fault("schedule", shows_in="updates")
def doubled_scheduler() -> Iterator[None]:
    """The schedule is stepped twice a step: warm-up and decay end at half of the run."""
    factor = optim.factor
    with patched(optim, factor=lambda at, config: factor(2 * at, config)):
        yield


@fault("schedule", shows_in="updates")
def warmup_missing() -> Iterator[None]:
    """The first step has the peak learning rate."""
    factor = optim.factor
    with patched(optim, factor=lambda at, config: factor(max(at, config.warmup), config)):
        yield


@fault("accumulation", shows_in="updates")
def zero_grad_forgotten() -> Iterator[None]:
    """Muon's gradients are never set to zero: each step also takes all earlier ones."""
    with patched(optim.Muon, zero_grad=lambda _self, set_to_none=True: None):  # noqa: ARG005  torch's signature
        yield


@fault("clipping", shows_in="updates", clip=0.05)
def clip_per_parameter() -> Iterator[None]:
    """Each parameter's gradient is clipped by its own norm: the whole gradient turns."""

    def each(model: nn.Module, _norm: float, limit: float) -> None:
        for p in model.parameters():
            if limit and p.grad is not None and (own := float(p.grad.norm())) > limit:
                p.grad.mul_(limit / own)

    with patched(step, clip=each):
        yield


def _delayed(values: Callable[[nn.Parameter], Tensor]) -> Callable[[Optimizer], None]:
    """Before each step, ``values`` of a parameter become what they were one step ago."""
    previous: dict[nn.Parameter, Tensor] = {}

    def delay(optimizer: Optimizer) -> None:
        for p in parameters(optimizer):
            if p.grad is None:
                continue
            with torch.no_grad():
                now = values(p)
                old, previous[p] = previous.get(p), now.detach().clone()
                if old is not None:
                    now.copy_(old)

    return delay


@fault(RACE, shows_in="updates")
def stale_weights() -> Iterator[None]:
    """The optimizer adds its update to a copy of the weights that is one step old: every other update is lost."""
    with around_steps(before=_delayed(lambda p: p)):
        yield


@fault(RACE, shows_in="updates")
def stale_gradients() -> Iterator[None]:
    """The optimizer reads the gradients of the step before, because the copy of this step's has not arrived."""
    with around_steps(before=_delayed(lambda p: p.grad)):
        yield


@fault("memory", shows_in="cost")
def optimizer_memory() -> Iterator[None]:
    """Each step leaves a copy of the optimizer's state behind: the same numbers, and memory that grows until it ends."""
    kept: list[Sequence[Tensor]] = []

    def copy(optimizer: Optimizer) -> None:
        kept.append([tensor.clone() for state in optimizer.state.values() for tensor in state.values()])

    try:
        with around_steps(after=copy):
            yield
    finally:
        kept.clear()
