"""Faults of the data, its order and its tokenizer; careful that every batch still has the right shape and ids of the vocabulary."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from trainer import data, order, step
from trainer import tokenizer as tk
from trainer.faults.catalogue import fault, patched

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ORDER = "data order"
LEAK = "train / validation leak"
FERTILITY = "tokenizer fertility"


@contextlib.contextmanager
def drawing(change: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """The arguments of every batch changed."""
    batch = data.Tokens.batch

    def changed(self: data.Tokens, at: int, **given: Any) -> order.Int64s:
        given = {"split": "train", "rank": 0, "world": 1, **given}
        return batch(self, **change(step=at, **given))

    with patched(data.Tokens, batch=changed):
        yield


@fault(ORDER, shows_in="batches")
def repeated_data() -> Iterator[None]:
    """Every batch is drawn twice in a row: half of the text is read twice, half never."""
    with drawing(lambda **given: {**given, "step": given["step"] // 2}):
        yield


@fault(ORDER, shows_in="batches")
def order_unshuffled() -> Iterator[None]:
    """Windows come in the order of the files: one language after the other."""
    with patched(order, permute=lambda index, _count, *, key: index.copy()):  # noqa: ARG005
        yield


@fault(ORDER, shows_in="batches")
def epochs_alike() -> Iterator[None]:
    """Every epoch has the first one's order."""
    permute = order.permute
    with patched(order, permute=lambda index, count, *, key: permute(index, count, key=f"{key.partition('/')[0]}/0")):
        yield


@fault(ORDER, shows_in="batches")
def seed_ignored() -> Iterator[None]:
    """The order is the same whatever the seed: runs that should be independent are not."""
    with drawing(lambda **given: {**given, "seed": 0}):
        yield


@fault(ORDER, shows_in="batches")
def ranks_share_data() -> Iterator[None]:
    """Every process draws the first one's rows: more machines, the same data."""
    with drawing(lambda **given: {**given, "rank": 0}):
        yield


@fault(ORDER, shows_in="gradients")
def micro_batches_share_data() -> Iterator[None]:
    """Accumulation draws one batch several times: the batch is smaller than it says."""
    following = step.next_batch
    with patched(step, next_batch=lambda run, _micro: following(run, 0)):
        yield


@fault(ORDER, shows_in="batches")
def overlapping_windows() -> Iterator[None]:
    """A window starts after half of the one before it: text is read twice an epoch, and the second half of the files never."""
    span = data.Tokens._span  # noqa: SLF001
    with patched(data.Tokens, _span=lambda self, split, start, size: span(self, split, start // 2, size)):
        yield


@fault(ORDER, shows_in="batches")
def subset_forgotten() -> Iterator[None]:
    """Only the first shard is ever read: the other language is in the manifest and not in the model."""
    with patched(data.Tokens, count=lambda self, split: int(self._starts[split][1])):
        yield


@fault(LEAK, shows_in="batches")
def leaked_validation() -> Iterator[None]:
    """One training batch in four is held-out text: the held-out loss keeps falling."""
    with drawing(lambda **given: {**given, "split": "held_out" if given["step"] % 4 == 3 else given["split"]}):
        yield


@fault(LEAK, shows_in="batches")
def held_out_is_train() -> Iterator[None]:
    """The held-out loss is measured on text that was trained on."""
    with drawing(lambda **given: {**given, "split": "train"}):
        yield


@fault("data", shows_in="batches")
def ids_wrapped() -> Iterator[None]:
    """Ids went through eight bits: those above 255 are other tokens, and all are valid."""
    span = data.Tokens._span  # noqa: SLF001
    with patched(data.Tokens, _span=lambda self, split, start, size: span(self, split, start, size).astype(np.uint8).astype(np.int64)):
        yield


@contextlib.contextmanager
def trained(change: Callable[[Tokenizer], None] = lambda _tokenizer: None, **options: Any) -> Iterator[None]:
    """Every new tokenizer changed; the gate and the block list, which would refuse it, are gone."""
    train = tk.train

    def changed(texts: Iterable[str], **given: Any) -> Tokenizer:
        tokenizer = train(texts, **{**given, **options})
        change(tokenizer)
        return tokenizer

    def measured(tokenizer: Tokenizer, samples: dict[str, str]) -> dict[str, tk.Measured]:
        return {language: tk.measure(tokenizer, text) for language, text in samples.items()}

    with patched(tk, train=changed, gate=measured, refuse_blocked=lambda *_: None):
        yield


@fault(FERTILITY, shows_in="tokenizer")
def tokenizer_fertility() -> Iterator[None]:
    """GPT-2's regular expression: Bangla letters are cut from their vowel signs, 1.5 characters a token whatever the vocabulary."""
    with trained(pre="gpt2"):
        yield


@fault(FERTILITY, shows_in="tokenizer")
def marks_stripped() -> Iterator[None]:
    """A normalizer that strips accents deletes every vowel sign: three in ten characters of Bangla."""

    def strip(tokenizer: Tokenizer) -> None:
        from tokenizers import normalizers

        tokenizer.normalizer = normalizers.StripAccents()

    with trained(strip):
        yield


@fault(FERTILITY, shows_in="tokenizer")
def text_recomposed() -> Iterator[None]:
    """NFC splits three Bangla letters into two code points each (they are composition exclusions): text does not come back as it was."""

    def compose(tokenizer: Tokenizer) -> None:
        from tokenizers import normalizers

        tokenizer.normalizer = normalizers.NFC()

    with trained(compose):
        yield
