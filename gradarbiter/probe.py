"""What checks that change the tokens or the weights and look at the outputs share; careful that a change in rounding is never taken for an influence."""

from __future__ import annotations

import math

import numpy as np

from gradarbiter.core import Array
from gradarbiter.result import NotAsked
from gradarbiter.subject import Expect, Subject

FLOAT32 = 2.0**-24  # unit roundoff: half the distance from 1 to the next number
UNITS = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": FLOAT32, "float64": 2.0**-53}


def unit(values: Array) -> float:
    """Unit roundoff of the narrowest of bfloat16, float16, float32 and float64 that holds each of these values."""
    if values.dtype == np.float64:
        narrow = values.astype(np.float32)
        if not np.array_equal(narrow, values, equal_nan=True):
            return 2.0**-53
        values = narrow
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    if not (bits & 0xFFFF).any():  # bfloat16 is the upper half of float32
        return 2.0**-8
    return 2.0**-11 if not (bits & 0x1FFF).any() else FLOAT32


def meant(subject: Subject, expect: Expect) -> float:
    """Unit roundoff of the dtype that matrix products are meant to be in; infinite where nobody says."""
    computes = getattr(subject, "computes", None)
    return UNITS.get(expect.dtype or (computes() if computes is not None else ""), math.inf)


def rounding(subject: Subject, outputs: Array, own: float = 0.0) -> float:
    """How much of their size outputs may change when the same sums are taken in another order.

    A matrix product sums K terms in float32 or wider, whatever it is given (K: the longest axis of a parameter): an error like sqrt(K) units of float32. Its
    result is rounded to the dtype of the outputs. Of n matrices in series, the errors add up like random steps: sqrt(n). Four standard deviations.
    ``own``: the outputs' unit, if it is not to be read off them.
    """
    matrices = [parameter.shape for parameter in subject.parameters() if len(parameter.shape) > 1]
    longest = max((max(shape) for shape in matrices), default=1)
    own = own or unit(outputs)
    return 4 * math.sqrt(len(matrices) + 1) * (own + min(own, FLOAT32) * math.sqrt(longest))


def change(got: Array, want: Array) -> Array:
    """The largest |got - want| along the last axis, as a share of the largest |want| of all; the same infinity in both is no change.

    A row at a time: float64 copies of all logits would be large.
    """
    got, want = (
        outputs.reshape(len(outputs) if outputs.ndim else 1, -1) if outputs.ndim < 2 else outputs for outputs in (got, defined(want))
    )
    scale = max(float(np.abs(row[np.isfinite(row)]).max(initial=0.0)) for row in want)
    if scale == 0:
        raise NotAsked("every output is 0: ask after a training step, or of a model whose head is not zero")
    return np.stack([_moved(a, b).max(axis=-1, initial=0.0) / scale for a, b in zip(got, want, strict=True)])


def _moved(got: Array, want: Array) -> Array:
    with np.errstate(invalid="ignore"):
        moved = np.abs(got.astype(np.float64) - want)
    moved[got == want] = 0.0
    moved[np.isnan(moved)] = np.inf
    return np.asarray(moved)


def defined(outputs: Array) -> Array:
    if (wrong := np.isnan(outputs)).any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise NotAsked(
            f"{int(wrong.sum())} of {outputs.size} outputs are not a number (at {at}): nothing can be told from them; see low_precision"
        )
    return outputs


def positions(subject: Subject, outputs: Array) -> Array:
    """The batch's token ids, one column an output position: outputs[:, t] is what the model says after it read token t.

    Raises:
        NotAsked: the outputs have no axis of positions. They may be up to two fewer than the tokens: the last tokens are targets alone.
    """
    ids = subject.tokens()
    if outputs.ndim != 3 or len(outputs) != len(ids) or not 0 <= ids.shape[1] - outputs.shape[1] <= 2:
        raise NotAsked(
            f"outputs {outputs.shape} for tokens {ids.shape}: an output for every position is needed: give predict=, which returns them"
        )
    return np.asarray(ids[:, : outputs.shape[1]])


def alphabet(ids: Array, expect: Expect) -> Array:
    """The ids that occur, without padding: each is known to be valid."""
    known = np.unique(ids)
    known = known[(known >= 0) & (known != expect.padding)]
    if len(known) < 4:
        raise NotAsked(f"{len(known)} different tokens in the batch: give a batch with at least 4")
    return np.asarray(known)


def others(ids: Array, known: Array) -> Array:
    """Each id replaced by the next one that occurs."""
    at = np.searchsorted(known, ids)
    return np.asarray(known[(np.minimum(at, len(known) - 1) + 1) % len(known)])


def wake(subject: Subject) -> None:
    """Give random values to what is all zero, if more than biases is: a zero-initialised branch (adaLN-zero, LoRA's B) would hide what is behind it.

    A matrix gets gain 1 (its product is as large as its input), a vector or a scalar a tenth.
    """
    random = np.random.default_rng(0)
    zero = {name: value for name, value in subject.read().items() if value.size and not value.any()}
    if all(name.rpartition(".")[2] in ("b", "beta") or "bias" in name.rpartition(".")[2] for name in zero):
        return
    subject.write({name: random.normal(0, size(value), value.shape).astype(value.dtype) for name, value in zero.items()})


def size(value: Array) -> float:
    """The root mean square at which a matrix has gain 1: sqrt(fan in); which axis that is, is the framework's secret, so the mean of both."""
    return float(value.size) ** -0.25 if value.ndim > 1 else 0.1
