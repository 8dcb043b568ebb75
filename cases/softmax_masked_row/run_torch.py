import torch
import torch.nn.functional as F


def lowest(q, k, v, dy, seen):
    mask = torch.zeros(seen.shape).masked_fill(seen == 0, torch.finfo(q.dtype).min)
    return _answer(q, k, v, dy, lambda q, k, v: torch.softmax(q @ k.mT * 0.5 + mask, dim=-1) @ v)


def fused(q, k, v, dy, seen):
    return _answer(q, k, v, dy, lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=seen != 0))


def _answer(q, k, v, dy, attend):
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    y = attend(q, k, v)
    y.backward(dy)
    return {"y": y[:, :, [0, 1, 3, 4]], "dq": q.grad, "dk": k.grad, "dv": v.grad}
