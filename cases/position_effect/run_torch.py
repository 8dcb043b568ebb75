import torch
import torch.nn.functional as F

HEADS = 2


def _angles(time, channels, dtype):
    return torch.arange(time, dtype=dtype)[:, None] / 10000 ** (torch.arange(0, channels, 2, dtype=dtype) / channels)


def _rotary(x):
    angle = _angles(x.shape[-2], x.shape[-1], x.dtype)
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], angle.cos(), angle.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def _both(ids, order, target, table, w_q, w_k, w_v, head, added, turn):
    def nll(ids):
        x = F.embedding(ids, table) + added
        B, T, C = x.shape
        q, k, v = (F.linear(x, w).view(B, T, HEADS, C // HEADS).transpose(1, 2) for w in (w_q, w_k, w_v))
        a = F.scaled_dot_product_attention(turn(q), turn(k), v)
        return F.cross_entropy(F.linear(a.transpose(1, 2).reshape(B, T, C)[:, -1], head), target).reshape(1)

    ordered, shuffled = nll(ids), nll(torch.cat([ids[:, order], ids[:, -1:]], dim=1))
    return {"nll": ordered, "nll_shuffled": shuffled, "effect": shuffled - ordered}


def rotary(**tensors):
    return _both(**tensors, added=0, turn=_rotary)


def learned(position, **tensors):
    return _both(**tensors, added=position, turn=lambda x: x)


def sinusoidal(**tensors):
    table = tensors["table"]
    angle = _angles(8, table.shape[1], table.dtype)
    sines = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
    return _both(**tensors, added=sines, turn=lambda x: x)
