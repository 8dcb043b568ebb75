"""Whether batches are a function of seed and step, read every text once an epoch and keep held-out text out; careful that real text repeats itself.

Without ``corpus`` only whole rows can be compared, and up to `NATURAL` of them may be repeats of the text itself. With it every row is found at its place,
by shingles that occur once in it: a repeat is then a repeat of reading, and what is never read, or is not in the corpus at all, shows too.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from gradarbiter import runs
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.rows import Drawn, Located, alike, overlapping, shared
from gradarbiter.runs import accusation, note

Draw = Callable[[int, int], Array]  # (step, seed) -> token ids, rows x length

NATURAL = 0.05  # without a corpus: rows that may be repeats of the text itself; an order that repeats, repeats a third and more
SIGMAS = 5.0  # of a normal distribution: 6e-7, so that thousands of healthy questions accuse nobody
RARE = 1e-6  # the same for counts


def data_order(
    batch: Draw,
    *,
    held_out: Draw | None = None,
    ranks: Sequence[Draw] = (),
    micro: Callable[[int, int], Sequence[Array]] | None = None,
    resumed: Callable[[int, int], Draw] | None = None,
    corpus: Mapping[str, Array] | None = None,
    held_out_corpus: Mapping[str, Array] | None = None,
    epoch: int | None = None,
    overlap: int = 1,
    padding: int | None = None,
    shuffled: bool = True,
    steps: int | None = None,
    seed: int = 0,
    say: runs.Say = runs.say,
) -> Result:
    """Ask a function that draws batches, ``batch(step, seed) -> ids (rows, length)``, for its order.

    ``held_out``: the same for held-out text. ``ranks``: one such function a process. ``micro(step, seed)``: the micro-batches of one step, as the loop
    draws them. ``resumed(step, seed)``: the function after a resume at that step. ``corpus``: the tokens of each subset, in reading order, 48 bytes of
    memory each. ``epoch``: rows in one (found from the corpus where windows tile it). ``overlap``: tokens that a row shares with the next one (inputs and
    shifted targets: 1). ``padding``: an id that fills rows
    up, as any negative one does. ``shuffled=False``: the order of the files is meant. ``steps``: how many are drawn; an epoch where it is known, at most 4096.
    """

    def ask() -> Iterator[Finding]:
        first = np.asarray(batch(0, seed))
        if first.ndim != 2 or first.dtype.kind not in "iu":
            raise NotAsked(f"a batch is {first.dtype}{first.shape}: give batch(step, seed) -> integer ids (rows, length)")
        rows, length = first.shape
        tokens = sum(len(part) for part in corpus.values()) if corpus else 0
        whole = epoch or ((tokens - overlap) // (length - overlap) if corpus else None)
        count = steps or (min(4096, -(-whole // rows)) if whole else 64)
        extra = 3 + sum(map(bool, (held_out, ranks, micro)))
        say(
            f"data_order: draws about {count * extra:,} batches of {rows} x {length} ids; {48 * tokens + 16 * count * rows * length:,} bytes"
        )
        drawn = Drawn(batch, seed=seed, steps=count, epoch=whole)
        yield from _function(batch, drawn, resumed)
        yield from _seeds(batch, drawn)
        yield from _epochs(drawn)
        text = Located(corpus, held_out_corpus, length=length, overlap=overlap, padding=padding) if corpus else None
        if text:
            yield from _corpus(drawn, text, shuffled=shuffled)
        else:
            yield note("not asked", "corpus", "coverage, subsets, damaged ids: give corpus=, the tokens of each subset")
            yield from _repeats(drawn, overlap)
            yield from _neighbours(drawn, overlap, shuffled=shuffled)
        yield from _held_out(held_out, drawn, text)
        yield from _ranks(ranks, drawn)
        yield from _micro(micro, drawn)

    return runs.answered("data_order", ask)


def _function(batch: Draw, drawn: Drawn, resumed: Callable[[int, int], Draw] | None) -> Iterator[Finding]:
    for step in sorted({drawn.steps - 1, 0, drawn.steps // 2}, reverse=True):
        if not np.array_equal(batch(step, drawn.seed), drawn.batches[step]):
            yield accusation(
                "not a function", f"step {step}", "asked a second time, out of order, it gives another batch: a resume cannot repeat it"
            )
            break
    if resumed is None:
        yield note("not asked", "resume", "the order after a resume: give resumed=, or ask exact_resume of the whole run")
        return
    at = drawn.steps // 2
    again = resumed(at, drawn.seed)
    for step in range(at, min(at + 5, drawn.steps)):
        if not np.array_equal(again(step, drawn.seed), drawn.batches[step]):
            yield accusation("resume", f"step {step}", f"after a resume at step {at} the batch of step {step} is another than without one")
            break


def _seeds(batch: Draw, drawn: Drawn) -> Iterator[Finding]:
    steps = min(drawn.steps, 16)
    other = np.concatenate([batch(step, drawn.seed + 1) for step in range(steps)])
    same, tail = alike(drawn.rows[: len(other)], other, drawn.epoch)
    if tail < RARE:
        text = f"{same} of the first {len(other)} rows are the same at the same place with seed {drawn.seed} and with {drawn.seed + 1}"
        yield accusation("seed ignored", "seed", text, same=same, rows=len(other))


def _epochs(drawn: Drawn) -> Iterator[Finding]:
    second = drawn.second_epoch(most=64)
    if second is None:
        yield note("not asked", "epochs", "whether epochs differ: give epoch=, the rows in one, or corpus=")
        return
    same, tail = alike(drawn.rows[: len(second)], second, drawn.epoch)
    if tail < RARE:
        yield accusation(
            "epochs alike", "epoch 1", f"{same} of its first {len(second)} rows are those of epoch 0 at the same place", same=same
        )


def _repeats(drawn: Drawn, overlap: int) -> Iterator[Finding]:
    if drawn.epoch is None:
        yield note("not asked", "repeats", "a row that comes again may be of the next epoch: give epoch=, the rows in one, or corpus=")
        return
    rows = drawn.one_epoch
    times = np.unique(drawn.keys(rows), return_counts=True)[1]
    share = float((times - 1).sum()) / len(rows)
    if share > NATURAL:
        text = f"{share:.0%} of {len(rows)} rows were drawn before in the same epoch (the text's own repeats: at most {NATURAL:.0%})"
        yield accusation("repeated rows", f"{len(rows)} rows", text, share=share)
        return
    stride, share = overlapping(rows, overlap)
    if share > 0.5:  # half of all rows at one and the same distance is no accident of the text
        text = f"{share:.0%} of the rows begin {stride} tokens after another one begins, and share {rows.shape[1] - stride} tokens with it"
        yield accusation("overlapping windows", f"{len(rows)} rows", text, stride=stride, share=share)


def _neighbours(drawn: Drawn, overlap: int, *, shuffled: bool) -> Iterator[Finding]:
    """Rows that share a token with the next one of the text show whether the text's next row is also drawn next."""
    if not shuffled or not overlap:
        yield note("not asked", "order", "whether it is shuffled: " + ("order of the files is meant" if overlap else "give corpus="))
        return
    rows = drawn.one_epoch
    follow = [
        float((rows[: -i or None][: len(rows) - i, -overlap:] == rows[i:, :overlap]).all(1).mean()) for i in (1, 2, 3) if len(rows) > i
    ]
    if len(follow) == 3 and follow[0] > 0.5 > 2 * max(follow[1:]):
        text = (
            f"{follow[0]:.0%} of the rows begin with the last token of the row before ({max(follow[1:]):.0%} with that of an earlier one)"
        )
        yield accusation("unshuffled", f"{len(rows)} rows", f"{text}: the text is read in the order of the files", share=follow[0])


def _corpus(drawn: Drawn, text: Located, *, shuffled: bool) -> Iterator[Finding]:
    rows = drawn.one_epoch
    leaked = text.leaked(rows)
    if leaked.size:
        said = (
            f"{leaked.size} of {len(rows)} training rows are held-out text, the first is row {leaked[0]} (step {leaked[0] // drawn.width})"
        )
        yield accusation("leak", "held-out text", said, rows=leaked.size)
    lost = np.setdiff1d(text.unknown(rows), leaked)
    if lost.size > 0.01 * len(rows):  # below: rows made of many very short texts
        said = f"{lost.size} of {len(rows)} rows are not in the corpus: more than half of their runs of {text.least} tokens occur nowhere in it"
        yield accusation("damaged ids", f"row {lost[0]}", said, rows=lost.size)
        return
    visits = text.visits(rows)
    twice, read = float((visits > 1).sum()), max(1.0, float((visits > 0).sum()))
    # The last step of an epoch may be filled up with rows that were read already.
    if twice / read > (drawn.width / len(rows) if drawn.ends else 0) + 1e-3:
        yield accusation(
            "repeated text",
            f"{len(rows)} rows",
            f"{twice / read:.0%} of what was read was read more than once in one epoch",
            share=twice / read,
        )
    if drawn.ends:
        for name, share in text.coverage(visits).items():
            if share < 0.9 - drawn.width / len(rows):
                yield accusation(
                    "never read", name, f"{max(0.0, 1 - share):.0%} of it was not read in a whole epoch of {len(rows)} rows", read=share
                )
    else:
        yield note("not asked", "coverage", f"only {len(rows)} rows were drawn, no whole epoch: give steps=")
    start = text.starts(rows)
    early = start[: max(16, len(rows) // 4)]
    for name, found, wanted, z in text.proportions(early, len(rows) if drawn.ends else drawn.epoch):
        if shuffled and abs(z) > SIGMAS:
            said = f"{found:.0%} of the first {early.size} rows are from it, {wanted:.0%} of the corpus is"
            yield accusation("proportion", name, said, found=found, wanted=wanted)
    z = text.order(start)
    if shuffled and abs(z) > SIGMAS:
        said = f"the place of a row in the corpus and the time when it is drawn go together by {abs(z):.1f} sigma: not shuffled, or in small parts"
        yield accusation("unshuffled", f"{len(rows)} rows", said, sigma=z)


def _held_out(held_out: Draw | None, drawn: Drawn, text: Located | None) -> Iterator[Finding]:
    if held_out is None:
        yield note("not asked", "held-out text", "whether training and held-out text are apart: give held_out=")
        return
    rows = np.concatenate([held_out(step, drawn.seed) for step in range(min(drawn.steps, 64))])
    if text and text.held_out:
        inside = text.trained_on(rows)
        if inside.size:
            yield accusation(
                "leak",
                "held-out text",
                f"{inside.size} of {len(rows)} held-out rows are training text and not held-out text",
                rows=inside.size,
            )
        return
    share = shared(rows, drawn.rows)
    if share > NATURAL:
        said = f"{share:.0%} of {len(rows)} held-out rows are, for more than half of their shingles, in {len(drawn.rows)} training rows"
        yield accusation("leak", "held-out text", said, share=share)


def _ranks(ranks: Sequence[Draw], drawn: Drawn) -> Iterator[Finding]:
    if len(ranks) < 2:
        yield note("not asked", "ranks", "whether processes read different text: give ranks=, one function a process")
        return
    steps = max(1, min(drawn.steps, 32, (drawn.epoch or 10**9) // (drawn.width * len(ranks))))
    parts = [np.concatenate([rank(step, drawn.seed) for step in range(steps)]) for rank in ranks]
    yield from _apart("ranks share text", "rank", parts, drawn)


def _micro(micro: Callable[[int, int], Sequence[Array]] | None, drawn: Drawn) -> Iterator[Finding]:
    if micro is None:
        yield note("not asked", "micro-batches", "whether those of one step differ: give micro=, as the loop draws them")
        return
    yield from _apart("micro-batches share text", "micro-batch", [np.asarray(part) for part in micro(0, drawn.seed)], drawn)


def _apart(kind: str, what: str, parts: Sequence[Array], drawn: Drawn) -> Iterator[Finding]:
    keys = [drawn.keys(part) for part in parts]
    for i, mine in enumerate(keys):
        for j in range(i):
            share = float(np.isin(mine, keys[j]).mean())
            if share > NATURAL and math.ceil(share * len(mine)) >= 1:
                yield accusation(kind, f"{what} {i}", f"{share:.0%} of its {len(mine)} rows are also those of {what} {j}", share=share)
                return


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("factory", help="module:function that returns batch(step, seed), or a dict of the arguments of data_order")
    parser.add_argument("--steps", type=int, help="steps drawn")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    given = runs.from_factory(options.factory, default="batch")
    result = data_order(**{**given, **({"steps": options.steps} if options.steps else {})})
    return runs.finished(options.factory, result, options)
