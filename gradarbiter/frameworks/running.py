"""What is read from a PyTorch loop while it runs; careful to wait for the device once a reading and to keep no copy of a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def trained(model: nn.Module) -> dict[str, Tensor]:
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def held(optimizers: Iterable[Any]) -> set[int]:
    return {id(parameter) for optimizer in optimizers for group in optimizer.param_groups for parameter in group["params"]}


def norms(parameters: Mapping[str, Tensor]) -> dict[str, float | None]:
    """Euclidean, in float32 or wider; None: no gradient."""
    found = {name: parameter.grad.detach() for name, parameter in parameters.items() if parameter.grad is not None}
    if not found:
        return dict.fromkeys(parameters)
    device = next(iter(found.values())).device
    sizes = [torch.linalg.vector_norm(g, dtype=torch.promote_types(g.dtype, torch.float32)).double().to(device) for g in found.values()]
    return {**dict.fromkeys(parameters), **dict(zip(found, torch.stack(sizes).tolist(), strict=True))}


def sums(parameters: Mapping[str, Tensor]) -> dict[str, int]:
    """A sum of each parameter's bits: an update that changes any of them changes it, but for a chance of 2^-64."""
    device = next(iter(parameters.values())).device
    found = [p.detach().view(BITS[p.element_size()]).sum(dtype=torch.int64).to(device) for p in parameters.values()]
    return dict(zip(parameters, torch.stack(found).tolist(), strict=True))
