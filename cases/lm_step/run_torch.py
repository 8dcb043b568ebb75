import torch
import torch.nn.functional as F

HEADS, EPS = 4, 2.0**-17


def _rotary(x):
    T, D = x.shape[-2:]
    angle = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], angle.cos(), angle.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def _layer(x, norm1, w_qkv, w_out, norm2, w_gate_up, w_down):
    B, T, C = x.shape
    q, k, v = (F.rms_norm(x, (C,), norm1, EPS) @ w_qkv).view(B, T, 3, HEADS, C // HEADS).permute(2, 0, 3, 1, 4)
    a = F.scaled_dot_product_attention(_rotary(q), _rotary(k), v, is_causal=True)
    x = x + a.transpose(1, 2).reshape(B, T, C) @ w_out
    gate, up = (F.rms_norm(x, (C,), norm2, EPS) @ w_gate_up).chunk(2, dim=-1)
    return x + (F.silu(gate) * up) @ w_down


def _loss(ids, target, embedding, norm, head, **layers):
    x = F.embedding(ids, embedding)
    for i in range(len(layers["norm1"])):
        x = _layer(x, **{name: w[i] for name, w in layers.items()})
    logits = F.rms_norm(x, norm.shape, norm, EPS) @ head
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


@torch.no_grad()
def forward(**tensors):
    return {"loss": _loss(**tensors).reshape(1)}


def step(ids, target, **tensors):
    weights = {name: t.clone().requires_grad_() for name, t in tensors.items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=2.0**-7, betas=(0.9, 0.999), eps=EPS, weight_decay=2.0**-4)
    loss = _loss(ids, target, **weights)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
    optimizer.step()
    return {"loss": loss.reshape(1), "gradient_norm": norm.reshape(1), **weights}


def gemm(a, b):
    return {"c": a @ b}
