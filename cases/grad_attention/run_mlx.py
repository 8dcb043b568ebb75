import mlx.core as mx
from mlx import nn


def _attend(q, k, v, **options):
    return mx.fast.scaled_dot_product_attention(q, k, v, **{"scale": q.shape[-1] ** -0.5, **options})


def sdpa(q, k, v):
    return _attend(q, k, v)


def sdpa_scale(q, k, v, scale):
    return _attend(q, k, v, scale=scale)


def sdpa_causal(q, k, v):
    return _attend(q, k, v, mask="causal")


def sdpa_causal_rectangle(q, k, v):
    return _attend(q, k, v, mask="causal")


def sdpa_mask(q, k, v, mask):
    return _attend(q, k, v, mask=mask)


def sdpa_mask_heads(q, k, v, mask):
    return _attend(q, k, v, mask=mask)


def sdpa_bias(q, k, v, mask):
    return _attend(q, k, v, mask=mask)


def sdpa_bias_heads(q, k, v, mask):
    return _attend(q, k, v, mask=mask)


def sdpa_hidden_row(q, k, v, mask, row):
    y = _attend(q, k, v, mask=mask)
    return mx.concatenate([y[:, :, :row], y[:, :, row + 1 :]], axis=2)


def sdpa_grouped(q, k, v):
    return _attend(q, k, v)


def sdpa_cache(q, k, v, past_k, past_v):
    return _attend(q, mx.concatenate([past_k, k], axis=2), mx.concatenate([past_v, v], axis=2), mask="causal")


def sdpa_alibi(q, k, v, slopes):
    t, s = mx.arange(q.shape[2])[:, None], mx.arange(k.shape[2])
    return _attend(q, k, v, mask=-slopes[:, None, None] * mx.abs(t - s).astype(slopes.dtype))


def multi_head(x, wq, bq, wk, bk, wv, bv, wo, bo, heads):
    layer = nn.MultiHeadAttention(x.shape[-1], heads, bias=True)
    weights = {"query_proj": (wq, bq), "key_proj": (wk, bk), "value_proj": (wv, bv), "out_proj": (wo, bo)}
    layer.update({name: {"weight": w, "bias": b} for name, (w, b) in weights.items()})
    return layer(x, x, x)


def rope_half(x, dims, base, offset, scale):
    return mx.fast.rope(x, dims, traditional=False, base=base, scale=scale, offset=offset)


def rope_half_batch(x, dims, base, offset, scale):
    return mx.fast.rope(x, dims, traditional=False, base=base, scale=scale, offset=offset)


def rope_interleaved(x, dims, base, offset, scale):
    return mx.fast.rope(x, dims, traditional=True, base=base, scale=scale, offset=offset)


def rope_interleaved_batch(x, dims, base, offset, scale):
    return mx.fast.rope(x, dims, traditional=True, base=base, scale=scale, offset=offset)
