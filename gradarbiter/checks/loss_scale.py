"""The first loss is near ln V, and accumulation gives the whole batch's gradient; careful that the loss of a model that knows nothing has a spread.

*The first loss.* A model that knows nothing has no better than ln V to expect, V classes. Logits of standard deviation s within a position cost s^2 / 2 more
(log E exp(z) of a normal z). Linear layers at their defaults, uniform in +-1 / sqrt(fan in), have s^2 = 1/3 on inputs of size 1: ln V + 0.17; N(0, 1 / fan in)
has s = 1: ln V + 0.5. HOT allows twice that, s = 1.41; beyond it the first hundred steps are spent on unlearning. What targets drawn at random would cost is
computed from the outputs (`chance`), and both it and the loss itself must be hot: biases set to the classes' frequencies are far from 0 and cost nothing.

Below ln V, some targets were known: a leak, or a wrong loss. What the average logits of the batch explain (such biases) is taken out first. What remains has a
mean of 0 over targets that have nothing to do with it, and a standard deviation of s / sqrt(n); of n rows, or of n different pairs of a token and its target,
since equal pairs are not independent. Five of them are allowed. Where fewer than half of the targets are the token just read, those are left out: an output
layer tied to the embeddings favours it.

*Accumulation.* ``accumulate=`` is held against the gradient of the whole batch, which must be the micro-batches that it uses, one after the other; before
clipping, after unscaling. A difference is asked again in evaluation mode, where dropout and batch statistics are no cause. Sums are taken in another order in
both: a parameter whose terms nearly cancel differs by more of its size, which the gradient of the same batch with its rows reversed measures.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradarbiter import cross_entropy, probe
from gradarbiter.batch import leaves
from gradarbiter.core import Array
from gradarbiter.cross_entropy import Reading
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Expect, Subject

HOT = 1.0
SIGMAS = 5.0
NOISES = 8.0  # reversing the rows is one draw of the noise that it measures

Gradients = dict[str, Array]


def loss_scale(subject: Subject, expect: Expect) -> list[Finding]:
    found, unasked = [], []
    for part, name in ((_first_loss, "first loss"), (_accumulation, "accumulation")):
        try:
            found += part(subject, expect)
        except NotAsked as reason:
            unasked.append(Finding(kind="not asked", parameter=name, text=str(reason), accuses=False))
    if len(unasked) == 2:
        raise NotAsked("; ".join(finding.text for finding in unasked))
    return found + unasked


def _first_loss(subject: Subject, expect: Expect) -> list[Finding]:
    if expect.trained:
        raise NotAsked("declared as trained: its loss may be anything")
    loss, outputs, gradient = subject.output_gradient()
    reading = cross_entropy.read(probe.defined(outputs), gradient)
    if not reading.is_one:
        raise NotAsked("the loss is no cross-entropy of the outputs")
    at = reading.scored
    classes = min(int(np.median(reading.classes[at])), expect.vocab_size or outputs.shape[-1])
    even, mean, chance = float(np.log(classes)), float(reading.nll[at].mean()), float(reading.chance[at].mean())
    spread = float(reading.deviation[at].mean())
    numbers = {"loss": loss, "mean": mean, "ln V": even, "V": classes, "deviation of the logits": spread, "random targets": chance}
    if min(chance, mean) > even + HOT:
        text = f"the first loss is {mean:.3f} where ln {classes} is {even:.3f}: logits have a standard deviation of {spread:.2f}"
        text += f" (up to {np.sqrt(2 * HOT):.2f} is usual)"
        return [Finding(kind="hot", parameter="loss", text=text, numbers=numbers)]
    if even - mean <= SIGMAS * spread / np.sqrt(_independent(subject, reading)):
        return []
    return _known(subject, outputs, gradient, even, numbers)


def _known(subject: Subject, outputs: Array, gradient: Array, even: float, numbers: dict[str, float]) -> list[Finding]:
    """The loss without what the average logits of the batch say."""
    classes = outputs.shape[-1]
    average = np.where(gradient.reshape(-1, classes).any(axis=0), outputs.reshape(-1, classes).mean(axis=0, dtype=np.float64), 0.0)
    reading = cross_entropy.read(outputs - average, gradient)
    at, ids = reading.scored, _read(subject, reading)
    own = at & (reading.target == ids) if ids is not None else np.zeros_like(at)
    at = at & ~own if 2 * own.sum() < at.sum() else at
    mean, spread = float(reading.nll[at].mean()), float(reading.deviation[at].mean())
    noise = spread / np.sqrt(_independent(subject, reading))
    numbers |= {"without average logits": mean, "noise": float(noise)}
    if even - mean > SIGMAS * noise:
        text = f"the first loss is {numbers['mean']:.3f}, below ln V = {even:.3f} by {(even - mean) / noise:.0f} times what chance does: "
        text += "targets are seen (a leak)"
        return [
            Finding(
                kind="known",
                parameter="loss",
                text=f"{text}, or the loss is wrong; if the model is trained, say trained=True",
                numbers=numbers,
            )
        ]
    text = f"the first loss is {numbers['mean']:.3f}, below ln V = {even:.3f}, as average logits (biases set to the classes' frequencies) explain"
    return [Finding(kind="frequencies", parameter="loss", text=text, numbers=numbers, accuses=False)]


def _read(subject: Subject, reading: Reading) -> Array | None:
    """The token that each scored position of a language model has just read."""
    try:
        ids = subject.tokens()
    except NotAsked:
        return None
    rows, length = reading.target.shape if reading.target.ndim == 2 else (0, 0)
    return np.asarray(ids[:, :length]) if rows == len(ids) and ids.shape[1] >= length else None


def _independent(subject: Subject, reading: Reading) -> int:
    """How many of the targets are as good as drawn apart: rows of a batch are; positions with the same token and the same target are one."""
    at, ids = reading.scored, _read(subject, reading)
    if reading.target.ndim == 1:
        return int(at.sum())
    pairs = [reading.target[at]] if ids is None else [reading.target[at], ids[at]]
    return int(np.unique(np.stack(pairs), axis=1).shape[1])


def _accumulation(subject: Subject, expect: Expect) -> list[Finding]:
    whole = _there(subject.gradients()[1])  # first: other checks ask it too, and what is asked after a training-mode pass is not remembered
    found = _there(
        subject.accumulated(seed=None)
    )  # as update_flow asks it; where random numbers make it another, it is asked in evaluation
    if not any(g.any() for g in whole.values()):
        raise NotAsked("no parameter has a gradient: see gradient_flow")
    if not all(np.isfinite(g).all() for g in (*found.values(), *whole.values())):
        raise NotAsked("gradients are not finite: see gradient_flow")
    own = max(probe.unit(g) for g in whole.values())
    own = min(own, probe.meant(subject, expect)) if own > probe.FLOAT32 else own
    limit = probe.rounding(subject, next(iter(whole.values())), own)
    if not _off(found, whole, limit, {}):
        return []
    evaluated, plain = _there(subject.accumulated(training=False)), _there(subject.gradients(training=False)[1])
    if not _off(evaluated, plain, limit, {}):
        return []
    if not _off(evaluated, _there(subject.accumulated()), limit, {}) and _off(plain, whole, limit, {}):
        raise NotAsked(
            "accumulate= sets training mode itself, in which this model drops channels or mixes rows: leave the mode to the caller"
        )
    sizes = [leaf.shape[0] for _, leaf in leaves(subject.batch) if len(leaf.shape)]
    again = _there(subject.gradients(subject.with_rows(range(max(set(sizes), key=sizes.count))[::-1]), training=False)[1])
    noise = {name: NOISES * float(np.linalg.norm(again[name] - g)) for name, g in plain.items() if name in again}
    off = _off(evaluated, plain, limit, noise)
    return [_judged(evaluated, plain, off, limit, noise, own)] if off else []


def _judged(found: Gradients, whole: Gradients, off: dict[str, float], limit: float, noise: dict[str, float], own: float) -> Finding:
    """One factor for all parameters, or which differ."""
    times = sum(_dot(found[name], g) for name, g in whole.items() if name in found) / sum(_dot(g, g) for g in whole.values())
    scaled = {name: times * g for name, g in whole.items()}
    if abs(times - 1) > limit and not _off(found, scaled, limit, {name: times * size for name, size in noise.items()}):
        text = f"accumulation gives {times:.6g} times the gradient of the whole batch, for every parameter"
        if times > 1.5 and abs(times - round(times)) < 0.01:
            text += f": {round(times)} micro-batches that are not divided by their number, or a loss scale that is still in it"
        return Finding(kind="scale", parameter="all parameters", text=text, numbers={"times": times, "parameters": len(whole)})
    worst = max(off, key=lambda name: off[name])
    numbers = {"difference": off[worst], "rounding": limit, "parameters": len(off), "of": len(whole)}
    narrow = max(probe.unit(g) for g in found.values())
    if narrow > own and off[worst] < 8 * narrow:
        text = f"{len(off)} of {len(whole)} parameters get gradients that accumulation rounds to {narrow:.0e} (off by {off[worst]:.1e} in {worst})"
        return Finding(kind="rounded", parameter=worst, text=text, numbers=numbers)
    text = f"accumulation gives {len(off)} of {len(whole)} parameters another gradient than the whole batch does: {off[worst]:.1e} of its size in {worst} "
    text += f"(rounding: {limit:.1e}); micro-batches of unequal numbers of tokens weigh wrongly, or the batch is not what accumulate= uses"
    return Finding(kind="unequal", parameter=worst, text=text, numbers=numbers)


def _off(found: Gradients, whole: Gradients, limit: float, noise: dict[str, float]) -> dict[str, float]:
    """Parameters whose gradients differ by more than they may, and by how much of their size. One without a gradient has none of any size."""
    off = {}
    for name in found.keys() | whole.keys():
        g = whole.get(name, np.zeros_like(found.get(name, np.zeros(1))))
        size, error = float(np.linalg.norm(g)), float(np.linalg.norm(found.get(name, np.zeros_like(g)) - g))
        if not error <= limit * size + noise.get(name, 0.0):
            off[name] = error / size if size else np.inf
    return off


def _dot(a: Array, b: Array) -> float:
    return float((a.astype(np.float64) * b).sum())


def _there(gradients: Mapping[str, Array | None]) -> Gradients:
    return {name: g for name, g in gradients.items() if g is not None}
