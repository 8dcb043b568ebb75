"""What a run is: one frozen record, presets as functions, `--key value` over them; careful that nothing unknown, mistyped or without effect passes quietly."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from trainer.errors import refusal

T = TypeVar("T")

VOCABULARY_MULTIPLE = 128  # a matrix side that is a multiple of 128 fills the tensor cores' tiles


def option(default: T, meaning: str) -> T:
    chosen: T = field(default=default, metadata={"meaning": meaning})
    return chosen


@dataclass(frozen=True, kw_only=True)
class Config:
    preset: str = option("nano", "nano, tiny, small or paper")

    # the model
    vocab_size: int = option(0, "ids the model knows; 0: as many as the data's tokenizer (padded inside to a multiple of 128)")
    layers: int = option(2, "transformer layers")
    width: int = option(64, "channels of the residual stream")
    heads: int = option(4, "query heads; width / heads channels each")
    kv_heads: int = option(2, "key and value heads, each shared by heads / kv_heads query heads")
    ffn: int = option(192, "channels inside the SwiGLU")
    length: int = option(64, "tokens a sequence")
    window: int = option(16, "keys a query sees, itself included; >= length: full causal attention")
    rope_base: float = option(10_000.0, "longest RoPE wavelength is 2 pi times this")
    head: Literal["untied", "tied"] = option("untied", "whether the output head is the embedding matrix")
    scales: bool = option(default=True, meaning="per-layer conditioning: learned residual and value scales")
    dropout: float = option(0.0, "share of each branch's channels dropped in training")

    # the optimizer
    optimizer: Literal["muon", "adamw"] = option("muon", "for hidden matrices; everything else is AdamW's")
    steps: int = option(40, "optimizer steps")
    batch: int = option(4, "sequences a micro-batch and process")
    accumulate: int = option(2, "micro-batches a step and process")
    lr: float = option(0.003, "AdamW's peak learning rate")
    muon_lr: float = option(0.02, "Muon's peak learning rate")
    momentum: float = option(0.95, "Muon's")
    beta1: float = option(0.9, "AdamW's")
    beta2: float = option(0.95, "AdamW's")
    weight_decay: float = option(0.01, "decoupled, on hidden matrices only")
    clip: float = option(1.0, "largest global gradient norm; 0: no clipping")
    warmup: int = option(4, "steps of linear rise")
    decay: Literal["cosine", "linear", "none"] = option("cosine", "shape of the fall after the warm-up")
    final: float = option(0.1, "learning rate at the end, as a share of the peak")

    # the machine
    device: Literal["cpu", "cuda"] = option("cpu", "where; cuda without a GPU is an error")
    dtype: Literal["float32", "bfloat16"] = option("float32", "matrix arithmetic; weights and sums stay float32")
    stream: Literal["float32", "bfloat16"] = option("float32", "the residual stream; bfloat16 halves its memory traffic on a GPU")
    compile: bool = option(default=False, meaning="torch.compile the loss and its gradient; eager by accident is an error")
    threads: int = option(1, "CPU threads a process; 0: torch's choice")
    deterministic: bool = option(default=True, meaning="deterministic kernels only, which a bitwise resume needs")
    peak_tflops: float = option(0.0, "for MFU; 0: the data sheet's (GPU), none (CPU)")
    measure_peak: bool = option(default=False, meaning="measure the matrix peak at the start, and use it where no data sheet is known")
    dollars_per_hour: float = option(3.0, "of the machine, for the price of a billion tokens")

    # the run
    seed: int = option(0, "of weights, data order and dropout")
    data: str = option("", "folder of token shards that `python -m trainer.data` made")
    out: str = option("runs/nano", "folder for the log and the checkpoints")
    save_every: int = option(0, "steps between checkpoints; 0: at the end and on Ctrl-C only")
    keep: int = option(3, "checkpoints kept")
    resume: Literal["exact", "inexact"] = option("exact", "from checkpoints in out; exact refuses what could change a bit")
    held_out_every: int = option(0, "steps between held-out losses; 0: none")
    held_out_batches: int = option(4, "micro-batches of a held-out loss")
    max_skips: int = option(10, "steps skipped in a row before the run gives up")
    progress: bool = option(default=True, meaning="a progress bar")

    def __post_init__(self) -> None:
        for name in (
            "layers",
            "width",
            "heads",
            "kv_heads",
            "ffn",
            "length",
            "window",
            "steps",
            "batch",
            "accumulate",
            "keep",
            "max_skips",
        ):
            if getattr(self, name) < 1:
                raise refusal(f"{name} = {getattr(self, name)}", f"{name} >= 1", f"give --{name} a positive number")
        for name in ("vocab_size", "warmup", "save_every", "threads", "held_out_every", "held_out_batches", "seed"):
            if getattr(self, name) < 0:
                raise refusal(f"{name} = {getattr(self, name)}", f"{name} >= 0", f"give --{name} zero or more")
        for name in ("lr", "muon_lr", "weight_decay", "clip", "peak_tflops", "dollars_per_hour"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise refusal(f"{name} = {getattr(self, name)}", "a finite number >= 0", f"give --{name} another number")
        for name, low, high in (("dropout", 0, 1), ("momentum", 0, 1), ("beta1", 0, 1), ("beta2", 0, 1)):
            if not low <= getattr(self, name) < high:
                raise refusal(f"{name} = {getattr(self, name)}", f"{low} <= {name} < {high}", f"give --{name} another number")
        if not 0 <= self.final <= 1:
            raise refusal(f"final = {self.final}", "0 <= final <= 1", "give --final as a share of the peak learning rate")
        if not (math.isfinite(self.rope_base) and self.rope_base > 1):
            raise refusal(f"rope_base = {self.rope_base}", "a finite number > 1", "give --rope_base another number")
        if self.width % self.heads or self.width // self.heads % 2:
            found = f"width = {self.width}, heads = {self.heads}"
            raise refusal(found, "an even number of channels a head (RoPE turns pairs)", "choose --width a multiple of 2 x --heads")
        if self.heads % self.kv_heads:
            found = f"heads = {self.heads}, kv_heads = {self.kv_heads}"
            raise refusal(found, "each key head shared by equally many query heads", "choose --heads a multiple of --kv_heads")

    @property
    def head_channels(self) -> int:
        return self.width // self.heads

    @property
    def padded_vocab(self) -> int:
        return -(-self.vocab_size // VOCABULARY_MULTIPLE) * VOCABULARY_MULTIPLE


def nano(**changes: Any) -> Config:
    """About a second on one core: for fault studies. Small, but every part is in it: GQA, window < length, accumulation, both optimizers."""
    return dataclasses.replace(Config(), **changes)


def tiny(**changes: Any) -> Config:
    """The shape of the CPU benchmark: 9.4M parameters at a vocabulary of 4096."""
    shape = {"layers": 4, "width": 384, "heads": 6, "kv_heads": 2, "ffn": 1024, "length": 512, "window": 128}
    run = {
        "steps": 200,
        "batch": 1,
        "accumulate": 16,
        "warmup": 20,
        "dtype": "bfloat16",
        "save_every": 50,
        "out": "runs/tiny",
        "threads": 0,
    }
    return dataclasses.replace(Config(preset="tiny"), **{**shape, **run, **changes})


def small(**changes: Any) -> Config:
    """About 0.1B parameters at a vocabulary of 32k: an evening on one GPU."""
    shape = {"layers": 12, "width": 768, "heads": 6, "kv_heads": 2, "ffn": 2048, "length": 1024, "window": 512}
    run = {
        "steps": 5_000,
        "batch": 16,
        "accumulate": 8,
        "warmup": 250,
        "dtype": "bfloat16",
        "compile": True,
        "save_every": 500,
        "out": "runs/small",
    }
    return dataclasses.replace(Config(preset="small"), **{**shape, **run, "threads": 0, "measure_peak": True, **changes})


def paper(**changes: Any) -> Config:
    """The paper's size, 0.43B parameters, and its budget: 7600 steps of 2^18 tokens. Depth, width, window and vocabulary are ours: it does not state them."""
    shape = {"layers": 16, "width": 1280, "heads": 10, "kv_heads": 2, "ffn": 3200, "length": 2048, "window": 1024, "vocab_size": 65_536}
    run = {
        "steps": 7_600,
        "batch": 8,
        "accumulate": 16,
        "warmup": 300,
        "dtype": "bfloat16",
        "compile": True,
        "save_every": 200,
        "out": "runs/paper",
    }
    machine = {"device": "cuda", "stream": "bfloat16", "threads": 0, "deterministic": False}  # deterministic kernels cost speed on a GPU
    return dataclasses.replace(Config(preset="paper"), **{**shape, **run, **machine, **changes})


PRESETS: Mapping[str, Callable[..., Config]] = {"nano": nano, "tiny": tiny, "small": small, "paper": paper}


def parse(argv: Sequence[str]) -> Config:
    """`--preset tiny --steps 20` or `--steps=20`. Unknown keys, a key given twice and values of another type are refused."""
    given = _pairs(argv)
    preset = given.pop("preset", "nano")
    if preset not in PRESETS:
        raise refusal(f"--preset {preset}", f"one of {', '.join(PRESETS)}", _nearest(preset, list(PRESETS)))
    kinds = get_type_hints(Config)
    for key in given:
        if key not in kinds:
            raise refusal(f"--{key}", "a key of trainer.config.Config (`--help` lists them)", _nearest(key, list(kinds)))
    return PRESETS[preset](**{key: _value(key, text, kinds[key]) for key, text in given.items()})


def without_effect(config: Config, argv: Sequence[str]) -> list[str]:
    """What was asked for and changes nothing, a sentence each."""
    given = _pairs(argv)
    idle = {
        "muon_lr": config.optimizer != "muon",
        "momentum": config.optimizer != "muon",
        "final": config.decay == "none",
        "held_out_batches": config.held_out_every == 0,
    }
    found = [f"--{key} has no effect here" for key in given if idle.get(key)]
    if "window" in given and config.window > config.length:
        found.append(f"--window {config.window} is longer than a sequence ({config.length}): full causal attention")
    return found


def help_text() -> str:
    kinds = get_type_hints(Config)
    rows = [(f"--{f.name}", _kind_name(kinds[f.name]), str(f.default), f.metadata["meaning"]) for f in dataclasses.fields(Config)]
    wide = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [f"  {a:{wide[0]}}  {b:{wide[1]}}  {c:{wide[2]}}  {d}" for a, b, c, d in rows]
    return "\n".join(["python -m trainer.train --preset nano [--key value ...]; defaults below are nano's", *lines])


def _pairs(argv: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    words = list(argv)
    while words:
        word = words.pop(0)
        if not word.startswith("--") or word == "--":
            raise refusal(word, "--key value or --key=value", f"write --KEY {word}")
        key, equals, value = word[2:].partition("=")
        if not equals:
            if not words:
                raise refusal(f"--{key} without a value", "--key value", f"write --{key} VALUE (switches too: --{key} true)")
            value = words.pop(0)
        if key in given:
            raise refusal(f"--{key} twice", "each key once", "delete one")
        given[key] = value
    return given


def _value(key: str, text: str, kind: Any) -> Any:
    do = f"give --{key} a value of that kind"
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise refusal(f"--{key} {text}", f"one of {', '.join(get_args(kind))}", _nearest(text, list(get_args(kind))))
        return text
    if kind is bool:
        if text not in ("true", "false"):
            raise refusal(f"--{key} {text}", "true or false", do)
        return text == "true"
    try:
        return kind(text)
    except ValueError:
        raise refusal(f"--{key} {text}", _kind_name(kind), do) from None


def _kind_name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    return {int: "a whole number", float: "a number", bool: "true|false", str: "text"}[kind]


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]}?" if close else f"choose one of {', '.join(known)}"
