"""Faults of the model: attention, norms, the residual stream; careful that shapes stay right, so that nothing but the numbers can tell.

Shapes as in `trainer.model`: B sequences, T positions, N query heads, K key heads, H channels of a head (of half a head in the angles), D width.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from trainer import attention
from trainer import model as healthy
from trainer.config import Config
from trainer.faults.catalogue import fault, patched

Attend = attention.Attend
NO_BACKWARD = "no-backward fused op"


class _NoBackward(torch.autograd.Function):
    """Forward to the bit, gradient zero: what a fused operation without a backward does in a framework that does not complain."""

    @staticmethod
    def forward(_ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(_ctx: Any, *gradient: Tensor) -> Tensor:
        return torch.zeros_like(gradient[0])


def no_backward(x: Tensor) -> Any:
    return _NoBackward.apply(x)


@contextlib.contextmanager
def attending(change: Callable[[Attend], Attend]) -> Iterator[None]:
    """Every attention of the model replaced by ``change`` of it."""
    plan = attention.plan
    with patched(attention, plan=lambda length, window, device: change(plan(length, window, device))):
        yield


@contextlib.contextmanager
def built(change: Callable[[healthy.LM, Config], None]) -> Iterator[None]:
    """Every new model changed after it is made."""
    make = healthy.LM.__init__

    def init(self: healthy.LM, config: Config) -> None:
        make(self, config)
        change(self, config)

    with patched(healthy.LM, __init__=init):
        yield


@fault("attention mask", shows_in="logits")
def causal_leak() -> Iterator[None]:
    """Each query sees the key and value one after its own: the answer. The loss looks wonderful."""

    def next_one(x_BTKH: Tensor) -> Tensor:
        return torch.cat([x_BTKH[:, 1:], x_BTKH[:, -1:]], 1)

    with attending(lambda attend: lambda q, k, v: attend(q, next_one(k), next_one(v))):
        yield


@fault("attention mask", shows_in="logits")
def window_off_by_one() -> Iterator[None]:
    """A query sees one key more than the window says."""
    plan = attention.plan
    with patched(attention, plan=lambda length, window, device: plan(length, window + 1, device)):
        yield


@fault("memory / footgun", shows_in="logits")
def window_ignored() -> Iterator[None]:
    """Full causal attention whatever the window: quadratic work and memory, and another model than the one that is served."""
    plan = attention.plan
    with patched(attention, plan=lambda length, _, device: plan(length, length, device)):
        yield


@fault("contiguity / memory layout", shows_in="logits")
def layout_mismatch() -> Iterator[None]:
    """The heads' output is read in the memory order of (head, position) as if it were (position, head)."""
    with attending(lambda attend: lambda q, k, v: (out := attend(q, k, v)).transpose(1, 2).reshape(out.shape)):
        yield


@fault("contiguity / memory layout", shows_in="logits")
def gqa_interleaved() -> Iterator[None]:
    """Query head n reads key head n mod K where the layout says n // G: repeat instead of repeat_interleave."""

    def change(attend: Attend) -> Attend:
        def mixed(q_BTNH: Tensor, k_BTKH: Tensor, v_BTKH: Tensor) -> Tensor:
            heads, kv_heads = q_BTNH.shape[2], k_BTKH.shape[2]
            order_N = torch.arange(heads, device=q_BTNH.device).view(-1, kv_heads).T.flatten()
            return attend(q_BTNH[:, :, order_N], k_BTKH, v_BTKH)[:, :, order_N.argsort()]

        return mixed

    with attending(change):
        yield


@fault(NO_BACKWARD, shows_in="gradients")
def rms_norm_no_backward() -> Iterator[None]:
    """The fused norm has no backward: what is before it in a branch, and its own weight, get a zero gradient."""
    forward = healthy.RMSNorm.forward
    with patched(healthy.RMSNorm, forward=lambda self, x_BTD: no_backward(forward(self, x_BTD))):
        yield


@fault(NO_BACKWARD, shows_in="gradients")
def rms_norm_half_backward() -> Iterator[None]:
    """The norm's backward takes the root mean square for a constant: finite, not zero, and wrong (only parity with a reference tells)."""

    def forward(self: healthy.RMSNorm, x_BTD: Tensor) -> Tensor:
        out = F.rms_norm(x_BTD, self.weight.shape, eps=healthy.EPS)
        ratio = (out / torch.where(x_BTD == 0, 1.0, x_BTD)).detach()
        # the value of out to the bit, the gradient of x * constant
        return (out.detach() + (x_BTD - x_BTD.detach()) * ratio) * self.weight.to(x_BTD.dtype)

    with patched(healthy.RMSNorm, forward=forward):
        yield


@fault(NO_BACKWARD, shows_in="gradients")
def attention_no_backward() -> Iterator[None]:
    """Fused attention has no backward: query, key and value are frozen, the output projection learns on."""
    with attending(lambda attend: lambda q, k, v: no_backward(attend(q, k, v))):
        yield


@fault("detached graph", shows_in="gradients")
def detached_residual() -> Iterator[None]:
    """The stream is detached where a branch is added: lower layers learn through the branches alone."""
    add = healthy.Layer._add  # noqa: SLF001

    def cut(self: healthy.Layer, x_BTD: Tensor, branch_BTD: Tensor, scale: Tensor | None) -> Tensor:
        return add(self, x_BTD.detach(), branch_BTD, scale)

    with patched(healthy.Layer, _add=cut):
        yield


@fault("evaluation", shows_in="logits", dropout=0.3)
def dropout_in_eval() -> Iterator[None]:
    """Channels are dropped in evaluation too: every score is lower than the model, and differs from call to call."""

    def add(self: healthy.Layer, x_BTD: Tensor, branch_BTD: Tensor, scale: Tensor | None) -> Tensor:
        branch_BTD = F.dropout(branch_BTD, self.dropout, training=True)
        return x_BTD + (branch_BTD if scale is None else scale * branch_BTD)

    with patched(healthy.Layer, _add=add):
        yield


@fault("initialisation", shows_in="logits")
def hot_initialisation() -> Iterator[None]:
    """The head starts eight times too loud: the first loss is far above ln V (the paper's random twin was, by its own numbers)."""

    def louder(model: healthy.LM, _config: Config) -> None:
        (model.embedding if model.head is None else model.head).weight.data.mul_(8)

    with built(louder):
        yield


@fault("gradient flow", shows_in="gradients", head="tied")
def tied_weights_untied() -> Iterator[None]:
    """The head is a copy of the embedding instead of the embedding: equal at first, then two matrices, each with half of the gradient."""

    def untie(model: healthy.LM, config: Config) -> None:
        with torch.random.fork_rng(devices=[]):  # the copy must not shift what is drawn later
            model.head = nn.Linear(config.width, config.padded_vocab, bias=False)
        model.head.weight.data.copy_(model.embedding.weight)

    with built(untie):
        yield


@fault("gradient flow", shows_in="gradients")
def frozen_parameters() -> Iterator[None]:
    """The first layer's feed-forward asks for no gradient, left over from a fine-tuning recipe."""

    def freeze(model: healthy.LM, _config: Config) -> None:
        model.layers[0].ffn.requires_grad_(requires_grad=False)

    with built(freeze):
        yield


@fault("slow path", shows_in="cost")
def mask_rebuilt() -> Iterator[None]:
    """The mask is made again in every layer instead of once a step: the same numbers, later."""
    forward = healthy.Attention.forward

    def rebuilding(self: healthy.Attention, x_BTD: Tensor, cos_TH: Tensor, sin_TH: Tensor, _attend: Attend) -> Tensor:
        return forward(self, x_BTD, cos_TH, sin_TH, attention.plan(x_BTD.shape[1], self.window, x_BTD.device))

    def tell(model: healthy.LM, config: Config) -> None:
        for layer in model.layers:
            layer.attention.window = config.window

    with built(tell), patched(healthy.Attention, forward=rebuilding):
        yield
