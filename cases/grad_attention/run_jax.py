import jax
import jax.numpy as jnp


def _attend(q, k, v, **options):
    q, k, v = (jnp.swapaxes(t, 1, 2) for t in (q, k, v))  # to [B, T, N, H]
    return jnp.swapaxes(jax.nn.dot_product_attention(q, k, v, **options), 1, 2)


def _four(mask):
    return mask.reshape((1,) * (4 - mask.ndim) + mask.shape)


def sdpa(q, k, v):
    return _attend(q, k, v)


def sdpa_scale(q, k, v, scale):
    return _attend(q, k, v, scale=scale)


def sdpa_causal(q, k, v):
    return _attend(q, k, v, is_causal=True)


def sdpa_causal_rectangle(q, k, v):
    return _attend(q, k, v, is_causal=True)


def sdpa_mask(q, k, v, mask):
    return _attend(q, k, v, mask=_four(mask))


def sdpa_mask_heads(q, k, v, mask):
    return _attend(q, k, v, mask=mask)


def sdpa_bias(q, k, v, mask):
    return _attend(q, k, v, bias=_four(mask))


def sdpa_bias_heads(q, k, v, mask):
    return _attend(q, k, v, bias=mask)


def sdpa_hidden_row(q, k, v, mask, row):
    return jnp.delete(_attend(q, k, v, mask=_four(mask)), row, axis=2)


def sdpa_grouped(q, k, v):
    return _attend(q, k, v)


def sdpa_window(q, k, v, left):
    return _attend(q, k, v, is_causal=True, local_window_size=(left, 0))


def sdpa_cache(q, k, v, past_k, past_v):
    k, v = jnp.concatenate([past_k, k], axis=2), jnp.concatenate([past_v, v], axis=2)
    seen = jnp.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)
    return _attend(q, k, v, mask=seen[None, None])


def sdpa_alibi(q, k, v, slopes):
    t, s = jnp.ogrid[: q.shape[2], : k.shape[2]]
    return _attend(q, k, v, bias=(-slopes[:, None, None] * jnp.abs(t - s)).astype(q.dtype)[None])
