import torch
import torch.nn.functional as F


def _backward(loss, **leaves):
    loss.backward()
    return {"loss": loss.reshape(1), **{f"d{name}": t.grad for name, t in leaves.items() if t.grad is not None}}


def tied(ids, target, table, w):
    table, w = table.detach().requires_grad_(), w.detach().requires_grad_()
    logits = F.linear(torch.tanh(F.linear(F.embedding(ids, table), w)), table)
    return _backward(F.cross_entropy(logits.flatten(0, 1), target.flatten()), table=table, w=w)


def tiled_heads(q, k, v, dy):
    q, k, v = (t.detach().requires_grad_() for t in (q, k, v))
    y = F.scaled_dot_product_attention(q, k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1))
    return _backward((y * dy).sum(), q=q, k=k, v=v)


def cast(alone, beside, dy):
    alone, beside = alone.detach().requires_grad_(), beside.detach().requires_grad_()
    other = torch.float32 if dy.dtype == torch.float64 else torch.float64

    def there_and_back(x):
        return x.to(other).to(dy.dtype)

    y = there_and_back(alone) ** 2 + beside * there_and_back(beside) ** 2
    return _backward((y * dy).sum(), alone=alone, beside=beside)


def _rotary(x):
    T, D = x.shape[-2:]
    angle = torch.arange(T, dtype=x.dtype)[:, None] / 10000 ** (torch.arange(0, D, 2, dtype=x.dtype) / D)
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], angle.cos(), angle.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def llama_attention(x, norm, w_q, w_k, w_v, dy):
    x, norm, w_q, w_k, w_v = (t.detach().requires_grad_() for t in (x, norm, w_q, w_k, w_v))
    B, T, C = x.shape
    h = F.rms_norm(x, (C,), norm, eps=1e-5)
    q, k, v = (F.linear(h, w).view(B, T, 2, C // 2).transpose(1, 2) for w in (w_q, w_k, w_v))
    a = F.scaled_dot_product_attention(_rotary(q), _rotary(k), v, is_causal=True)
    return _backward((a.transpose(1, 2).reshape(B, T, C) * dy).sum(), x=x, norm=norm, w_q=w_q, w_k=w_k, w_v=w_v)


def shared_layer(x, w, dy):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    h = x
    for _ in range(3):
        h = h + torch.tanh(F.linear(h, w))
    return _backward((h * dy).sum(), x=x, w=w)
