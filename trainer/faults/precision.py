"""Faults of precision: what is rounded where it must not be; careful that each rounds one thing only, so that its size can be measured alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim import Optimizer

from trainer import model as healthy
from trainer.config import Config
from trainer.faults.catalogue import fault, patched
from trainer.faults.model import attending
from trainer.faults.optimizer import around_steps, parameters

LOW = "low precision"
LM, PADDING = healthy.LM, healthy.PADDING


def rounded(x: Tensor, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return x.to(dtype).to(x.dtype)


@contextlib.contextmanager
def accumulated(change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Each gradient changed after each micro-batch was added to it; the hooks leave with the fault."""
    make, handles = LM.__init__, list[torch.utils.hooks.RemovableHandle]()

    def change_in_place(p: Tensor) -> None:
        p.grad.copy_(change(p.grad))

    def init(self: healthy.LM, config: Config) -> None:
        make(self, config)
        for p in self.parameters():
            handles.append(p.register_post_accumulate_grad_hook(change_in_place))

    try:
        with patched(LM, __init__=init):
            yield
    finally:
        for handle in handles:
            handle.remove()


@fault(LOW, shows_in="loss")
def bf16_sums() -> Iterator[None]:
    """The tokens' losses are added one by one in bfloat16: beyond 256 x the size of one, adding it changes nothing."""

    def loss(self: healthy.LM, tokens_BT1: Tensor) -> tuple[Tensor, Tensor]:
        logits_BTV, targets_BT = self(tokens_BT1[:, :-1].clamp_min(0)), tokens_BT1[:, 1:]
        each = F.cross_entropy(logits_BTV.flatten(0, 1).float(), targets_BT.flatten(), ignore_index=PADDING, reduction="none")
        total = torch.zeros((), dtype=torch.bfloat16, device=each.device)
        for one in each.bfloat16():
            total = total + one
        return total.float(), (targets_BT != PADDING).sum()

    with patched(LM, loss=loss):
        yield


@fault(LOW, shows_in="logits")
def bf16_logits() -> Iterator[None]:
    """Logits are rounded to bfloat16 before the softmax of the loss: near ties are ties."""
    forward = LM.forward
    with patched(LM, forward=lambda self, tokens_BT: rounded(forward(self, tokens_BT))):
        yield


@fault(LOW, shows_in="logits")
def bf16_attention() -> Iterator[None]:
    """Attention runs in bfloat16, softmax and sums included, in a run that says float32."""
    with attending(lambda attend: lambda q, k, v: attend(q.bfloat16(), k.bfloat16(), v.bfloat16()).to(q.dtype)):
        yield


@fault(LOW, shows_in="logits")
def bf16_norm() -> Iterator[None]:
    """The norm's mean square and its root are kept in bfloat16."""

    def forward(self: healthy.RMSNorm, x_BTD: Tensor) -> Tensor:
        x = x_BTD.bfloat16()
        return (x * (x.square().mean(-1, keepdim=True) + healthy.EPS).rsqrt()).to(x_BTD.dtype) * self.weight

    with patched(healthy.RMSNorm, forward=forward):
        yield


@fault(LOW, shows_in="logits")
def bf16_angles() -> Iterator[None]:
    """Position x frequency is rounded to bfloat16: from position 256 on, neighbours share an angle."""

    def angles(length: int, channels: int, base: float) -> tuple[Tensor, Tensor]:
        frequency_H = base ** (-torch.arange(0, channels, 2, dtype=torch.float64) / channels)
        angle_TH = rounded(torch.arange(length, dtype=torch.float64)[:, None] * frequency_H)
        return angle_TH.cos().float(), angle_TH.sin().float()

    with patched(healthy, angles=angles):
        yield


@fault(LOW, shows_in="logits", situation="zero embedding")
def eps_underflow() -> Iterator[None]:
    """The norm's epsilon, 1e-8, is kept in half precision, where it is 0: a token whose channels are all zero becomes NaN."""
    with patched(healthy, EPS=float(torch.tensor(1e-8).half())):
        yield


@fault(LOW, shows_in="gradients")
def bf16_gradient_sums() -> Iterator[None]:
    """Micro-batches' gradients are accumulated in bfloat16."""
    with accumulated(rounded):
        yield


@fault(LOW, shows_in="gradients")
def half_gradients() -> Iterator[None]:
    """Gradients pass through half precision without a loss scale: those below 3e-8 vanish."""
    with accumulated(lambda gradient: rounded(gradient, torch.float16)):
        yield


@fault(LOW, shows_in="updates")
def bf16_stall() -> Iterator[None]:
    """There is no float32 master copy: updates below 1/256 of a weight vanish when it is rounded."""

    def round_weights(optimizer: Optimizer) -> None:
        with torch.no_grad():
            for p in parameters(optimizer):
                p.copy_(rounded(p))

    with around_steps(after=round_weights):
        yield


@fault(LOW, shows_in="updates")
def bf16_second_moment() -> Iterator[None]:
    """Adam's second moment is kept in bfloat16: with beta2 near 1 it stops falling."""

    def round_state(optimizer: Optimizer) -> None:
        for state in optimizer.state.values():
            if "exp_avg_sq" in state:
                state["exp_avg_sq"].copy_(rounded(state["exp_avg_sq"]))

    with around_steps(after=round_state):
        yield
