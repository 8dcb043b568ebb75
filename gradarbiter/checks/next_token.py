"""The loss is the mean cross-entropy of the next tokens; careful to judge it by its gradient at the outputs, which shows target, weight and softmax.

What is legitimate is a note: a z-loss, unequal weights, a loss that is a multiple of the mean. Positions without weight are healthy (prompts, the last token)
unless the loss counts them, or the gradient of the output layer lacks them though they have weight.
"""

from __future__ import annotations

import numpy as np

from gradarbiter import cross_entropy, probe
from gradarbiter.core import Array
from gradarbiter.cross_entropy import Reading
from gradarbiter.result import Finding, NotAsked
from gradarbiter.subject import Arrays, Expect, Subject

SMOOTHED = 1e-3  # label smoothing is of the order of 0.1; the fit is good to rounding / FLAT


def next_token(subject: Subject, expect: Expect) -> list[Finding]:
    if expect.next_token is False:
        raise NotAsked("declared as another loss")
    loss, outputs, gradient = subject.output_gradient()
    length = probe.positions(subject, outputs).shape[1]
    ids, reading = subject.tokens(), cross_entropy.read(probe.defined(outputs), gradient)
    if not reading.is_one:
        raise NotAsked(
            "the gradient with respect to the outputs is not that of a cross-entropy of them: give predict=, which returns the logits"
        )
    padding = cross_entropy.padded(ids, length, expect)
    shift = cross_entropy.shift(reading, ids, but=padding)
    if expect.next_token is None and shift is None:
        raise NotAsked("targets are not tokens of the batch: say next_token=True if they are to be the next ones, or next_token=False")
    sure = expect.next_token is True
    return [
        *_targets(reading, ids, padding, shift),
        *_vocabulary(outputs, gradient, expect),
        *(shape := _softmax(reading, outputs, gradient, sure=sure)),
        *(_value(reading, outputs, ids, padding, loss=loss, own=probe.unit(gradient), sure=sure) if not shape else ()),
        *_cut(subject, outputs, gradient),
    ]


def _targets(reading: Reading, ids: Array, padding: Array, shift: int | None) -> list[Finding]:
    found = []
    if wrong := int((reading.scored & padding).sum()):
        row, at = np.argwhere(reading.scored & padding)[0]
        text = f"{wrong} positions whose next token is padding are scored (row {row}, position {at}: as token {reading.target[row, at]})"
        found.append(Finding(kind="padding", parameter="targets", text=text, numbers={"positions": wrong}))
    if shift is None:
        right, known = cross_entropy.agrees(reading, ids, 1, but=padding)
        if not len(bad := np.argwhere(known & ~right)):
            return found
        row, at = bad[0]
        text = f"{len(bad)} of {int(known.sum())} scored positions are trained for another token than the next"
        text += f" (row {row}, position {at}: for {reading.target[row, at]})"
        found.append(Finding(kind="targets", parameter="targets", text=text, numbers={"wrong": len(bad), "scored": int(known.sum())}))
    elif shift != 1:
        what = "the token that was just read" if shift == 0 else f"the token {abs(shift)} places {'on' if shift > 0 else 'back'}"
        text = f"every scored position is trained for {what}, not for the next one"
        found.append(Finding(kind="shift", parameter="targets", text=text, numbers={"shift": shift}))
    return found


def _vocabulary(outputs: Array, gradient: Array, expect: Expect) -> list[Finding]:
    if expect.vocab_size is None or expect.vocab_size >= outputs.shape[-1] or not gradient[..., expect.vocab_size :].any():
        return []
    number = outputs.shape[-1] - expect.vocab_size
    text = f"{number} ids that do not exist (from {expect.vocab_size} on) take part in the softmax"
    return [Finding(kind="vocabulary", parameter="outputs", text=text, numbers={"ids": number})]


def _softmax(reading: Reading, outputs: Array, gradient: Array, *, sure: bool) -> list[Finding]:
    found, at = [], reading.scored
    smoothing, louder, error = (float(np.median(part[at])) for part in (reading.smoothing, reading.louder, reading.error))
    limit = max(SMOOTHED, 4 * error)
    if smoothing > limit:
        text = f"targets are smoothed by {smoothing:.3g}, in evaluation too: the loss cannot be compared with another model's"
        found.append(Finding(kind="smoothing", parameter="loss", text=text, numbers={"smoothing": smoothing}, accuses=sure))
    if louder > limit:
        text = f"the softmax is pulled down by {louder:.2g} more than the targets up, as a z-loss does"
        found.append(Finding(kind="z-loss", parameter="loss", text=text, numbers={"louder": louder}, accuses=False))
    narrow, own = probe.unit(gradient), probe.unit(outputs)
    if narrow > own:
        text = f"outputs are good to {own:.0e}, their gradient to {narrow:.0e}: the loss rounds the logits before its softmax"
        found.append(Finding(kind="rounded", parameter="outputs", text=text, numbers={"outputs": own, "gradient": narrow}, accuses=sure))
    return found


def _value(reading: Reading, outputs: Array, ids: Array, padding: Array, *, loss: float, own: float, sure: bool) -> list[Finding]:
    """The loss, held against its own weights: a mean is the sum of weight times -log p, and its weights add up to 1."""
    at = reading.scored
    weights = reading.weight[at]
    summed, total = float((weights * reading.nll[at]).sum()), float(weights.sum())
    # float32: a few units a term, sqrt(N) for the sum of N; weights are as good as the gradient, the loss as its own dtype.
    tolerance = probe.FLOAT32 * (16 + 4 * float(np.sqrt(at.size))) + 4 * own + 2 * probe.unit(np.array([loss], dtype=np.float32))
    numbers = {"loss": loss, "summed": summed, "weights": total, "scored": int(at.sum()), "tolerance": tolerance}
    found = []
    if (uneven := float(weights.std() / weights.mean())) > tolerance:
        text = f"scored positions weigh differently (by {uneven:.1%} of their mean): not the mean over tokens, as when means of rows are averaged"
        found.append(Finding(kind="weights", parameter="loss", text=text, numbers={**numbers, "uneven": uneven}, accuses=False))
    if abs(loss - summed) <= tolerance * summed:
        if abs(total - 1) > tolerance:
            text = f"the loss is {total:.4g} times the mean over the {int(at.sum())} scored positions"
            found.append(Finding(kind="multiple", parameter="loss", text=text, numbers=numbers, accuses=False))
        return found
    row, position = np.nonzero(~at & ~padding)
    row, position = row[position + 1 < ids.shape[1]], position[position + 1 < ids.shape[1]]
    unweighted = reading.lse[row, position] - outputs[row, position, ids[row, position + 1]]
    if len(row) and abs(loss - summed - float(weights.mean() * unweighted.sum())) <= tolerance * loss:
        text = f"the loss counts {len(row) + int(at.sum())} positions, its gradient reaches {int(at.sum())} of them (not row {row[0]}, position {position[0]})"
        return [*found, Finding(kind="cut", parameter="loss", text=text, numbers=numbers)]
    text = f"the loss is {loss:.6g}, its weights times -log p add up to {summed:.6g}: a sum in low precision, or another term in the loss"
    return [*found, Finding(kind="value", parameter="loss", text=text, numbers=numbers, accuses=sure)]


def _cut(subject: Subject, outputs: Array, gradient: Array) -> list[Finding]:
    """Positions whose gradient is lost between the outputs and the output layer.

    Outputs are linear in the output layer: z = W h + b. So <W, dW> + <b, db> is the sum of <z, dz> over all positions that the gradient came from.
    Where it lacks exactly those of the first or the last positions, the graph is cut for them. A layer that is tied, adapted or followed by more is not asked.
    """
    heads = [parameter for parameter in subject.parameters() if parameter.head and parameter.trainable and not parameter.table]
    if len(heads) != 1:
        return []
    name = heads[0].name
    part = [name, name.rpartition(".")[0] + ".bias"]
    by_position, size = np.zeros(outputs.shape[1]), 0.0
    for z, g in zip(outputs, gradient, strict=True):
        each = np.where(g == 0, 0.0, z.astype(np.float64) * g)  # a masked logit is -inf and has none
        by_position += each.sum(axis=1)
        size += float(np.abs(each).sum())
    total, limit, values = float(by_position.sum()), probe.rounding(subject, gradient) * size, subject.read()
    # In training mode first, which other checks have asked already; outputs are of evaluation mode, which dropout makes another.
    for training in (True, False):
        gradients = subject.gradients(training=training)[1]
        held = float(sum((values[key] * g).sum(dtype=np.float64) for key in part if (g := gradients.get(key)) is not None))
        if gradients.get(name) is None or abs(held - total) <= limit:
            return []
    before = np.cumsum(by_position)[:-1]  # of the first 1, 2, ... positions
    lacks = np.concatenate([before, total - before])
    off = np.abs(total - lacks - held)
    if off.min() > limit or not _linear(subject, {key: values[key] for key in part if key in values}, outputs):
        return []
    which, length = int(off.argmin()), len(by_position)
    what, number = ("first", which + 1) if which < length - 1 else ("last", 2 * length - 2 - which)
    text = f"the {what} {number} of {length} positions give {name} no gradient, though the loss scores them: the graph is cut"
    numbers = {"positions": number, "of": length, "gradient": held, "wanted": total, "rounding": limit}
    return [Finding(kind="cut", parameter=name, text=text, numbers=numbers)]


def _linear(subject: Subject, layer: Arrays, outputs: Array) -> bool:
    """Twice the output layer gives twice the outputs: no soft cap follows it."""
    subject.write({name: 2 * value for name, value in layer.items()})
    return float(probe.change(subject.outputs() / 2, outputs).max()) <= probe.rounding(subject, outputs)
