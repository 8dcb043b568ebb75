"""One pre-norm transformer block, in TinyJit; the weights are [in, out]."""

from tinygrad import TinyJit, nn

HEADS, EPS = 4, 1e-5


def _rms_norm(x, gain):
    norm = nn.RMSNorm(gain.shape[0], eps=EPS)
    norm.weight = gain
    return norm(x)


def _block(x, norm1, w_qkv, w_out, norm2, w_gate, w_up, w_down):
    B, T, C = x.shape
    q, k, v = (_rms_norm(x, norm1) @ w_qkv).reshape(B, T, 3, HEADS, C // HEADS).permute(2, 0, 3, 1, 4)
    a = q.scaled_dot_product_attention(k, v, is_causal=True)
    x = x + a.transpose(1, 2).reshape(B, T, C) @ w_out
    h = _rms_norm(x, norm2)
    return x + ((h @ w_gate).silu() * (h @ w_up)) @ w_down


@TinyJit
def forward(dy, **tensors):  # noqa: ARG001  only the step needs dy
    return {"y": _block(**tensors).realize()}


@TinyJit
def step(dy, **tensors):
    y = _block(**tensors)
    grads = y.gradient(*tensors.values(), gradient=dy)
    y.realize(*grads)
    return {"y": y, **{f"d{name}": g for name, g in zip(tensors, grads, strict=True)}}


@TinyJit
def gemm(a, b):
    return {"c": (a @ b).realize()}
