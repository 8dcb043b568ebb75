"""Muon for hidden matrices, fused AdamW for the rest; careful that the split is by role and a partition: a parameter in no group would silently never learn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from trainer.config import Config
from trainer.errors import refusal
from trainer.model import LM

Named = Mapping[str, nn.Parameter]
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # Keller Jordan's: steep at 0; singular values end in about 0.7 ... 1.2, not at 1
STEPS = 5
EPS = 1e-10  # torch's 1e-8 is as large as a large model's gradients, and would silently slow the parameters that have the smallest
TINY = 1e-7  # keeps an all-zero matrix zero; gradients under clip = 1 are far above it


def optimizers(model: LM, config: Config) -> dict[str, Optimizer]:
    """One optimizer a kind, each of its groups with the learning rate ``peak`` that `set_rates` scales."""
    split = by_role(model, config)
    assert_partition(model, split.values())
    found: dict[str, Optimizer] = {}
    if split["muon"]:
        muon = [{"params": list(split["muon"].values()), "peak": config.muon_lr}]
        found["muon"] = Muon(muon, lr=config.muon_lr, momentum=config.momentum, weight_decay=config.weight_decay)
    groups = [
        {"params": list(split[name].values()), "peak": config.lr, "weight_decay": decay}
        for name, decay in (("adamw_decayed", config.weight_decay), ("adamw", 0.0))
        if split[name]
    ]
    found["adamw"] = AdamW(groups, lr=config.lr, betas=(config.beta1, config.beta2), eps=EPS, fused=True)  # foreach is 3x slower on a CPU
    return found


def by_role(model: LM, config: Config) -> dict[str, dict[str, nn.Parameter]]:
    """Which optimizer a parameter belongs to. Decay is for hidden matrices: it would pull a scale of 1 to 0, and an unseen token's embedding too."""
    matrices = "muon" if config.optimizer == "muon" else "adamw_decayed"
    split: dict[str, dict[str, nn.Parameter]] = {"muon": {}, "adamw_decayed": {}, "adamw": {}}
    roles = model.roles()
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        split[matrices if roles[name] == "matrix" else "adamw"][name] = parameter
    return split


def assert_partition(model: nn.Module, groups: Iterable[Named]) -> None:
    """Every trainable parameter is in exactly one group, under its own name, and nothing else is in any."""
    wanted = {name: id(p) for name, p in model.named_parameters() if p.requires_grad}
    found: dict[str, int] = {}
    for group in groups:
        for name, parameter in group.items():
            assert name not in found, f"{name} is in two optimizer groups"
            found[name] = id(parameter)
    lost, foreign = wanted.items() - found.items(), found.items() - wanted.items()
    assert not lost, f"in no optimizer group: {sorted(name for name, _ in lost)}"
    assert not foreign, f"not a trainable parameter of the model: {sorted(name for name, _ in foreign)}"


def factor(step: int, config: Config) -> float:
    """The share of the peak learning rate at a step (0-based): a pure function, so a resume needs the step alone."""
    if step < config.warmup:
        return (step + 1) / config.warmup
    if config.decay == "none":
        return 1.0
    done = min(1.0, (step - config.warmup) / max(1, config.steps - 1 - config.warmup))
    fall = 1 - done if config.decay == "linear" else (1 + math.cos(math.pi * done)) / 2
    return config.final + (1 - config.final) * fall


def set_rates(chosen: Mapping[str, Optimizer], share: float) -> dict[str, float]:
    """Set each group's rate to its peak x ``share``; the rate of each optimizer, for the log."""
    for optimizer in chosen.values():
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * share
    return {name: optimizer.param_groups[0]["lr"] for name, optimizer in chosen.items()}


class Muon(Optimizer):
    """Momentum, then the nearest (semi-)orthogonal matrix: every direction of the update gets about the same size."""

    def __init__(self, params: Any, *, lr: float, momentum: float, weight_decay: float) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise refusal(
                        f"a parameter of shape {tuple(p.shape)}", "a matrix: Muon is not defined for other shapes", "give it to AdamW"
                    )

    def step(self, closure: Callable[[], float] | None = None) -> None:
        assert closure is None, "this optimizer evaluates nothing again"
        for group in self.param_groups:
            by_shape: dict[tuple[int, int], list[nn.Parameter]] = defaultdict(list)
            for p in group["params"]:
                if p.grad is not None:
                    by_shape[tuple(p.shape)].append(p)
            with torch.no_grad():
                for alike in by_shape.values():
                    self._step_alike(alike, lr=group["lr"], momentum=group["momentum"], weight_decay=group["weight_decay"])

    def _step_alike(self, alike: list[nn.Parameter], *, lr: float, momentum: float, weight_decay: float) -> None:
        """Matrices of one shape in one batched product."""
        directions = []
        for p in alike:
            state = self.state[p]
            if not state:
                state["momentum_buffer"] = torch.zeros_like(p)
            buffer = state["momentum_buffer"]
            buffer.lerp_(p.grad, 1 - momentum)
            directions.append(p.grad.lerp(buffer, momentum))  # Nesterov's look ahead
        rows, columns = alike[0].shape  # nn.Linear keeps (out, in)
        scale = math.sqrt(max(1.0, rows / columns))  # a tall matrix has to stretch its input by this to keep the channels' size
        for p, update in zip(alike, orthogonal(torch.stack(directions)), strict=True):
            p.mul_(1 - lr * weight_decay).add_(update, alpha=-lr * scale)


def orthogonal(g_XRC: Tensor) -> Tensor:
    """U V' of each matrix's singular value decomposition, nearly: Newton-Schulz, in bfloat16 on a GPU and float32 on a CPU."""
    a, b, c = COEFFICIENTS
    x = g_XRC.to(torch.bfloat16 if g_XRC.is_cuda else g_XRC.dtype)
    wide = x.shape[-2] <= x.shape[-1]
    x = x if wide else x.mT  # the Gram matrix is of the shorter side
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + TINY)
    for _ in range(STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x if wide else x.mT).to(g_XRC.dtype)
