"""The model: a decoder-only transformer with RMSNorm, SwiGLU, grouped-query attention, RoPE; careful that position is axis 1 and padding is never scored.

Per-layer conditioning: every layer has a learned scale for each of its two branches (attention, feed-forward) and one for the values of each key head.
Muon's update has the same size whatever the gradient's size, so a matrix cannot quickly change how loud its layer is; these scalars, AdamW's, can.
All of them multiply a matrix's output, so a plain Llama holds the same function once they are folded into `output`, `down` and `value` (`folded`).

RoPE turns the pair of channels (i, i + H/2), as Llama's weights in the Hugging Face layout expect; the other layout pairs (2i, 2i + 1).

Shapes: B sequences, T positions, D width, N query heads, K key and value heads, H channels of a head, F feed-forward channels, V vocabulary.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from trainer import attention
from trainer.config import Config

Role = Literal["embedding", "head", "matrix", "norm", "scale"]
PADDING = -1  # a target that is not scored; as an input it reads id 0, which no scored position may depend on
EPS = 1e-6


class LM(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        assert config.vocab_size > 0, "the vocabulary's size comes from the data"
        self.config = config
        self.stream = torch.bfloat16 if config.stream == "bfloat16" else torch.get_default_dtype()
        self.embedding = nn.Embedding(config.padded_vocab, config.width)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.width)
        self.head = nn.Linear(config.width, config.padded_vocab, bias=False) if config.head == "untied" else None
        cos_TH, sin_TH = angles(config.length, config.head_channels, config.rope_base)
        self.register_buffer("cos_TH", cos_TH, persistent=False)
        self.register_buffer("sin_TH", sin_TH, persistent=False)
        self.initialise()

    def forward(self, tokens_BT: Tensor) -> Tensor:
        """Logits of the vocabulary proper: ids that only pad it to a multiple of 128 have none."""
        length = tokens_BT.shape[1]
        attend = attention.plan(length, self.config.window, tokens_BT.device)
        x_BTD = self.embedding(tokens_BT).to(self.stream)
        for layer in self.layers:
            x_BTD = layer(x_BTD, self.cos_TH[:length], self.sin_TH[:length], attend)
        head_VD = self.embedding.weight if self.head is None else self.head.weight
        return F.linear(self.norm(x_BTD), head_VD)[..., : self.config.vocab_size]

    def loss(self, tokens_BT1: Tensor) -> tuple[Tensor, Tensor]:
        """Summed negative log-likelihood (nats) of each token given those before it, and how many were scored. A sum: means of means would weigh wrongly."""
        logits_BTV = self(tokens_BT1[:, :-1].clamp_min(0))
        targets_BT = tokens_BT1[:, 1:]
        nll = F.cross_entropy(logits_BTV.flatten(0, 1).float(), targets_BT.flatten(), ignore_index=PADDING, reduction="sum")
        return nll, (targets_BT != PADDING).sum()

    def roles(self) -> dict[str, Role]:
        """What each parameter is for: the optimizers are chosen by this, not by the number of axes (embedding and head are matrices too)."""
        return {name: _role(name) for name, _ in self.named_parameters()}

    def folded(self) -> dict[str, Tensor]:
        """The same function as a plain Llama's weights under its Hugging Face names, the scales multiplied into the matrices before them."""
        found = {"model.embed_tokens.weight": self.embedding.weight, "model.norm.weight": self.norm.weight}
        found["lm_head.weight"] = self.embedding.weight if self.head is None else self.head.weight
        for i, layer in enumerate(self.layers):
            attend, ffn = layer.attention, layer.ffn
            parts = {
                "input_layernorm": layer.attention_norm.weight,
                "self_attn.q_proj": attend.query.weight,
                "self_attn.k_proj": attend.key.weight,
                "self_attn.v_proj": _scaled(attend.value.weight, attend.value_scale_K),
                "self_attn.o_proj": _scaled(attend.output.weight, layer.attention_scale),
                "post_attention_layernorm": layer.ffn_norm.weight,
                "mlp.gate_proj": ffn.gate.weight,
                "mlp.up_proj": ffn.up.weight,
                "mlp.down_proj": _scaled(ffn.down.weight, layer.ffn_scale),
            }
            found |= {f"model.layers.{i}.{name}.weight": weight for name, weight in parts.items()}
        return {name: weight.detach().clone() for name, weight in found.items()}

    def initialise(self) -> None:
        """Logits of about 0.25 standard deviation: the first loss is ln V + 0.03. Branches together add 0.3 to the stream's variance, at any depth."""
        config = self.config
        for name, weight in self.named_parameters():
            role = _role(name)
            if role in ("norm", "scale"):
                nn.init.ones_(weight)
            elif role == "embedding" and config.head == "untied":
                nn.init.normal_(weight, std=0.5)
            elif role in ("embedding", "head"):
                nn.init.normal_(weight, std=0.25 / math.sqrt(config.width))
            else:
                writes_stream = name.endswith(("output.weight", "down.weight"))
                nn.init.normal_(weight, std=(2 * config.layers if writes_stream else 1) ** -0.5 / math.sqrt(weight.shape[1]))


class Layer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(config.width)
        self.attention = Attention(config)
        self.ffn_norm = RMSNorm(config.width)
        self.ffn = SwiGLU(config)
        self.dropout = config.dropout
        self.attention_scale = nn.Parameter(torch.ones(())) if config.scales else None
        self.ffn_scale = nn.Parameter(torch.ones(())) if config.scales else None

    def forward(self, x_BTD: Tensor, cos_TH: Tensor, sin_TH: Tensor, attend: attention.Attend) -> Tensor:
        x_BTD = self._add(x_BTD, self.attention(self.attention_norm(x_BTD), cos_TH, sin_TH, attend), self.attention_scale)
        return self._add(x_BTD, self.ffn(self.ffn_norm(x_BTD)), self.ffn_scale)

    def _add(self, x_BTD: Tensor, branch_BTD: Tensor, scale: Tensor | None) -> Tensor:
        if self.dropout:
            branch_BTD = F.dropout(branch_BTD, self.dropout, self.training)
        return x_BTD + (branch_BTD if scale is None else scale * branch_BTD)


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x_BTD: Tensor) -> Tensor:
        return F.rms_norm(x_BTD, self.weight.shape, eps=EPS) * self.weight.to(x_BTD.dtype)


class Attention(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.channels = config.head_channels
        self.query = nn.Linear(config.width, config.heads * self.channels, bias=False)
        self.key = nn.Linear(config.width, config.kv_heads * self.channels, bias=False)
        self.value = nn.Linear(config.width, config.kv_heads * self.channels, bias=False)
        self.output = nn.Linear(config.heads * self.channels, config.width, bias=False)
        self.value_scale_K = nn.Parameter(torch.ones(config.kv_heads)) if config.scales else None

    def forward(self, x_BTD: Tensor, cos_TH: Tensor, sin_TH: Tensor, attend: attention.Attend) -> Tensor:
        q_BTNH, k_BTKH, v_BTKH = (part(x_BTD).unflatten(-1, (-1, self.channels)) for part in (self.query, self.key, self.value))
        if self.value_scale_K is not None:
            v_BTKH = v_BTKH * self.value_scale_K[:, None].to(v_BTKH.dtype)
        out_BTNH = attend(rotate(q_BTNH, cos_TH, sin_TH), rotate(k_BTKH, cos_TH, sin_TH), v_BTKH)
        return self.output(out_BTNH.flatten(-2))


class SwiGLU(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(config.width, config.ffn, bias=False)
        self.up = nn.Linear(config.width, config.ffn, bias=False)
        self.down = nn.Linear(config.ffn, config.width, bias=False)

    def forward(self, x_BTD: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x_BTD)) * self.up(x_BTD))


def angles(length: int, channels: int, base: float) -> tuple[Tensor, Tensor]:
    """Cosine and sine of position x frequency, for half of a head's channels; in float64, since float32 angles are off by 1e-4 at position 2000."""
    frequency_H = base ** (-torch.arange(0, channels, 2, dtype=torch.float64) / channels)
    angle_TH = torch.arange(length, dtype=torch.float64)[:, None] * frequency_H
    return angle_TH.cos().float(), angle_TH.sin().float()


def rotate(x_BTNH: Tensor, cos_TH: Tensor, sin_TH: Tensor) -> Tensor:
    """Turn each pair of channels (i, i + H/2) by its position's angle. Position is axis 1: swap T and N and nothing crashes."""
    left, right = x_BTNH.chunk(2, -1)
    cos_T1H, sin_T1H = cos_TH[:, None], sin_TH[:, None]
    return torch.cat([left * cos_T1H - right * sin_T1H, right * cos_T1H + left * sin_T1H], -1).to(x_BTNH.dtype)


def _scaled(weight_RD: Tensor, scale: Tensor | None) -> Tensor:
    """Rows R in as many equal blocks as there are scales, each block times its own."""
    return weight_RD if scale is None else weight_RD * scale.repeat_interleave(len(weight_RD) // scale.numel())[:, None]


def _role(name: str) -> Role:
    *_, module, leaf = ("", *name.split("."))
    if "scale" in leaf:
        return "scale"
    if module == "embedding":
        return "embedding"
    if module == "head":
        return "head"
    return "norm" if module.endswith("norm") else "matrix"
