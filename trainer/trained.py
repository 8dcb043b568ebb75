"""A trained model read back from its checkpoints, or from somebody else's safetensors; careful that every weight has a place and every place a weight."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import torch as safetensors
from torch import Tensor

from trainer import checkpoint, store
from trainer.config import Config
from trainer.errors import refusal
from trainer.model import LM


@dataclass(frozen=True, kw_only=True)
class Trained:
    model: LM
    config: Config
    step: int
    tokenizer: str  # fingerprint
    folder: str


def read(root: Path) -> Trained:
    """The newest good checkpoint under ``root`` (a run's folder or its `checkpoints`), in evaluation mode on the CPU."""
    root = root / "checkpoints" if (root / "checkpoints").is_dir() else root
    passed: list[str] = []
    found = store.newest(root, passed.append)
    if found is None:
        raise refusal(
            f"no good checkpoint in {root}{''.join(f'; {text}' for text in passed)}", "one that is whole", "give the --out of a run"
        )
    folder, files = found
    state = json.loads(files["state.json"])
    checkpoint.refuse_other_format(state)
    config = dataclasses.replace(Config(**state["config"]), device="cpu")  # of what is computed from here on, not of where it was trained
    model = LM(config)
    checkpoint.restore_weights(model, safetensors.load(files["weights.safetensors"]))
    return Trained(model=model.eval(), config=config, step=state["step"], tokenizer=state["data"]["tokenizer"], folder=folder.name)


def import_weights(model: LM, weights: Mapping[str, Tensor]) -> None:
    """Set all of ``model``'s parameters from weights under this trainer's names or a Hugging Face Llama's.

    Llama has no per-layer scales: they become 1. Rows of the padded vocabulary become 0. A head that is missing is the embedding, as tied Llamas are saved.
    """
    own = dict(model.named_parameters())
    given = dict(weights) if weights.keys() == own.keys() else _from_llama(model, weights)
    lost, foreign = sorted(own.keys() - given.keys()), sorted(given.keys() - own.keys())
    if lost or foreign:
        found = f"weights without {lost[:3]}" if lost else f"weights with {foreign[:3]}"
        raise refusal(
            found, "this trainer's parameters or a Llama's, each once", "give the --layers, --head and other options of the weights"
        )
    for name, p in own.items():
        rows = len(given[name]) if given[name].ndim else 0
        padded = name in ("embedding.weight", "head.weight") and rows == model.config.vocab_size
        if given[name].shape != (p.shape if not padded else (rows, *p.shape[1:])):
            found = f"{name} of shape {tuple(given[name].shape)}"
            raise refusal(found, f"{tuple(p.shape)}", "give the --width, --heads, --ffn and --vocab_size of the weights")
        if not given[name].isfinite().all():
            raise refusal(f"{name} with numbers that are not finite", "finite weights", "export them again")
    with torch.no_grad():
        for name, p in own.items():
            p.zero_()
            p[: len(given[name])].copy_(given[name]) if p.ndim else p.copy_(given[name])


def llama_names(layers: int) -> dict[str, str]:
    """Hugging Face's name of each of a Llama's weights -> ours."""
    parts = {
        "input_layernorm": "attention_norm",
        "self_attn.q_proj": "attention.query",
        "self_attn.k_proj": "attention.key",
        "self_attn.v_proj": "attention.value",
        "self_attn.o_proj": "attention.output",
        "post_attention_layernorm": "ffn_norm",
        "mlp.gate_proj": "ffn.gate",
        "mlp.up_proj": "ffn.up",
        "mlp.down_proj": "ffn.down",
    }
    names = {"model.embed_tokens.weight": "embedding.weight", "model.norm.weight": "norm.weight", "lm_head.weight": "head.weight"}
    for i in range(layers):
        names |= {f"model.layers.{i}.{theirs}.weight": f"layers.{i}.{ours}.weight" for theirs, ours in parts.items()}
    return names


def _from_llama(model: LM, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our names for Llama's. A tensor that has none keeps its own, and is refused above."""
    names = llama_names(len(model.layers))
    found = {names.get(name, name): tensor for name, tensor in weights.items()}
    embedding, head = found.get("embedding.weight"), found.get("head.weight")
    if model.head is None and head is not None:
        if embedding is None or not torch.equal(embedding, head):
            raise refusal("a head that is not the embedding", "tied weights (--head tied)", "give --head untied")
        del found["head.weight"]
    elif model.head is not None and head is None and embedding is not None:
        found["head.weight"] = embedding
    return found | {
        name: torch.ones_like(p) for name, p in model.named_parameters() if name not in found and model.roles()[name] == "scale"
    }
