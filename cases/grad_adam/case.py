"""Adam and its kin over ten steps: a parameter p, its gradients g [10, ...], and what p is afterwards. Nothing is to be differentiated.

Definitions are the papers', with epsilon outside of the root of the corrected second moment. float16 rounds the usual epsilon to nothing and has no room for
small squares: it is asked in one row of its own. Options are sums of few powers of two: some frameworks keep them in float32 whatever the parameter's type.
"""

import numpy as np

from harness.sweep.op import Op, Sweep
from harness.sweep.training import mean, optimizer, present, steps


def adam(p, g, lr, beta1, beta2, eps, hat=False, l2=0.0, decay=0.0, top=False):
    """``hat``: epsilon is added before the correction of the second moment; ``top``: amsgrad."""

    def step(p, grad, s, t):
        p, grad = p * (1 - lr * decay), grad + l2 * p
        m, v = mean(s, "m", beta1, grad), mean(s, "v", beta2, grad**2)
        if top:
            v = s["top"] = np.maximum(s.get("top", 0.0), v)
        correction = np.sqrt(1 - beta2**t)
        return p - lr * m / (1 - beta1**t) / (np.sqrt(v) / correction + (eps / correction if hat else eps))

    return steps(p, g, step)


def adam_hat(p, g, lr, beta1, beta2, eps):
    return adam(p, g, lr, beta1, beta2, eps, hat=True)


def adam_l2(p, g, lr, beta1, beta2, eps, decay):
    return adam(p, g, lr, beta1, beta2, eps, l2=decay)


def adam_l2_hat(p, g, lr, beta1, beta2, eps, decay):
    return adam(p, g, lr, beta1, beta2, eps, hat=True, l2=decay)


def adamw(p, g, lr, beta1, beta2, eps, decay):
    return adam(p, g, lr, beta1, beta2, eps, decay=decay)


def adamw_hat(p, g, lr, beta1, beta2, eps, decay):
    return adam(p, g, lr, beta1, beta2, eps, hat=True, decay=decay)


def adam_default(p, g, lr):
    return adam(p, g, lr, 0.9, 0.999, 1e-8)


def adam_default_keras(p, g, lr):
    return adam(p, g, lr, 0.9, 0.999, 1e-7, hat=True)


def adam_default_mlx(p, g, lr):
    return uncorrected(p, g, lr, 0.0)


def adam_default_hat(p, g, lr):
    return adam(p, g, lr, 0.9, 0.999, 1e-8, hat=True)


def adamw_default(p, g, lr):
    return adam(p, g, lr, 0.9, 0.999, 1e-8, decay=0.01)


def adamw_default_keras(p, g, lr):
    return adam(p, g, lr, 0.9, 0.999, 1e-7, hat=True, decay=0.004)


def adamw_default_hat(p, g, lr):
    return adam(p, g, lr, 0.9, 0.999, 1e-8, hat=True, decay=0.01)


def adamw_default_optax(p, g, lr):
    return adam(p, g, lr, 0.9, 0.999, 1e-8, decay=1e-4)


def adamw_default_mlx(p, g, lr):
    return uncorrected(p, g, lr, 0.01)


def uncorrected(p, g, lr, decay):
    def step(p, grad, s, _):
        return p * (1 - lr * decay) - lr * mean(s, "m", 0.9, grad) / (np.sqrt(mean(s, "v", 0.999, grad**2)) + 1e-8)

    return steps(p, g, step)


def amsgrad(p, g, lr, beta1, beta2, eps):
    return adam(p, g, lr, beta1, beta2, eps, top=True)


def amsgrad_hat(p, g, lr, beta1, beta2, eps):
    return adam(p, g, lr, beta1, beta2, eps, hat=True, top=True)


def amsgrad_corrected(p, g, lr, beta1, beta2, eps):
    """The largest of the corrected second moments."""

    def step(p, grad, s, t):
        m, v = mean(s, "m", beta1, grad), mean(s, "v", beta2, grad**2) / (1 - beta2**t)
        s["top"] = np.maximum(s.get("top", 0.0), v)
        return p - lr * m / (1 - beta1**t) / (np.sqrt(s["top"]) + eps)

    return steps(p, g, step)


def adamax(p, g, lr, beta1, beta2, eps, corrected=True, old=False, after=0.0):
    def step(p, grad, s, t):
        m, before = mean(s, "m", beta1, grad), beta2 * s.get("u", 0.0)
        s["u"] = np.maximum(before + eps, np.abs(grad)) if old else np.maximum(before, np.abs(grad) + (0.0 if after else eps))
        return p - lr * m / (1 - beta1**t if corrected else 1.0) / (s["u"] + after)

    return steps(p, g, step)


def adamax_after(p, g, lr, beta1, beta2, eps):
    return adamax(p, g, lr, beta1, beta2, eps, after=eps)


def adamax_uncorrected(p, g, lr, beta1, beta2, eps):
    return adamax(p, g, lr, beta1, beta2, eps, corrected=False, after=eps)


def adamax_old(p, g, lr, beta1, beta2, eps):
    return adamax(p, g, lr, beta1, beta2, eps, old=True)


def nadam(p, g, lr, beta1, beta2, eps, psi):
    def step(p, grad, s, t):
        m, v = mean(s, "m", beta1, grad), mean(s, "v", beta2, grad**2)
        mu, following = (beta1 * (1 - 0.5 * 0.96 ** (n * psi)) for n in (t, t + 1))
        s["mus"] = s.get("mus", 1.0) * mu
        m_hat = following * m / (1 - s["mus"] * following) + (1 - mu) * grad / (1 - s["mus"])
        return p - lr * m_hat / (np.sqrt(v / (1 - beta2**t)) + eps)

    return steps(p, g, step)


def nadam_plain(p, g, lr, beta1, beta2, eps, psi):  # noqa: ARG001  it has no such option
    def step(p, grad, s, t):
        m, v = mean(s, "m", beta1, grad), mean(s, "v", beta2, grad**2)
        m_hat = beta1 * m / (1 - beta1 ** (t + 1)) + (1 - beta1) * grad / (1 - beta1**t)
        return p - lr * m_hat / (np.sqrt(v / (1 - beta2**t)) + eps)

    return steps(p, g, step)


def radam(p, g, lr, beta1, beta2, eps, hat=True):
    def step(p, grad, s, t):
        m, v = mean(s, "m", beta1, grad) / (1 - beta1**t), mean(s, "v", beta2, grad**2)
        most, correction = 2 / (1 - beta2) - 1, 1 - beta2**t
        rho = most - 2 * t * beta2**t / correction
        if rho <= 5:
            return p - lr * m
        r = np.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
        return p - lr * m * r / (np.sqrt(v / correction) + (eps / np.sqrt(correction) if hat else eps))

    return steps(p, g, step)


def radam_outside(p, g, lr, beta1, beta2, eps):
    return radam(p, g, lr, beta1, beta2, eps, hat=False)


def lamb(p, g, lr, beta1, beta2, eps):
    def step(p, grad, s, t):
        m, v = mean(s, "m", beta1, grad) / (1 - beta1**t), mean(s, "v", beta2, grad**2) / (1 - beta2**t)
        r = m / (np.sqrt(v) + eps)
        sizes = np.sqrt(np.sum(p**2)), np.sqrt(np.sum(r**2))
        return p - lr * (sizes[0] / sizes[1] if sizes[0] > 0 and sizes[1] > 0 else 1.0) * r

    return steps(p, g, step)


def adam_absent(p, g, lr, beta1, beta2, eps, absent):
    return adam(p, present(g, absent), lr, beta1, beta2, eps)


def adam_absent_hat(p, g, lr, beta1, beta2, eps, absent):
    return adam(p, present(g, absent), lr, beta1, beta2, eps, hat=True)


# In series: ten roundings of p; of an update, a mean's (2 a step, of which its decay leaves ten), a square, a root, two quotients, a product.
MANY = 40
# 1 - beta2^t is off by u of 1, in float32 at least, and an update by half of that over what is left: at lr 1/8, ten steps add up to 188 u.
CORRECTED = 200
EPS, WIDE = (2.0**-27, 2.0**-13), ("float32", "float64", "bfloat16")
KERAS, OPTAX = "https://keras.io/api/optimizers/", "https://optax.readthedocs.io/en/latest/api/optimizers.html"
PADDLE = "https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/optimizer/"
MLX = "https://ml-explore.github.io/mlx/build/html/python/optimizers/_autosummary/mlx.optimizers."
UNCORRECTED = "its means are not corrected by default, as its text says"
HAT = "its epsilon is the paper's epsilon hat, as its text says"


def adaptive(**options):
    return optimizer(lr=(0.0625, 0.125), beta1=(0.875, 0.5), beta2=(1 - 2.0**-10, 1 - 2.0**-6), **options)


def ten_steps(forward, takes, dtypes=WIDE, claim="", **documented):
    """``documented``: framework -> (link, why, forward)."""
    return Op(
        claim=claim,
        forward=forward,
        takes=takes,
        gradient=False,
        dtypes=dtypes,
        roundings=MANY,
        terms=lambda _: CORRECTED,
        documented=documented,
    )


CASE = Sweep(
    claim="Ten steps with given gradients leave the parameter that the optimizer's definition says, whatever its rank.",
    failure="optimizer",
    items={
        "adam": ten_steps(
            adam, adaptive(eps=EPS), tensorflow=(KERAS + "adam/", HAT, adam_hat), paddle=(PADDLE + "Adam_en.html", HAT, adam_hat)
        ),
        "adam_default": ten_steps(
            adam_default,
            optimizer(lr=(0.0625, 0.125)),
            ("float32",),
            "Adam with no option but the rate is that of the paper.",
            tensorflow=(KERAS + "adam/", HAT + ", and 1e-7 by default", adam_default_keras),
            mlx=(MLX + "Adam.html", UNCORRECTED, adam_default_mlx),
            paddle=(PADDLE + "Adam_en.html", HAT, adam_default_hat),
        ),
        "adamw_default": ten_steps(
            adamw_default,
            optimizer(lr=(0.0625, 0.125)),
            ("float32",),
            "AdamW with no option but the rate decays by 0.01.",
            jax=(OPTAX, "it decays by 1e-4 by default, as its text says", adamw_default_optax),
            tensorflow=(KERAS + "adamw/", HAT + ", and 1e-7 by default; it decays by 0.004", adamw_default_keras),
            mlx=(MLX + "AdamW.html", UNCORRECTED, adamw_default_mlx),
            paddle=(PADDLE + "AdamW_en.html", HAT, adamw_default_hat),
        ),
        "adam_half": ten_steps(
            adam,
            adaptive(eps=EPS),
            ("float16",),
            "Adam in float16, which rounds its usual epsilon to nothing and has no room for small squares.",
        ),
        "adam_l2": ten_steps(adam_l2, adaptive(eps=EPS, decay=(0.125,)), paddle=(PADDLE + "Adam_en.html", HAT, adam_l2_hat)),
        "adam_absent": ten_steps(
            adam_absent,
            adaptive(absent=True, eps=EPS),
            claim="A parameter that gets no gradient in a step is left alone in it, and its next steps are counted from there.",
            tensorflow=(KERAS + "adam/", HAT, adam_absent_hat),
            paddle=(PADDLE + "Adam_en.html", HAT, adam_absent_hat),
        ),
        "adamw": ten_steps(
            adamw,
            adaptive(eps=EPS, decay=(0.125,)),
            tensorflow=(KERAS + "adamw/", HAT, adamw_hat),
            paddle=(PADDLE + "AdamW_en.html", HAT, adamw_hat),
        ),
        "amsgrad": ten_steps(
            amsgrad,
            adaptive(eps=EPS),
            tensorflow=(KERAS + "adam/", HAT, amsgrad_hat),
            paddle=(PADDLE + "Adam_en.html", HAT, amsgrad_hat),
            jax=(OPTAX, "the correction comes before the maximum, as its text says", amsgrad_corrected),
        ),
        "adamax": ten_steps(
            adamax,
            adaptive(eps=EPS),
            mlx=(MLX + "Adamax.html", "without the correction of the first moment, as its text says", adamax_uncorrected),
            tensorflow=(KERAS + "adamax/", "epsilon is added to the maximum, as its formula has it", adamax_after),
            paddle=(PADDLE + "Adamax_en.html", "epsilon is added to the old maximum, as its formula has it", adamax_old),
        ),
        "nadam": ten_steps(
            nadam,
            adaptive(eps=EPS, psi=(1.0,)),
            jax=(OPTAX, "Nesterov's momentum without a schedule of it, as its formula has it", nadam_plain),
        ),
        "radam": ten_steps(
            radam, adaptive(eps=EPS), jax=(OPTAX, "epsilon is added after the correction, as its formula has it", radam_outside)
        ),
        "lamb": ten_steps(lamb, adaptive(eps=EPS)),
    },
)
