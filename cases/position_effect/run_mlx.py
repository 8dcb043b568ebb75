import mlx.core as mx
from mlx import nn

HEADS = 2


def _rotary(x):
    return mx.fast.rope(x, x.shape[-1], traditional=True, base=10000.0, scale=1.0, offset=0)


def _both(ids, order, target, table, w_q, w_k, w_v, head, added, turn):
    def nll(ids):
        x = table[ids] + added
        B, T, C = x.shape
        q, k, v = ((x @ w.T).reshape(B, T, HEADS, C // HEADS).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
        a = mx.fast.scaled_dot_product_attention(turn(q), turn(k), v, scale=(C // HEADS) ** -0.5)
        logits = a.transpose(0, 2, 1, 3).reshape(B, T, C)[:, -1] @ head.T
        return nn.losses.cross_entropy(logits, target, reduction="mean").reshape(1)

    ordered, shuffled = nll(ids), nll(mx.concatenate([ids[:, order], ids[:, -1:]], axis=1))
    return {"nll": ordered, "nll_shuffled": shuffled, "effect": shuffled - ordered}


def rotary(**tensors):
    return _both(**tensors, added=0, turn=_rotary)


def learned(position, **tensors):
    return _both(**tensors, added=position, turn=lambda x: x)


def sinusoidal(**tensors):
    table = tensors["table"]
    channels = table.shape[1]
    angle = mx.arange(8)[:, None] / 10000 ** (mx.arange(0, channels, 2) / channels)
    sines = mx.stack([mx.sin(angle), mx.cos(angle)], axis=-1).reshape(8, channels).astype(table.dtype)
    return _both(**tensors, added=sines, turn=lambda x: x)
