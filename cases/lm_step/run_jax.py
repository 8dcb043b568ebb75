import jax
import jax.numpy as jnp
import optax

HEADS, EPS = 4, 2.0**-17


def _rms_norm(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + EPS) * gain


def _rotary(x):
    T, _, D = x.shape[1:]
    angle = (jnp.arange(T)[:, None] / 10000 ** (jnp.arange(0, D, 2) / D)).astype(x.dtype)[:, None]
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def _layer(x, norm1, w_qkv, w_out, norm2, w_gate_up, w_down):
    B, T, C = x.shape
    qkv = (_rms_norm(x, norm1) @ w_qkv).reshape(B, T, 3, HEADS, C // HEADS)
    a = jax.nn.dot_product_attention(_rotary(qkv[:, :, 0]), _rotary(qkv[:, :, 1]), qkv[:, :, 2], is_causal=True)
    x = x + a.reshape(B, T, C) @ w_out
    gate, up = jnp.split(_rms_norm(x, norm2) @ w_gate_up, 2, axis=-1)
    return x + (jax.nn.silu(gate) * up) @ w_down


def _loss(weights, ids, target):
    layers = {name: w for name, w in weights.items() if name not in ("embedding", "norm", "head")}
    x = weights["embedding"][ids]
    for i in range(len(layers["norm1"])):
        x = _layer(x, **{name: w[i] for name, w in layers.items()})
    logits = _rms_norm(x, weights["norm"]) @ weights["head"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, target).mean()


@jax.jit
def forward(ids, target, **weights):
    return {"loss": _loss(weights, ids, target).reshape(1)}


@jax.jit
def step(ids, target, **weights):
    loss, grads = jax.value_and_grad(_loss)(weights, ids, target)
    clip, adamw = optax.clip_by_global_norm(1.0), optax.adamw(2.0**-7, b1=0.9, b2=0.999, eps=EPS, weight_decay=2.0**-4)
    optimizer = optax.chain(clip, adamw)
    updates, _ = optimizer.update(grads, optimizer.init(weights), weights)
    return {"loss": loss.reshape(1), "gradient_norm": optax.global_norm(grads).reshape(1), **optax.apply_updates(weights, updates)}


@jax.jit
def gemm(a, b):
    return {"c": a @ b}
