"""The order of the data: whether a shuffled epoch gives each sample once, with its own label, the same again from the same seed and another in the next epoch.

37 samples in batches of 5, so that the last batch is short. The order is the framework's own; what is checked of it is not: how often each sample came,
which label came with it, in how many of the 37 places an epoch equals the same epoch of a second loader of the same seed, and whether it equals the next
epoch or the storage (1 where it does not).

- epoch: a loader in the process itself.
- workers: the same with two worker processes or threads; its second loader has none.
- split: a tenth held out of a shuffled set, two epochs over the rest. A loader that shuffles anew for each epoch and splits after that trains on what it
  holds out: tensorflow's variant `take`. jax, mlx and the trainer have no loader: of a permutation cut by hand `label_seen` and `split` cannot fail.
"""

import numpy as np

from harness.case import Absent, Case, Item, Tol

SAMPLES = 37


def inputs(rng):
    return {"sample": np.arange(SAMPLES), "label": rng.integers(1, 1000, size=SAMPLES)}


def shuffled(sample, label):
    return {
        "times_seen": np.ones(len(sample)),
        "label_seen": label,
        "same_from_the_seed": np.array([len(sample)]),
        "other_than_storage": np.array([1]),
        "other_next_epoch": np.array([1]),
    }


def held_out(sample, label):
    """Over two epochs; ``apart`` is 1 where no sample is both trained on and held out."""
    return {"times_seen": np.full(len(sample), 2), "label_seen": label, "apart": np.array([1]), "held_out": np.array([4])}


NO_LOADER = "it has no loader; a permutation of its own generator is asked in `epoch` and `split`"

CASE = Case(
    claim="A shuffled epoch holds every sample once with its label, and its order follows from the seed.",
    failure="data",
    inputs=inputs,
    reference=shuffled,
    tol={"float64": Tol(rtol=0.0, atol=0.0, why="counts")},
    items={
        "epoch": Item(),
        "workers": Item(
            claim="Two workers change nothing of an epoch's order.",
            absent={
                "jax": Absent(names=("jax.data", "jax.numpy.DataLoader"), why=NO_LOADER),
                "mlx": Absent(names=("mlx.data", "mlx.nn.DataLoader"), why=NO_LOADER),
            },
        ),
        "split": Item(claim="What is held out stays held out in the next epoch.", reference=held_out),
    },
    tracker={
        "tensorflow": "split, `take`: https://github.com/tensorflow/tensorflow/issues/59279 (open); shuffle documents that it shuffles anew"
    },
    guards="trainer/order.py; gradarbiter's data order",
)
