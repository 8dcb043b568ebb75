from tinygrad import Tensor


def sdpa(q, k, v):
    return q.scaled_dot_product_attention(k, v)


def sdpa_causal(q, k, v):
    return q.scaled_dot_product_attention(k, v, is_causal=True)


def sdpa_causal_rectangle(q, k, v):
    return q.scaled_dot_product_attention(k, v, is_causal=True)


def sdpa_mask(q, k, v, mask):
    return q.scaled_dot_product_attention(k, v, attn_mask=mask)


def sdpa_mask_heads(q, k, v, mask):
    return q.scaled_dot_product_attention(k, v, attn_mask=mask)


def sdpa_bias(q, k, v, mask):
    return q.scaled_dot_product_attention(k, v, attn_mask=mask)


def sdpa_bias_heads(q, k, v, mask):
    return q.scaled_dot_product_attention(k, v, attn_mask=mask)


def sdpa_hidden_row(q, k, v, mask, row):
    y = q.scaled_dot_product_attention(k, v, attn_mask=mask)
    return Tensor.cat(y[:, :, :row], y[:, :, row + 1 :], dim=2)


def sdpa_grouped(q, k, v):
    return q.scaled_dot_product_attention(k, v, enable_gqa=True)


def sdpa_cache(q, k, v, past_k, past_v):
    k, v = past_k.cat(k, dim=2), past_v.cat(v, dim=2)
    seen = Tensor.ones(q.shape[2], k.shape[2]).tril(k.shape[2] - q.shape[2]).bool()
    return q.scaled_dot_product_attention(k, v, attn_mask=seen)


def sdpa_alibi(q, k, v, slopes):
    t, s = Tensor.arange(q.shape[2]).unsqueeze(1), Tensor.arange(k.shape[2])
    return q.scaled_dot_product_attention(k, v, attn_mask=-slopes.reshape(-1, 1, 1) * (t - s).abs().cast(slopes.dtype))
