"""Multiple choice by likelihood; careful that "length-normalised" means by characters, and that a share of few items is never shown without its interval.

An item is a line of JSON: {"question": "...", "choices": ["...", "..."], "answer": 0}. A choice's score is the log-likelihood of " " + choice after the
question, divided by the choice's characters; dividing by tokens would favour whichever language the tokenizer cuts finer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from trainer import device
from trainer import tokenizer as tk
from trainer.errors import refusal
from trainer.model import LM

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class Item:
    question: str
    choices: tuple[str, ...]
    answer: int


def read(path: Path) -> list[Item]:
    wanted, items = 'an item: {"question": "...", "choices": ["...", "..."], "answer": 0}', []
    if not path.is_file():
        raise refusal(f"no {path}", "a JSONL file of items", "give its path as --items")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            of = json.loads(line)
            item = Item(question=of["question"], choices=tuple(of["choices"]), answer=of["answer"])
        except (ValueError, KeyError, TypeError) as bad:
            raise refusal(f"{where}: {type(bad).__name__} {bad}", wanted, "correct that line") from None
        texts_are = all(isinstance(text, str) and text.strip() for text in (item.question, *item.choices))
        if not texts_are or len(item.choices) < 2 or type(item.answer) is not int or not 0 <= item.answer < len(item.choices):
            raise refusal(f"{where}: {line[:80]}", wanted + ", two choices or more, the answer's index from 0", "correct that line")
        items.append(item)
    if not items:
        raise refusal(f"no items in {path}", wanted, "give a file that has some")
    return items


def answered(model: LM, tokenizer: Tokenizer, items: Sequence[Item]) -> dict[str, Any]:
    """How many are right, by characters and unnormalised, and what guessing would reach."""
    by_characters = unnormalised = 0
    for item in items:
        scores = [log_likelihood(model, tokenizer, item.question, " " + choice) for choice in item.choices]
        normal = [score / len(choice) for score, choice in zip(scores, item.choices, strict=True)]
        by_characters += first_best(normal) == item.answer
        unnormalised += first_best(scores) == item.answer
    return {
        "by_characters": share(by_characters, len(items)),
        "unnormalised": share(unnormalised, len(items)),
        "chance": math.fsum(1 / len(item.choices) for item in items) / len(items),
    }


def log_likelihood(model: LM, tokenizer: Tokenizer, context: str, continuation: str) -> float:
    """Nats of the continuation after the context, which begins a document. Too long a context loses its beginning.

    The two are encoded apart: no token crosses a space, so a continuation that begins with one has the tokens that it has in the whole.
    """
    end = tokenizer.token_to_id(tk.END)
    before, after = ([*tokenizer.encode(text, add_special_tokens=False).ids] for text in (context, continuation))
    if len(after) > model.config.length:
        raise refusal(f"a choice of {len(after)} tokens: {continuation[:60]!r}", f"at most {model.config.length}", "leave that item out")
    ids = [end, *before, *after][-(model.config.length + 1) :]
    tokens_1T1 = torch.tensor([ids])
    with torch.no_grad(), device.arithmetic(model.config):
        logits_1TV = model(tokens_1T1[:, :-1]).float()
    each_T = logits_1TV.log_softmax(-1).gather(-1, tokens_1T1[:, 1:, None])[0, :, 0]
    return float(each_T[-len(after) :].double().sum())


def first_best(scores: Sequence[float]) -> int:
    """The index of the largest; no choice at all (-1) where a score is NaN, which would otherwise make the first one win."""
    return -1 if any(math.isnan(score) for score in scores) else max(range(len(scores)), key=scores.__getitem__)


def share(right: int, items: int) -> dict[str, Any]:
    low, high = wilson(right, items)
    return {"right": right, "items": items, "share": right / items, "low": low, "high": high}


def wilson(right: int, items: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share: right also near 0 and 1 and for few items, where the usual one is not."""
    assert 0 <= right <= items
    assert items > 0
    z2, p = NORMAL_95**2, right / items
    middle = (p + z2 / (2 * items)) / (1 + z2 / items)
    half = NORMAL_95 / (1 + z2 / items) * math.sqrt(p * (1 - p) / items + z2 / (4 * items**2))
    return max(0.0, middle - half), min(1.0, middle + half)
