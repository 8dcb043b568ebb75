"""Faults of the model's positions: how queries and keys are turned; careful that shapes stay right, so that nothing but the numbers can tell.

Shapes as in `trainer.model`: B sequences, T positions, N query heads, K key heads, H channels of a head (of half a head in the angles), D width.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from trainer import attention
from trainer import model as healthy
from trainer.faults.catalogue import fault, patched
from trainer.faults.model import NO_BACKWARD, no_backward

Attend = attention.Attend
ROPE = "RoPE axis swap"


@contextlib.contextmanager
def rotating(turn: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Iterator[None]:
    with patched(healthy, rotate=turn):
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


@fault(NO_BACKWARD, shows_in="gradients")
def rope_no_backward() -> Iterator[None]:
    """The fused rotation has no backward: query and key projections are frozen (as with a softmax that has none)."""
    turn = healthy.rotate
    with rotating(lambda *given: no_backward(turn(*given))):
        yield
