"""One layer of the trainer: its rotation by an angle of zero, its window as long as the sequence, its weights the case's transposed."""

import torch
from torch.func import functional_call

from trainer import attention, model
from trainer.config import Config

model.EPS = 1e-5
CONFIG = Config(layers=1, width=256, heads=4, kv_heads=4, ffn=704, length=128, window=128, scales=False)
LAYER = model.Layer(CONFIG)


def _block(x, norm1, w_qkv, w_out, norm2, w_gate, w_up, w_down):
    query, key, value = w_qkv.T.chunk(3)
    weights = {
        "attention_norm.weight": norm1,
        "attention.query.weight": query,
        "attention.key.weight": key,
        "attention.value.weight": value,
        "attention.output.weight": w_out.T,
        "ffn_norm.weight": norm2,
        "ffn.gate.weight": w_gate.T,
        "ffn.up.weight": w_up.T,
        "ffn.down.weight": w_down.T,
    }
    T, half = x.shape[1], CONFIG.head_channels // 2
    attend = attention.plan(T, CONFIG.window, x.device)
    return functional_call(LAYER, weights, (x, torch.ones(T, half), torch.zeros(T, half), attend), strict=True)


def forward(dy, **tensors):  # noqa: ARG001  only the step needs dy
    return {"y": _block(**tensors)}


def step(dy, **tensors):
    leaves = {name: t.detach().requires_grad_() for name, t in tensors.items()}
    y = _block(**leaves)
    y.backward(dy)
    return {"y": y, **{f"d{name}": t.grad for name, t in leaves.items()}}


def gemm(a, b):
    return {"c": a @ b}
