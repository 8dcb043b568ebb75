"""What a model has learned, in bits a byte against its own random-initialised twin; careful that nats a token compare nothing across languages.

A token of Bangla may be 1.4 characters and one of English 3.9: 0.93 nats against 3.79 is 0.96 bits a character against 1.40. So every loss is divided by the
bytes, and by the characters, of the text that was scored. The twin is the same model before training: what it also reaches was not learned.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from gradarbiter import runs
from gradarbiter.core import Array
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.runs import accusation, note

Score = Callable[[Array], Array]  # ids (N, T) -> nats a token of each row (N,), or of each target (N, T - 1)

NOTHING = 0.01  # of the twin's bits: an interval that ends below has shown that nothing worth the name was learned
CONTINUATION = 0xC0  # a byte 10xxxxxx continues a character of UTF-8: all others begin one


def random_twin(
    score: Score,
    rows: Array | Mapping[str, Array],
    *,
    twin: Score,
    token_bytes: Sequence[bytes] | None = None,
    decode: Callable[[Sequence[int]], str] | None = None,
    vocabulary: int | None = None,
    resamples: int = 2000,
    seed: int = 0,
    say: runs.Say = runs.say,
) -> Result:
    """Compare ``score`` with ``twin``, the same model untrained (of another seed), on held-out ``rows`` (ids, N x T; several languages by name).

    Both return nats a token, of each row as the mean over its T - 1 targets, or of each target. ``token_bytes``: the UTF-8 bytes of each id, empty for marks
    (`gradarbiter.tokenizers.token_bytes` makes them), or ``decode``: ids to text (a character that a row's end cuts counts as U+FFFD, three
    bytes). Of rows in bits a byte a 95 % interval, bootstrapped over rows. ``vocabulary``: its size, to say whether the twin starts near its logarithm.
    """

    def ask() -> Iterator[Finding]:
        parts = rows if isinstance(rows, Mapping) else {"rows": rows}
        if token_bytes is None and decode is None:
            raise NotAsked("bits a byte need the text: give token_bytes=, the bytes of each id, or decode=")
        for ids in parts.values():
            if ids.ndim != 2 or len(ids) < 8 or ids.shape[1] < 2:
                raise NotAsked(f"rows {ids.shape}: give at least 8 held-out rows (N, T)")
        say(
            f"random_twin: scores { ({name: ids.shape for name, ids in parts.items()}) } twice, once by each model; two models in memory if both are kept"
        )
        per_token, per_byte = dict[str, float](), dict[str, float]()
        reasons = []
        for name, ids in parts.items():
            sizes = np.array([_size(row[1:], token_bytes, decode) for row in ids], dtype=np.float64)
            model, untrained = _nats(score, ids), _nats(twin, ids)
            numbers = _numbers(model, untrained, ids, sizes)
            per_token[name], per_byte[name] = numbers["nats_per_token"], numbers["bits_per_byte"]
            drawn = np.random.default_rng(seed).integers(0, len(ids), (resamples, len(ids)))
            gains = (untrained - model)[drawn].sum(1) / math.log(2) / sizes[:, 0][drawn].sum(1)
            low, high = (float(q) for q in np.quantile(gains, (0.025, 0.975)))
            text = (
                f"{numbers['bits_per_byte']:.3f} bits a byte, {numbers['bits_per_character']:.3f} a character ({numbers['nats_per_token']:.3f} nats a token);"
                f" twin {numbers['twin_bits_per_byte']:.3f}, frequencies {numbers['unigram_bits_per_byte']:.3f} bits a byte"
            )
            yield note("bits", name, text, **numbers, gain_low=low, gain_high=high)
            if low <= 0 and high < NOTHING * numbers["twin_bits_per_byte"]:
                said = f"no better than its random twin: {text}; gain {low:+.4f} to {high:+.4f} bits a byte (95 %)"
                yield accusation("nothing learned", name, said, low=low, high=high)
            elif low <= 0:
                reasons.append(f"{name}: the gain over the twin is {low:+.3f} to {high:+.3f} bits a byte: give more rows")
            elif numbers["bits_per_byte"] >= numbers["unigram_bits_per_byte"]:
                yield note("frequencies", name, "not below what the frequencies of the tokens alone give: other text, or hardly trained")
            if vocabulary and not -0.05 < (off := numbers["twin_nats_per_token"] - math.log(vocabulary)) < 0.3:
                yield note(
                    "twin",
                    name,
                    f"the twin starts {off:+.2f} nats from ln {vocabulary}: its initialisation is too loud, or its loss is not a mean",
                )
        if sorted(per_token, key=per_token.__getitem__) != sorted(per_byte, key=per_byte.__getitem__):
            yield note(
                "units", "nats a token", "rank the subsets in another order than bits a byte do: they are not comparable between languages"
            )
        if reasons:
            raise NotAsked("; ".join(reasons))

    return runs.answered("random_twin", ask)


def _nats(score: Score, ids: Array) -> Array:
    """Of each row, summed over its targets."""
    found = np.asarray(score(ids), dtype=np.float64)
    if len(found) != len(ids) or not np.isfinite(found).all():
        raise NotAsked(
            f"score gives {found.shape} for {ids.shape}, {np.count_nonzero(~np.isfinite(found))} of them not finite: give finite nats"
        )
    summed: Array = found * (ids.shape[1] - 1) if found.ndim == 1 else found.sum(1)
    return summed


def _size(ids: Array, token_bytes: Sequence[bytes] | None, decode: Callable[[Sequence[int]], str] | None) -> tuple[int, int]:
    """Bytes and characters of these tokens."""
    if token_bytes is not None:
        text = b"".join(token_bytes[int(i)] for i in ids)
    else:
        assert decode is not None
        text = decode([int(i) for i in ids]).encode()
    return len(text), sum(byte & CONTINUATION != 0x80 for byte in text)


def _numbers(model: Array, twin: Array, ids: Array, sizes: Array) -> dict[str, float]:
    tokens, (size, characters) = ids.shape[0] * (ids.shape[1] - 1), sizes.sum(0)
    if not size:
        raise NotAsked("the scored tokens have no bytes: give token_bytes= or decode= of the model's own tokenizer")
    bits = 1 / math.log(2)
    return {
        "tokens": float(tokens),
        "bytes": float(size),
        "nats_per_token": float(model.sum() / tokens),
        "twin_nats_per_token": float(twin.sum() / tokens),
        "bits_per_byte": float(model.sum() * bits / size),
        "bits_per_character": float(model.sum() * bits / characters),
        "twin_bits_per_byte": float(twin.sum() * bits / size),
        "unigram_bits_per_byte": _unigram(ids) * bits / float(size),
    }


def _unigram(ids: Array) -> float:
    """Nats of all targets by the frequencies of the other half of the rows, one added to each so that an unseen token has some."""
    size, total = int(ids.max()) + 1, 0.0
    for half in (0, 1):
        count = np.bincount(ids[half::2].ravel(), minlength=size) + 1.0
        total -= float(np.log(count / count.sum())[ids[1 - half :: 2, 1:]].sum())
    return total


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("factory", help="module:function that returns a dict with score, rows, twin and token_bytes or decode")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    given = runs.from_factory(options.factory, default="score")
    return runs.finished(options.factory, random_twin(**given), options)
