"""What calling a PyTorch model returns, and which of its matrices make the logits; careful to refuse where there is more than one answer."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from gradarbiter.result import NotAsked


def heads(model: nn.Module) -> set[int]:
    """Matrices of the output layer: what transformers says it is, else linear modules called head, lm_head or output_layer."""
    find = getattr(model, "get_output_embeddings", None)
    named = find() if callable(find) else None
    heads = (
        [named]
        if named is not None
        else [m for name, m in model.named_modules() if name.rpartition(".")[2] in ("head", "lm_head", "output_layer")]
    )
    return {id(p) for m in heads for p in m.parameters() if p.ndim == 2}


def one_tensor(out: Any) -> Tensor:
    for candidate in (out, getattr(out, "logits", None), getattr(out, "last_hidden_state", None)):
        if isinstance(candidate, Tensor):
            return candidate
    if isinstance(out, list | tuple) and out and isinstance(out[0], Tensor):
        return out[0]
    if isinstance(out, dict) and isinstance(out.get("logits"), Tensor):
        return out["logits"]
    raise NotAsked(f"calling the model returns {type(out).__name__}: give predict=, which returns one tensor")


def only(heard: list[Tensor]) -> Tensor:
    if len(heard) != 1:
        raise NotAsked(f"loss_fn called the model {len(heard)} times: give predict=, which returns one tensor")
    return heard[0]
