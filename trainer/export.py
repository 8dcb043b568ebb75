"""A checkpoint as a Hugging Face model, and safetensors as the start of a run; careful that the exported model is the same function, or that it is refused.

The per-layer scales are folded into the matrices before them (`LM.folded`), so every model of this trainer is a Llama; one whose window is shorter than
its sequences is a Mistral, which is a Llama with a sliding window. No custom modelling code is needed, and none is shipped. What fits neither is refused.

python -m trainer.export hf --run runs/nano --data runs/sample --out exported
python -m trainer.export start --weights model.safetensors --preset nano --data runs/sample --out runs/imported
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor

from trainer import checkpoint, device, step, store, trained
from trainer import tokenizer as tk
from trainer.config import Config, parse
from trainer.errors import Refused, refusal
from trainer.model import EPS, LM
from trainer.shards import TOKENIZER
from trainer.trained import Trained


def to_hf(model: LM, out: Path, *, tokenizer: Path | None = None) -> None:
    """Write `config.json`, `model.safetensors` and, where ``tokenizer`` is given, what `AutoTokenizer` reads."""
    weights = _fitting(model)
    if out.exists():
        raise refusal(f"{out} is there already", "a new folder", "choose another --out, or remove that folder")
    writing = out.with_name(f".{out.name}.writing")
    shutil.rmtree(writing, ignore_errors=True)  # of an export that was killed
    writing.mkdir(parents=True)
    (writing / "config.json").write_text(json.dumps(hf_config(model.config), indent=2) + "\n", encoding="utf-8")
    (writing / "model.safetensors").write_bytes(safetensors.save(weights, metadata={"format": "pt"}))
    if tokenizer is not None:
        shutil.copyfile(tokenizer, writing / "tokenizer.json")
        (writing / "tokenizer_config.json").write_text(json.dumps(_tokenizer_config(model.config), indent=2) + "\n", encoding="utf-8")
    writing.rename(out)


def hf_config(c: Config) -> dict[str, Any]:
    windowed = c.window < c.length
    name = "Mistral" if windowed else "Llama"
    rope = {"rope_theta": c.rope_base, "rope_type": "default"}
    return {
        "architectures": [f"{name}ForCausalLM"],
        "model_type": name.lower(),
        "vocab_size": c.vocab_size,
        "hidden_size": c.width,
        "intermediate_size": c.ffn,
        "num_hidden_layers": c.layers,
        "num_attention_heads": c.heads,
        "num_key_value_heads": c.kv_heads,
        "head_dim": c.head_channels,
        "hidden_act": "silu",
        "max_position_embeddings": c.length,
        "rms_norm_eps": EPS,
        "rope_theta": c.rope_base,  # transformers < 5
        "rope_parameters": rope,  # transformers >= 5
        "attention_bias": False,
        "mlp_bias": False,
        "attention_dropout": 0.0,
        "tie_word_embeddings": c.head == "tied",
        "bos_token_id": 0,  # a document begins after the end of the one before
        "eos_token_id": 0,
        "dtype": "float32",
        "torch_dtype": "float32",  # transformers < 5
        "use_cache": True,
        **({"sliding_window": c.window} if windowed else {}),
    }


def _tokenizer_config(c: Config) -> dict[str, Any]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tk.END,
        "eos_token": tk.END,
        "clean_up_tokenization_spaces": False,  # it would change text that is decoded
        "model_max_length": c.length,
    }


def _fitting(model: LM) -> dict[str, Tensor]:
    """Llama's weights, or a refusal that says what of this model a Llama has no place for."""
    c, names = model.config, trained.llama_names(model.config.layers)
    roles = model.roles()
    homeless = sorted(roles.keys() - set(names.values()) - {name for name, role in roles.items() if role == "scale"})
    if homeless:
        do = "export the model as this trainer makes it: custom modelling code is not written"
        raise refusal(f"a parameter {homeless[0]}", "only what a Llama has a place for", do)
    folded = model.folded()
    bad = [name for name, weight in folded.items() if not weight.isfinite().all()]
    if bad:
        raise refusal(f"{bad[0]} with numbers that are not finite", "finite weights", "export an earlier checkpoint")
    if c.head == "tied":
        del folded["lm_head.weight"]
    for name in folded.keys() & {"model.embed_tokens.weight", "lm_head.weight"}:
        folded[name] = folded[name][: c.vocab_size].contiguous()  # ids that pad the vocabulary have no meaning
    return {name: weight.contiguous() for name, weight in folded.items()}


def export(found: Trained, data: Path, out: Path) -> None:
    path = data / TOKENIZER
    fingerprint = tk.fingerprint(tk.load(path))
    if fingerprint != found.tokenizer:
        what = f"{path} with fingerprint {fingerprint[:16]}"
        raise refusal(what, f"the tokenizer that the checkpoint was trained with, {found.tokenizer[:16]}", "give the --data of the run")
    to_hf(found.model, out, tokenizer=path)


def start(weights: Path, config: Config) -> None:
    """A checkpoint at step 0 that holds ``weights``: `python -m trainer.train` with the same options goes on from it."""
    from trainer.train import open_tokens

    root = Path(config.out) / "checkpoints"
    if store.folders(root):
        raise refusal(f"checkpoints in {root}", "a run that has not begun", "choose another --out")
    with device.entered(config) as place:
        run = step.begin(config, open_tokens(config, place), place)
        trained.import_weights(run.model, _read(weights))
        checkpoint.save(root, checkpoint.Position(step=0, tokens_seen=0), run.model, run.optimizers, run.config, run.data)


def _read(weights: Path) -> dict[str, Tensor]:
    try:
        found: dict[str, Tensor] = safetensors.load_file(weights)
    except (OSError, SafetensorError) as bad:
        raise refusal(f"{weights}: {bad}", "a .safetensors file", "give its path as --weights, or copy it again") from None
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m trainer.export", description="To Hugging Face's format, and from safetensors.", allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="command", required=True)
    hf = commands.add_parser("hf", help="write a checkpoint as a Llama or Mistral", allow_abbrev=False)
    hf.add_argument("--run", type=Path, required=True, help="the run's --out")
    hf.add_argument("--data", type=Path, required=True, help="the data folder, for its tokenizer")
    hf.add_argument("--out", type=Path, required=True)
    begin = commands.add_parser("start", help="begin a run from weights; other options as trainer.train's", allow_abbrev=False)
    begin.add_argument("--weights", type=Path, required=True)
    options, rest = parser.parse_known_args(argv)
    try:
        if options.command == "hf":
            if rest:
                raise refusal(" ".join(rest), "--run, --data and --out", "delete it")
            export(trained.read(options.run), options.data, options.out)
        else:
            start(options.weights, parse(rest))
    except (Refused, device.NoGPU) as refused:
        print(refused, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
