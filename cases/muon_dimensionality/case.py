"""Muon beyond the plain matrix: what one step does to parameters of every rank, and to matrices whose storage order is not the usual one.

One rule gives every reference. A parameter is read as the matrix of the linear map that its layer applies, G [out, in]; the update is

    -lr * sqrt(max(1, out / in)) * NS5(G),

NS5 being five quintic Newton-Schulz steps (3.4445, -4.7750, 2.0315) from G / |G|, as in Keller Jordan's reference implementation. The weight
starts at zero and decays by zero, so the new weight is the update. Momentum (0.95, Nesterov) multiplies a first gradient by a positive number,
which the division by |G| takes away: every framework's convention for it gives the same first step.

Which matrix, per item; out and in are features of the layer, whatever the storage order:
- linear_wide, linear_tall: the weight of the framework's own Linear, or of the layout its Muon documents where it has no layers.
- stack [layers, out, in]: each matrix by itself, as the reference implementation does. One matrix [layers, out*in] mixes the layers.
- kernel [out, in, kh, kw]: [out, in*kh*kw], which the reference documents. Its code takes the scale from kh / kw and its text from the
  flattened matrix; the shape is such that both are 1, so the item does not take sides.
- embedding [vocab, dim]: looked up by a one-hot row, so in = vocab and out = dim. vocab / dim for out / in is 8 times too much at 50k x 768.
- vector [n]: a bias is the weight of a constant input, so [out=n, in=1]: the direction of the gradient. Muon is not defined for it, and
  refusing is the best answer (`loud` is healthy). Whoever answers instead must at least give a step whose size does not follow the gradient's.

Documented second references: a choice counts only where the framework's text speaks of this kind of parameter and a documented formula gives
the number. optax sends what is not 2-D through AdamW and says so. torch, mlx and Burn tell users to keep embeddings away from Muon and state,
or follow, rows / columns of the matrix as stored. Burn states that formula for its Linear too, but names fan-out / fan-in's author as its
source and recommends Muon for just these matrices, so the number there is a defect and not a choice. mlx speaks of 1-D parameters, but no
text gives what it does to them.
"""

import numpy as np

from harness.case import Absent, Case, Documented, Item, Tol, close
from harness.inputs import grid

LR = 0.02
A, B, C = 3.4445, -4.7750, 2.0315


def newton_schulz(g_OI):
    x = g_OI / np.linalg.norm(g_OI)
    for _ in range(5):
        gram = x @ x.T
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


def muon(g_OI):
    out, into = g_OI.shape
    return -LR * np.sqrt(max(1.0, out / into)) * newton_schulz(g_OI)


def matrix(grad):
    return {"update": muon(grad)}


def each_matrix(grad):
    return {"update": np.stack([muon(g) for g in grad])}


def flattened(grad):
    """First axis out, the rest in: a kernel [out, in*kh*kw], a vector [n, 1]."""
    return {"update": muon(grad.reshape(len(grad), -1)).reshape(grad.shape)}


def table(grad):
    return {"update": muon(grad.T).T}


def moonlight(grad):
    """Moonlight's scale instead: 0.2 sqrt(max(out, in)), which makes an entry move like AdamW's (arXiv 2502.16982)."""
    return {"update": -LR * 0.2 * np.sqrt(max(grad.shape)) * newton_schulz(grad)}


def table_as_stored(grad):
    """Rows / columns of [vocab, dim] for out / in."""
    return {"update": muon(grad)}


def first_adamw_step(grad):
    """Optax's fallback with its defaults, Nesterov included: m = (1-b1) g, v = (1-b2) g^2, both debiased, so each entry moves by the same."""
    b1 = 0.9
    looked_ahead = b1 * (1 - b1) / (1 - b1**2) + 1  # b1 * m debiased for step 2, plus (1-b1) * g debiased for step 1
    return {"update": -LR * looked_ahead * np.sign(grad)}


def plain_adamw_step(grad):
    """Without weight decay: m and v debiased are g and g^2, so each entry moves by the learning rate."""
    return {"update": -LR * np.sign(grad)}


def wide(rng):
    return {"grad": grid(rng, 16, 4)}


def tall(rng):
    return {"grad": grid(rng, 4, 16)}


def layers(rng):
    return {"grad": grid(rng, 3, 8, 4)}


def conv(rng):
    return {"grad": grid(rng, 6, 2, 5, 5)}


def vocabulary(rng):
    return {"grad": grid(rng, 16, 4)}


def bias(rng):
    return {"grad": grid(rng, 16)}


ADAMW = Documented(
    reference=first_adamw_step,
    link="optax 0.2.8, docstring of optax.contrib.muon: 'The non-2D parameters are instead passed through an AdamW optimizer' (0.2.5: 'an Adam')",
    why="parameters that are not 2-D take an AdamW step unless muon_weight_dimension_numbers names their axes",
)
KERAS = "keras 3.15.1, docstring of keras.optimizers.Muon: "
KERAS_SCALE = Documented(
    reference=moonlight,
    link=KERAS + "rms_rate",
    why="keras scales as Moonlight does, by sqrt(max(out, in)) * rms_rate, so that Muon takes AdamW's learning rate",
)
KERAS_ADAMW = Documented(
    reference=plain_adamw_step,
    link=KERAS + "'For any variable that isn't 2D, the AdamW step will be used. This is not configurable', and exclude_embeddings",
    why="parameters that are not 2-D, and embeddings, take an AdamW step",
)
WARNED = "the documentation says to optimize embeddings with another method; given one, the scale is rows / columns as stored"

CASE = Case(
    claim="Muon steps by lr * sqrt(max(1, out/in)) times the orthogonalized gradient of the layer's matrix, or refuses the parameter.",
    failure="optimizer",
    checks=[close("update", norm="normwise")],
    tol={
        dtype: Tol(
            rtol=0.06,
            atol=0.0,
            why="torch iterates in bfloat16 whatever the type (u = 2^-8): 5 steps of 3 rounded products, 15 u = 6 % of the norm where the "
            "steps neither amplify nor damp; the gradients' singular values are within 10 of each other, so that none is amplified from "
            "rounding noise. A wrong scale is off by 37 % at least, a wrong flattening by more",
        )
        for dtype in ("float64", "float32")
    },
    items={
        "linear_wide": Item(
            claim="The step on a Linear 4 -> 16 has twice the scale of a square one: sqrt(out/in).",
            inputs=wide,
            reference=matrix,
            documented={"tensorflow": KERAS_SCALE},
        ),
        "linear_tall": Item(
            claim="The step on a Linear 16 -> 4 has the scale of a square one.",
            inputs=tall,
            reference=matrix,
            documented={"tensorflow": KERAS_SCALE},
        ),
        "stack": Item(
            claim="Each matrix of a 3-D parameter is orthogonalized by itself, or the parameter refused.",
            inputs=layers,
            reference=each_matrix,
            batch=["grad"],
            documented={"jax": ADAMW, "tensorflow": KERAS_ADAMW},
        ),
        "kernel": Item(
            claim="A convolution kernel is orthogonalized as [out, in*kh*kw], or refused.",
            inputs=conv,
            reference=flattened,
            documented={"jax": ADAMW, "tensorflow": KERAS_ADAMW},
        ),
        "embedding": Item(
            claim="The step on an embedding table is scaled by dim/vocab, not vocab/dim, or the table refused.",
            inputs=vocabulary,
            reference=table,
            documented={
                "torch": Documented(
                    reference=table_as_stored,
                    link="torch 2.15.0, docstring of torch.optim.Muon: params, and 'A and B are dimensions of the matrix'",
                    why=WARNED,
                ),
                "mlx": Documented(
                    reference=table_as_stored,
                    link="mlx 0.32.4, docstring of mlx.optimizers.Muon: Note, and 'follows the original implementation'",
                    why=WARNED,
                ),
                "tensorflow": KERAS_ADAMW,
                "trainer": Documented(
                    reference=plain_adamw_step,
                    link="trainer/optim.py, its first line and by_role",
                    why="Muon is for hidden matrices: an embedding takes an AdamW step",
                ),
                "burn": Documented(
                    reference=table_as_stored, link="burn-optim 0.20.1 and 0.21.0, muon.rs, doc comment of MuonConfig", why=WARNED
                ),
            },
        ),
        "vector": Item(
            claim="A 1-D parameter is refused, or moves by its gradient's direction.",
            inputs=bias,
            reference=flattened,
            documented={"jax": ADAMW, "tensorflow": KERAS_ADAMW},
        ),
    },
    absent={
        "paddle": Absent(names=("paddle.optimizer.Muon", "paddle.incubate.optimizer.Muon"), why="paddle has no Muon"),
    },
    explained={
        "bfloat16 accumulator*": "iterating in bfloat16 is what the reference implementation and torch do; the tolerance is made for it",
    },
    tracker={
        "burn": "linear_wide, linear_tall: rows / columns of a Linear stored [in, out]; no report found",
        "mlx": "vector: momentum SGD at 0.0975 lr; stack: flattened to [layers, out*in]; kernel: the scale is taken from kw / in of [out, kh, kw, in]; "
        "no report found (the port's https://github.com/ml-explore/mlx-swift/pull/432 describes the 1-D fallback)",
        "jax": "stack, kernel, vector: AdamW by documented default",
        "torch": "accepting more than 2-D: https://github.com/pytorch/pytorch/pull/180561",
        "candle": "no Muon up to 0.11.1",
        "tinygrad": "linear_wide, vector: no scale, though the paper that its docstring names has one (arXiv 2502.16982); stack: flattened to "
        "[layers, out*in]. float64 is refused: its momentum is float32. No report found; added by https://github.com/tinygrad/tinygrad/pull/11414",
        "tensorflow": "keras's Muon; in float64 its scale is float32 and the product refuses",
    },
    guards="trainer/optim.py",
)
