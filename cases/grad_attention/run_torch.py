import torch
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention


def sdpa(q, k, v):
    return scaled_dot_product_attention(q, k, v)


def sdpa_scale(q, k, v, scale):
    return scaled_dot_product_attention(q, k, v, scale=scale)


def sdpa_causal(q, k, v):
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def sdpa_causal_rectangle(q, k, v):
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def sdpa_mask(q, k, v, mask):
    return scaled_dot_product_attention(q, k, v, attn_mask=mask)


def sdpa_mask_heads(q, k, v, mask):
    return scaled_dot_product_attention(q, k, v, attn_mask=mask)


def sdpa_bias(q, k, v, mask):
    return scaled_dot_product_attention(q, k, v, attn_mask=mask)


def sdpa_bias_heads(q, k, v, mask):
    return scaled_dot_product_attention(q, k, v, attn_mask=mask)


def sdpa_hidden_row(q, k, v, mask, row):
    y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return torch.cat([y[:, :, :row], y[:, :, row + 1 :]], dim=2)


def sdpa_grouped(q, k, v):
    return scaled_dot_product_attention(q, k, v, enable_gqa=True)


def sdpa_cache(q, k, v, past_k, past_v):
    k, v = torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2)
    return scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(q.shape[2], k.shape[2]))


def sdpa_alibi(q, k, v, slopes):
    t, s = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])
    return scaled_dot_product_attention(q, k, v, attn_mask=-slopes[:, None, None] * (t - s).abs())


def multi_head(x, wq, bq, wk, bk, wv, bv, wo, bo, heads):
    layer = torch.nn.MultiheadAttention(x.shape[-1], heads, batch_first=True, dtype=x.dtype)
    weights = {
        "in_proj_weight": torch.cat([wq, wk, wv]),
        "in_proj_bias": torch.cat([bq, bk, bv]),
        "out_proj.weight": wo,
        "out_proj.bias": bo,
    }
    return torch.func.functional_call(layer, weights, (x, x, x), {"need_weights": False})[0]
