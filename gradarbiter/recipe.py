"""Which rule updates each parameter, as its user means it, computed in float64; careful to take nothing from the optimizer that is examined.

    Recipe({"layers.*weight": muon(0.02), "*": adamw(3e-4, weight_decay=0.1)}, clip=1.0, schedule=lambda step: min(1, (step + 1) / 100))

Sources: Adam: Kingma and Ba 2015, algorithm 1. AdamW: Loshchilov and Hutter 2019, algorithm 2. SGD: `torch.optim.SGD`. Muon: Jordan 2024
(kellerjordan.github.io/posts/muon), as `torch.optim.Muon` has it; a tensor with more than two axes is the matrix (first axis, all others).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, Protocol

import numpy as np

from gradarbiter.core import Array

State = dict[str, Array]
Scale = Literal[
    "original", "match_rms_adamw", "none"
]  # as torch's adjust_lr_fn: sqrt(max(1, rows / columns)), 0.2 sqrt(max(rows, columns)), 1
FLOAT32, BFLOAT16 = 2.0**-24, 2.0**-8  # unit roundoff


class Rule(Protocol):
    """``move`` returns the weight after a step, and changes the state (empty before the first). Step sizes are ``share`` of their peak.

    With ``noise``, each result that an optimizer keeps in its own precision is off by about one rounding: what healthy float32 may differ by.
    """

    @property
    def lr(self) -> float: ...

    def move(self, weight: Array, gradient: Array, state: State, share: float, noise: np.random.Generator | None = None) -> Array: ...


@dataclass(frozen=True, kw_only=True)
class Adam:
    lr: float
    beta1: float
    beta2: float
    eps: float
    weight_decay: float
    coupled: bool  # decay is a part of the gradient (Adam's L2 term) and not of the step (AdamW)
    eps_hat: bool  # eps is added before the second moment is corrected: larger in the first steps
    corrected: bool

    def move(self, weight: Array, gradient: Array, state: State, share: float, noise: np.random.Generator | None = None) -> Array:
        step, zero = self.lr * share, np.zeros_like(weight)
        count = int(state.get("count", np.zeros(()))) + 1
        gradient = gradient + self.weight_decay * weight if self.coupled else gradient
        first = self.beta1 * state.get("first", zero) + (1 - self.beta1) * gradient
        second = self.beta2 * state.get("second", zero) + (1 - self.beta2) * gradient**2
        first, second = _shaken(first, noise), _shaken(second, noise)
        state |= {"count": np.array(count), "first": first, "second": second}
        rounded = 1.0 if noise is None else 1 - FLOAT32  # 1 - beta2^n of a beta2 in float32 is off by 1 / (1 - beta2) roundings
        corrections = (1 - (rounded * self.beta1) ** count, 1 - (rounded * self.beta2) ** count) if self.corrected else (1.0, 1.0)
        kept = weight if self.coupled else weight * (1 - step * self.weight_decay)
        eps = self.eps / math.sqrt(corrections[1]) if self.eps_hat else self.eps
        return np.asarray(kept - step * (first / corrections[0]) / (np.sqrt(second / corrections[1]) + eps))


@dataclass(frozen=True, kw_only=True)
class SGD:
    lr: float
    momentum: float
    nesterov: bool
    weight_decay: float

    def move(self, weight: Array, gradient: Array, state: State, share: float, noise: np.random.Generator | None = None) -> Array:
        gradient = gradient + self.weight_decay * weight
        buffer = _shaken(self.momentum * state.get("buffer", np.zeros_like(weight)) + gradient, noise)
        state["buffer"] = buffer
        direction = gradient + self.momentum * buffer if self.nesterov else buffer
        return np.asarray(weight - self.lr * share * direction)


@dataclass(frozen=True, kw_only=True)
class Muon:
    lr: float
    momentum: float
    weight_decay: float
    nesterov: bool
    coefficients: tuple[float, float, float]
    steps: int
    scale: Scale
    unit: float  # roundoff of the products

    def move(self, weight: Array, gradient: Array, state: State, share: float, noise: np.random.Generator | None = None) -> Array:
        buffer = self.momentum * state.get("buffer", np.zeros_like(weight)) + (1 - self.momentum) * gradient
        state["buffer"] = buffer = _shaken(buffer, noise)
        direction = (1 - self.momentum) * gradient + self.momentum * buffer if self.nesterov else buffer
        matrix = direction.reshape(len(direction), -1) if direction.ndim > 1 else direction.reshape(1, -1)
        update = newton_schulz(matrix, self.coefficients, self.steps, noise, self.unit).reshape(weight.shape)
        step = self.lr * share
        return np.asarray(weight * (1 - step * self.weight_decay) - step * self._factor(*matrix.shape) * update)

    def _factor(self, rows: int, columns: int) -> float:
        return {"original": math.sqrt(max(1, rows / columns)), "match_rms_adamw": 0.2 * math.sqrt(max(rows, columns)), "none": 1.0}[
            self.scale
        ]


@dataclass(frozen=True)
class Recipe:
    """``rules``: pattern of names -> rule, the first that matches. ``clip``: the largest norm of all gradients together. ``schedule(n)``: share of ``lr`` at
    step n, from 0.
    """

    rules: Mapping[str, Rule]
    clip: float | None = None
    schedule: Callable[[int], float] = lambda _: 1.0

    def rule(self, name: str) -> Rule:
        for pattern, rule in self.rules.items():
            if fnmatchcase(name, pattern):
                return rule
        raise ValueError(
            f"found:   no rule for {name}\nwanted:  a pattern that matches it\ndo this: add it to the recipe's rules, or freeze the parameter"
        )

    def clipped(self, gradients: Mapping[str, Array | None]) -> dict[str, Array | None]:
        """In float64, shortened together."""
        wide = {name: None if g is None else g.astype(np.float64) for name, g in gradients.items()}
        size = math.sqrt(sum(float((g * g).sum()) for g in wide.values() if g is not None))
        if not self.clip or not size > self.clip:
            return wide
        return {name: None if g is None else g * (self.clip / size) for name, g in wide.items()}


def adamw(
    lr: float,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.01,
    eps_hat: bool = False,
    bias_correction: bool = True,
) -> Rule:
    """``eps_hat``: as keras and TensorFlow have it, the second form in Kingma and Ba's section 2. mlx's default is no ``bias_correction``."""
    return Adam(
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
        coupled=False,
        eps_hat=eps_hat,
        corrected=bias_correction,
    )


def adam(lr: float, *, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, weight_decay: float = 0.0) -> Rule:
    """``weight_decay`` is added to the gradient, as torch.optim.Adam does."""
    return Adam(lr=lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay, coupled=True, eps_hat=False, corrected=True)


def sgd(lr: float, *, momentum: float = 0.0, nesterov: bool = False, weight_decay: float = 0.0) -> Rule:
    return SGD(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)


def muon(
    lr: float,
    *,
    momentum: float = 0.95,
    weight_decay: float = 0.1,
    nesterov: bool = True,
    coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
    steps: int = 5,
    scale: Scale = "original",
    dtype: Literal["bfloat16", "float32"] = "bfloat16",
) -> Rule:
    """``dtype``: what Newton-Schulz computes in."""
    return Muon(
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        nesterov=nesterov,
        coefficients=coefficients,
        steps=steps,
        scale=scale,
        unit=BFLOAT16 if dtype == "bfloat16" else FLOAT32,
    )


def newton_schulz(
    matrix: Array, coefficients: tuple[float, float, float], steps: int, noise: np.random.Generator | None = None, unit: float = FLOAT32
) -> Array:
    """Nearly U V' of the singular value decomposition. With ``noise`` in float32, which rounds by itself; what rounds more is shaken."""
    a, b, c = coefficients
    x = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    x = x / (np.linalg.norm(x) + 1e-7)  # keeps an all-zero matrix zero
    coarse = unit > FLOAT32
    x = x.astype(np.float32 if coarse or noise is not None else np.float64)  # bfloat16 is far from either, and float32 costs half
    noise = noise if coarse else None
    x = _shaken(x, noise, unit)
    for _ in range(steps):
        gram = _shaken(x @ x.T, noise, unit)
        x = _shaken(a * x + _shaken(b * gram + c * gram @ gram, noise, unit) @ x, noise, unit)
    return np.asarray(x if matrix.shape[0] <= matrix.shape[1] else x.T, dtype=np.float64)


def _shaken(value: Array, noise: np.random.Generator | None, unit: float = FLOAT32) -> Array:
    return value if noise is None else np.asarray(value * (1 + unit * noise.standard_normal(value.shape, dtype=np.float32)))
