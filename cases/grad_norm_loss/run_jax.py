import jax
import jax.numpy as jnp
import optax


def _a_channel(x, values):
    return values.reshape(-1, *[1] * (x.ndim - 2))


def _reduced(values, reduction):
    return {"mean": values.mean, "sum": values.sum, "none": lambda: values}[reduction]()


def layer_norm(x, weight, bias, *, eps):
    return jax.nn.standardize(x, epsilon=eps) * weight + bias


def layer_norm_plain(x, *, eps):
    return jax.nn.standardize(x, epsilon=eps)


def layer_norm_two_axes(x, weight, bias, *, eps):
    return jax.nn.standardize(x, axis=(-2, -1), epsilon=eps) * weight + bias


def instance_norm(x, weight, bias, *, eps):
    y = jax.nn.standardize(x, axis=tuple(range(2, x.ndim)), epsilon=eps)
    return y * _a_channel(x, weight) + _a_channel(x, bias)


def batch_norm_train(x, weight, bias, *, eps):
    y = jax.nn.standardize(x, axis=(0, *range(2, x.ndim)), epsilon=eps)
    return y * _a_channel(x, weight) + _a_channel(x, bias)


def batch_norm_eval(x, weight, bias, mean8, var8, *, eps):
    mean, var = (_a_channel(x, value.astype(x.dtype) / 8) for value in (mean8, var8))
    y = jax.nn.standardize(x, axis=(0, *range(2, x.ndim)), mean=mean, variance=var, epsilon=eps)
    return y * _a_channel(x, weight) + _a_channel(x, bias)


def cosine_similarity(a, b, *, axis):
    return optax.cosine_similarity(a, b, epsilon=1e-8, axis=axis)


def cross_entropy(x, ids, *, reduction):
    return _reduced(optax.softmax_cross_entropy_with_integer_labels(x, ids), reduction)


def cross_entropy_smooth(x, ids, *, reduction, smoothing):
    labels = optax.smooth_labels(jax.nn.one_hot(ids, x.shape[1], dtype=x.dtype), smoothing)
    return _reduced(optax.softmax_cross_entropy(x, labels), reduction)


def cross_entropy_ignore(x, ids, *, ignore, reduction):
    kept = ids != ignore
    losses = optax.softmax_cross_entropy_with_integer_labels(x, jnp.where(kept, ids, 0)) * kept
    return losses.sum() / kept.sum() if reduction == "mean" else _reduced(losses, reduction)


def cross_entropy_soft(x, target, *, reduction):
    return _reduced(optax.softmax_cross_entropy(x, target.astype(x.dtype) / 8), reduction)


def cross_entropy_segment(x, ids, *, reduction):
    return _reduced(optax.softmax_cross_entropy_with_integer_labels(x, ids, axis=1), reduction)


def perplexity(x, ids):
    return jnp.exp(optax.softmax_cross_entropy_with_integer_labels(x, ids).mean())


def log_softmax_gather(x, ids):
    return jnp.take_along_axis(jax.nn.log_softmax(x), ids[:, None], axis=1)[:, 0]


def bce_with_logits(x, target, *, reduction):
    return _reduced(optax.sigmoid_binary_cross_entropy(x, target.astype(x.dtype) / 8), reduction)


def embedding_sum(x, ids):
    return x[ids].sum(axis=1)
