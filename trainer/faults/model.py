"""Faults of the model: position, attention, norms, the residual stream; careful that shapes stay right, so that nothing but the numbers can tell.

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
ROPE = "RoPE axis swap"


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
def rotating(turn: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Iterator[None]:
    with patched(healthy, rotate=turn):
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


@fault(ROPE, shows_in="logits")
def rope_axis() -> Iterator[None]:
    """The rotation goes over the head axis instead of the position axis: no crash, and position has no effect."""

    def turn(x_BTNH: Tensor, cos_TH: Tensor, sin_TH: Tensor) -> Tensor:
        left, right = x_BTNH.chunk(2, -1)
        cos_NH, sin_NH = (table_TH[torch.arange(x_BTNH.shape[2]) % len(table_TH)] for table_TH in (cos_TH, sin_TH))
        return torch.cat([left * cos_NH - right * sin_NH, right * cos_NH + left * sin_NH], -1).to(x_BTNH.dtype)

    with rotating(turn):
        yield


@fault(ROPE, shows_in="logits")
def rope_missing() -> Iterator[None]:
    """Queries and keys are not rotated at all: order is seen only through the window and the mask."""
    with rotating(lambda x_BTNH, _cos, _sin: x_BTNH):
        yield


@fault(ROPE, shows_in="logits")
def rope_interleaved() -> Iterator[None]:
    """Channels are paired (2i, 2i + 1) where the weights' layout pairs (i, i + H/2): harmless from scratch, ruinous for imported weights."""

    def turn(x_BTNH: Tensor, cos_TH: Tensor, sin_TH: Tensor) -> Tensor:
        even, odd = x_BTNH[..., ::2], x_BTNH[..., 1::2]
        cos, sin = cos_TH[:, None], sin_TH[:, None]
        return torch.stack([even * cos - odd * sin, odd * cos + even * sin], -1).flatten(-2).to(x_BTNH.dtype)

    with rotating(turn):
        yield


@fault(ROPE, shows_in="logits")
def rope_half() -> Iterator[None]:
    """Only the fast half of the frequencies turns; the other channels carry no position."""
    turn = healthy.rotate

    def half(x_BTNH: Tensor, cos_TH: Tensor, sin_TH: Tensor) -> Tensor:
        slow = torch.arange(cos_TH.shape[1], device=cos_TH.device) >= cos_TH.shape[1] // 2
        return turn(x_BTNH, cos_TH.masked_fill(slow, 1.0), sin_TH.masked_fill(slow, 0.0))

    with rotating(half):
        yield


@fault(ROPE, shows_in="logits")
def rope_offset() -> Iterator[None]:
    """Queries are turned as if they stood one position later than their keys, as after an off-by-one in a cache."""
    forward = healthy.Attention.forward

    def later(self: healthy.Attention, x_BTD: Tensor, cos_TH: Tensor, sin_TH: Tensor, attend: Attend) -> Tensor:
        one = cos_TH[1:2], sin_TH[1:2]  # a turn by position 1
        return forward(self, x_BTD, cos_TH, sin_TH, lambda q, k, v: attend(healthy.rotate(q, *one), k, v))

    with patched(healthy.Attention, forward=later):
        yield


@fault(ROPE, shows_in="logits")
def rope_restarts() -> Iterator[None]:
    """Positions start again at 0 in the middle of the sequence, as when two chunks are rotated apart."""
    turn = healthy.rotate

    def again(x_BTNH: Tensor, cos_TH: Tensor, sin_TH: Tensor) -> Tensor:
        position_T = torch.arange(len(cos_TH), device=cos_TH.device) % max(1, len(cos_TH) // 2)
        return turn(x_BTNH, cos_TH[position_T], sin_TH[position_T])

    with rotating(again):
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
def rope_no_backward() -> Iterator[None]:
    """The fused rotation has no backward: query and key projections are frozen (as with a softmax that has none)."""
    turn = healthy.rotate
    with rotating(lambda *given: no_backward(turn(*given))):
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
