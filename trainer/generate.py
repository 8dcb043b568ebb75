"""Text from a model; careful to say when it repeats itself for ever, and to decode all ids at once: Bangla cut between bytes is not text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from trainer import device
from trainer import tokenizer as tk
from trainer.model import LM

if TYPE_CHECKING:
    from tokenizers import Tokenizer

COPIES = 3  # a block this often in a row at the end is a loop,
COVERED = 12  # if together they are at least this many tokens: "ha ha ha" is not one


def sampled(model: LM, tokenizer: Tokenizer, prompt: str, *, new: int, temperature: float = 0.0, seed: int = 0) -> dict[str, Any]:
    """``prompt`` begins a document. Stops at the end of a document."""
    end = tokenizer.token_to_id(tk.END)
    before = [end, *tokenizer.encode(prompt, add_special_tokens=False).ids]
    ids = following(model, before, new=new, end=end, temperature=temperature, seed=seed)
    return {"prompt": prompt, "text": tokenizer.decode(ids), "tokens": len(ids), "loop": loop(ids)}


def following(model: LM, before: Sequence[int], *, new: int, end: int, temperature: float = 0.0, seed: int = 0) -> list[int]:
    """Up to ``new`` ids; temperature 0 takes the most likely one. Every step reads the last ``length`` ids again: right and slow, there is no cache."""
    random, ids = torch.Generator().manual_seed(seed), list(before)
    for _ in range(new):
        with torch.no_grad(), device.arithmetic(model.config):
            logits_V = model(torch.tensor([ids[-model.config.length :]]))[0, -1].float()
        drawn = torch.multinomial((logits_V / temperature).softmax(-1), 1, generator=random) if temperature else logits_V.argmax()
        chosen = int(drawn)
        if chosen == end:
            break
        ids.append(chosen)
    return ids[len(before) :]


def loop(ids: Sequence[int]) -> int | None:
    """The period of the shortest block that ends the ids `COPIES` times in a row or more, and over `COVERED` ids; None where there is none."""
    for period in range(1, len(ids) // COPIES + 1):
        size = max(COPIES * period, COVERED)
        if size <= len(ids) and all(ids[-i] == ids[-i - period] for i in range(1, size - period + 1)):
            return period
    return None
