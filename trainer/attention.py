"""Causal sliding-window attention behind one function; careful that the window is structural (work outside it is not done) and exact to the key.

Shapes: B sequences, T positions, N query heads, K key and value heads, G = N / K query heads a key head, H channels of a head,
        C blocks of Q queries, S keys that a block may see, W window: a query at i sees keys i-W+1 ... i.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]  # q_BTNH, k_BTKH, v_BTKH -> BTNH
STAIRS = 4  # full causal attention on a CPU in 4 steps: 5/8 of the square, where one step would do all of it


def plan(length: int, window: int, device: torch.device) -> Attend:
    """The attention of one forward pass; its mask is made once here and shared by all layers."""
    if device.type == "cuda":
        return _full if window >= length else partial(_flex, mask=_block_mask(length, window, device))
    if window >= length:
        return _stairs
    queries = queries_of(window)
    return partial(_banded, bias_CQS=_band_bias(length, window, queries, device))


def queries_of(window: int) -> int:
    """Queries a block: a quarter of the window wastes a fifth of the scores, and fewer than 32 rows would starve the matrix product."""
    return min(window, max(32, -(-window // 4)))


def keys_computed(length: int, window: int, device_type: str) -> float:
    """Keys that a query is multiplied with, on average: what the machine does, masked or not (for HFU)."""
    if window >= length:
        return length * (STAIRS + 1) / (2 * STAIRS) if device_type == "cpu" else length / 2
    queries = queries_of(window) if device_type == "cpu" else 128  # FlexAttention's block
    computed = -(-length // queries) * queries  # the last block is filled up
    return (queries + -(-window // queries) * queries) * computed / length


def _banded(q_BTNH: Tensor, k_BTKH: Tensor, v_BTKH: Tensor, *, bias_CQS: Tensor) -> Tensor:
    """Each block of Q queries against its own keys and the W before them, all blocks in one matrix product."""
    length, (blocks, queries, keys) = q_BTNH.shape[1], bias_CQS.shape
    before, after = keys - queries, blocks * queries - length  # zeros, masked: no query sees before 0 or after itself
    q_BCKRH = _rows(F.pad(q_BTNH, (0, 0, 0, 0, 0, after)), blocks, k_BTKH.shape[2])
    k_BCKHS = _overlapping(F.pad(k_BTKH, (0, 0, 0, 0, before, after)), blocks, queries).permute(0, 1, 3, 4, 2)
    v_BCKSH = _overlapping(F.pad(v_BTKH, (0, 0, 0, 0, before, after)), blocks, queries).transpose(2, 3)
    out_BCKRH = _softmax_product(q_BCKRH, k_BCKHS, v_BCKSH, bias_CQS[:, None])
    return _unrows(out_BCKRH, queries)[:, :length]


def _stairs(q_BTNH: Tensor, k_BTKH: Tensor, v_BTKH: Tensor) -> Tensor:
    """Full causal attention in STAIRS blocks of queries, each against the keys up to its own last: on a CPU twice as fast as torch's SDPA."""
    length = q_BTNH.shape[1]
    queries = -(-length // STAIRS)
    position_T = torch.arange(length, device=q_BTNH.device)
    bias_TT = torch.zeros(length, length, device=q_BTNH.device).masked_fill(position_T[None] > position_T[:, None], -torch.inf)
    keys, values = k_BTKH.split(queries, 1), v_BTKH.split(queries, 1)  # split, not slices: a slice's gradient is a full-sized zero each
    out = []
    for i, q_BQNH in enumerate(q_BTNH.split(queries, 1)):
        k_B1KHS = torch.cat(keys[: i + 1], 1)[:, None].permute(0, 1, 3, 4, 2)
        v_B1KSH = torch.cat(values[: i + 1], 1)[:, None].transpose(2, 3)
        rows, seen = q_BQNH.shape[1], k_B1KHS.shape[-1]
        bias_QS = bias_TT[seen - rows : seen, :seen]
        out.append(_unrows(_softmax_product(_rows(q_BQNH, 1, k_BTKH.shape[2]), k_B1KHS, v_B1KSH, bias_QS), rows))
    return torch.cat(out, 1)


def _softmax_product(q_BCKRH: Tensor, k_BCKHS: Tensor, v_BCKSH: Tensor, bias_XQS: Tensor) -> Tensor:
    """softmax(q k + bias) v for grouped rows R = G x Q. Scores are rounded to the matrix dtype; exponentials are summed in float32 inside softmax."""
    with torch.autocast(
        q_BCKRH.device.type, enabled=False
    ):  # the inputs have their dtype already; float32 copies of the scores would cost the gain
        scale = q_BCKRH.shape[-1] ** -0.5
        queries = bias_XQS.shape[-2]
        scores_BCKRS = (q_BCKRH * scale) @ k_BCKHS
        scores_BCKGQS = scores_BCKRS.unflatten(3, (-1, queries)) + bias_XQS.to(scores_BCKRS.dtype).unsqueeze(-3)
        return scores_BCKGQS.softmax(-1).flatten(3, 4) @ v_BCKSH


def _rows(q_BTNH: Tensor, blocks: int, kv_heads: int) -> Tensor:
    """BTNH -> B C K (G x Q) H: the query heads that share a key head become rows of one product, so no key is copied."""
    q_BCQKGH = q_BTNH.unflatten(1, (blocks, -1)).unflatten(3, (kv_heads, -1))
    return q_BCQKGH.permute(0, 1, 3, 4, 2, 5).flatten(3, 4)


def _unrows(out_BCKRH: Tensor, queries: int) -> Tensor:
    out_BCKGQH = out_BCKRH.unflatten(3, (-1, queries))
    return out_BCKGQH.permute(0, 1, 4, 2, 3, 5).flatten(3, 4).flatten(1, 2)


def _overlapping(x_BPKH: Tensor, blocks: int, queries: int) -> Tensor:
    """Blocks of Q positions -> for each query block the S positions that end with its own: B C S K H."""
    x_BDQKH = x_BPKH.unflatten(1, (-1, queries))
    shifts = x_BDQKH.shape[1] - blocks + 1
    return torch.cat([x_BDQKH[:, i : i + blocks] for i in range(shifts)], 2)


def _band_bias(length: int, window: int, queries: int, device: torch.device) -> Tensor:
    """0 where block c's query may see the key, -inf elsewhere."""
    blocks, before = -(-length // queries), -(-window // queries) * queries
    start_C11 = torch.arange(blocks, device=device)[:, None, None] * queries
    query_CQ1 = start_C11 + torch.arange(queries, device=device)[:, None]
    key_C1S = start_C11 - before + torch.arange(before + queries, device=device)
    seen_CQS = (key_C1S <= query_CQ1) & (key_C1S > query_CQ1 - window) & (key_C1S >= 0)
    return torch.zeros(seen_CQS.shape, device=device).masked_fill(~seen_CQS, -torch.inf)


def _full(q_BTNH: Tensor, k_BTKH: Tensor, v_BTKH: Tensor) -> Tensor:
    out_BNTH = F.scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q_BTNH, k_BTKH, v_BTKH)), is_causal=True, enable_gqa=True)
    return out_BNTH.transpose(1, 2)


def _flex(q_BTNH: Tensor, k_BTKH: Tensor, v_BTKH: Tensor, *, mask: Any) -> Tensor:
    """FlexAttention: skips the blocks outside the window. It has no backward on a CPU (pytorch/pytorch#148752), so it is CUDA's alone."""
    attend = _flex_function(inside_compile=torch.compiler.is_compiling())
    out_BNTH: Tensor = attend(*(x.transpose(1, 2) for x in (q_BTNH, k_BTKH, v_BTKH)), block_mask=mask, enable_gqa=True)
    return out_BNTH.transpose(1, 2)


def _block_mask(length: int, window: int, device: torch.device) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask  # 1.5 s to import: not for a CPU run

    def seen(_sequence: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & (key > query - window)

    return create_block_mask(seen, None, None, length, length, device=device)


def _flex_function(*, inside_compile: bool) -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention if inside_compile else _compiled_flex()  # uncompiled, it would fill the whole square


@cache
def _compiled_flex() -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention, dynamic=False, fullgraph=True)  # whole: one length too many is an error, not slow
