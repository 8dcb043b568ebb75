"""What the trainer is compared with: transformers' Llama and a GPT-2 as nanoGPT shapes it, of one size; careful that each is run as its users do.

Both get float32 weights under bfloat16 autocast, as the trainer does, and torch's fused AdamW. Neither clips gradients or looks for what is not finite.
"""

from __future__ import annotations

import os

import torch
import torch.nn.functional as F
from torch import nn

from trainer.config import Config


class GPT2(nn.Module):
    """LayerNorm, GELU, learned positions, biases, one key head a query head, the head tied to the embedding."""

    def __init__(self, config: Config):
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.position = nn.Embedding(config.length, config.width)
        self.blocks = nn.ModuleList(Block(config.width, config.heads) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocab_size, bias=False)
        self.head.weight = self.embedding.weight
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, tokens, targets):
        return F.cross_entropy(self.head(self.hidden(tokens)).flatten(0, 1), targets.flatten())

    def hidden(self, tokens):
        x = self.embedding(tokens) + self.position(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.attention_norm(x)).chunk(3, -1))
        x = x + self.output(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.mlp_norm(x))


def llama(config: Config):
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import LlamaConfig, LlamaForCausalLM

    shape = LlamaConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.width,
        intermediate_size=config.ffn,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        num_key_value_heads=config.kv_heads,
        max_position_embeddings=config.length,
        tie_word_embeddings=False,
        use_cache=False,  # a cache of keys is for generation; leaving it on would slow Llama down
        attn_implementation="sdpa",
    )
    return LlamaForCausalLM(shape)
