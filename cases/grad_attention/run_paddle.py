import paddle
from paddle.nn.functional import scaled_dot_product_attention


def _attend(q, k, v, **options):
    q, k, v = (t.transpose([0, 2, 1, 3]) for t in (q, k, v))  # to [B, T, N, H]
    return scaled_dot_product_attention(q, k, v, **options).transpose([0, 2, 1, 3])


def sdpa(q, k, v):
    return _attend(q, k, v)


def sdpa_scale(q, k, v, scale):
    return _attend(q, k, v, scale=scale)


def sdpa_causal(q, k, v):
    return _attend(q, k, v, is_causal=True)


def sdpa_causal_rectangle(q, k, v):
    return _attend(q, k, v, is_causal=True)


def sdpa_mask(q, k, v, mask):
    return _attend(q, k, v, attn_mask=mask)


def sdpa_mask_heads(q, k, v, mask):
    return _attend(q, k, v, attn_mask=mask)


def sdpa_bias(q, k, v, mask):
    return _attend(q, k, v, attn_mask=mask)


def sdpa_bias_heads(q, k, v, mask):
    return _attend(q, k, v, attn_mask=mask)


def sdpa_hidden_row(q, k, v, mask, row):
    y = _attend(q, k, v, attn_mask=mask)
    return paddle.concat([y[:, :, :row], y[:, :, row + 1 :]], axis=2)


def sdpa_grouped(q, k, v):
    return _attend(q, k, v, enable_gqa=True)


def sdpa_cache(q, k, v, past_k, past_v):
    k, v = paddle.concat([past_k, k], axis=2), paddle.concat([past_v, v], axis=2)
    seen = paddle.ones([q.shape[2], k.shape[2]]).tril(k.shape[2] - q.shape[2]).astype("bool")
    return _attend(q, k, v, attn_mask=seen)


def sdpa_alibi(q, k, v, slopes):
    t, s = paddle.arange(q.shape[2], dtype=q.dtype).unsqueeze(1), paddle.arange(k.shape[2], dtype=q.dtype)
    return _attend(q, k, v, attn_mask=(-slopes.reshape([-1, 1, 1]) * (t - s).abs()).unsqueeze(0))


def multi_head(x, wq, bq, wk, bk, wv, bv, wo, bo, heads):
    layer = paddle.nn.MultiHeadAttention(x.shape[-1], heads)
    weights = {"q_proj": (wq, bq), "k_proj": (wk, bk), "v_proj": (wv, bv), "out_proj": (wo, bo)}
    for name, (w, b) in weights.items():
        linear = getattr(layer, name)
        del linear.weight, linear.bias
        linear.weight, linear.bias = w.t(), b
    return layer(x, x, x)
