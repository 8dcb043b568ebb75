"""What a checkpoint holds and how a run goes on from it; careful that nothing is left out, and that a bitwise claim which would be false is refused.

    weights.safetensors    every parameter, by name
    optimizer.safetensors  every tensor of every optimizer's state, as KIND/PARAMETER/KEY
    rng.safetensors        torch's generators, CPU and CUDA, of each process
    state.json             step (schedule and data order are functions of it and the seed), configuration, fingerprints of tokenizer and data,
                           environment, Python's and NumPy's generators

A first loss after a resume proves nothing: it depends on weights and data alone. Forgotten optimizer states and schedules show from the second loss on.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import torch as safetensors
from torch import Tensor
from torch import distributed as dist
from torch.optim import Optimizer

from trainer import store
from trainer.config import Config
from trainer.errors import refusal
from trainer.model import LM

Optimizers = Mapping[str, Optimizer]
Say = Callable[[str], None]
FORMAT = 1
# What may differ and leave every later bit the same: names, places, prices and how often to look. Everything else is part of an exact resume.
NAMES = ("preset", "data", "out", "progress", "resume")
OFTEN = ("save_every", "keep", "held_out_every", "held_out_batches", "max_skips", "peak_tflops", "measure_peak", "dollars_per_hour")
FREE = frozenset((*NAMES, *OFTEN))
SHAPE = ("vocab_size", "layers", "width", "heads", "kv_heads", "ffn", "rope_base", "head", "scales")  # what weights mean: never free


@dataclass(frozen=True, kw_only=True)
class Data:
    """What the text was: SHA-256 of the tokenizer, and of the tokens."""

    tokenizer: str
    tokens: str


@dataclass(frozen=True, kw_only=True)
class Position:
    step: int
    tokens_seen: int


def save(
    root: Path, at: Position, model: LM, optimizers: Optimizers, config: Config, data: Data, *, stage: store.Stage = lambda _: None
) -> None:
    """Called by every process (their generators are collected); written by the first."""
    generators = _every_process(_generators())
    if _rank():
        return
    state = {
        "format": FORMAT,
        **dataclasses.asdict(at),
        "config": dataclasses.asdict(config),
        "data": dataclasses.asdict(data),
        "environment": environment(config),
        "generators": [plain for plain, _ in generators],
    }
    files = {
        "weights.safetensors": safetensors.save(weights(model)),
        "optimizer.safetensors": safetensors.save(optimizer_state(model, optimizers)),
        "rng.safetensors": safetensors.save(
            {f"{rank}/{name}": t for rank, (_, tensors) in enumerate(generators) for name, t in tensors.items()}
        ),
        "state.json": json.dumps(state).encode(),
    }
    store.write(root, at.step, files, keep=config.keep, stage=stage)


def resume(root: Path, model: LM, optimizers: Optimizers, config: Config, data: Data, *, say: Say) -> Position | None:
    """Go on from the newest good checkpoint, or None where there is none to be good.

    Raises:
        ValueError: every checkpoint is damaged; or this run is not the one that was saved (see `_refuse_differences`).
    """
    found = store.newest(root, say)
    if found is None:
        if store.folders(root):
            raise refusal(f"no good checkpoint in {root}", "one whose bytes are as written", "give another --out, or restore a copy")
        return None
    folder, files = found
    state = json.loads(files["state.json"])
    _refuse_differences(state, config, data, say)
    restore_weights(model, safetensors.load(files["weights.safetensors"]))
    restore_optimizers(model, optimizers, safetensors.load(files["optimizer.safetensors"]))
    restore_generators(state["generators"], safetensors.load(files["rng.safetensors"]))
    say(f"going on from {folder.name}")
    return Position(step=state["step"], tokens_seen=state["tokens_seen"])


def refuse_other_format(state: Mapping[str, Any]) -> None:
    unknown = sorted(state["config"].keys() - {field.name for field in dataclasses.fields(Config)})
    if state["format"] != FORMAT or unknown:
        found = f"a checkpoint of format {state['format']}" + (f" with unknown options: {', '.join(unknown)}" if unknown else "")
        raise refusal(found, f"format {FORMAT} and this version's options", "use the version that wrote it")


def weights(model: LM) -> dict[str, Tensor]:
    return {name: p.detach().contiguous() for name, p in model.named_parameters()}  # a tied head is one parameter, so it is here once


def optimizer_state(model: LM, optimizers: Optimizers) -> dict[str, Tensor]:
    names = {p: name for name, p in model.named_parameters()}
    return {
        f"{kind}/{names[p]}/{key}": value.detach().contiguous()
        for kind, optimizer in optimizers.items()
        for p, entries in optimizer.state.items()
        for key, value in entries.items()
    }


def restore_weights(model: LM, saved: Mapping[str, Tensor]) -> None:
    wanted = dict(model.named_parameters())
    assert wanted.keys() == saved.keys(), f"parameters differ: {sorted(wanted.keys() ^ saved.keys())}"
    with torch.no_grad():
        for name, parameter in wanted.items():
            assert parameter.shape == saved[name].shape, name  # copy_ would broadcast
            parameter.copy_(saved[name])


def restore_optimizers(model: LM, optimizers: Optimizers, saved: Mapping[str, Tensor]) -> None:
    parameters = dict(model.named_parameters())
    for path, tensor in saved.items():
        kind, name, key = path.split("/")
        assert kind in optimizers, f"a state of optimizer {kind}, which this run does not have"
        optimizers[kind].state[parameters[name]][key] = tensor.to(parameters[name].device, copy=True)


def restore_generators(plain: list[dict[str, Any]], tensors: Mapping[str, Tensor]) -> None:
    rank = _rank()
    if rank >= len(plain):  # an inexact resume with more processes than were saved
        return
    version, internal, gauss = plain[rank]["python"]
    random.setstate((version, tuple(internal), gauss))
    kind, keys, *rest = plain[rank]["numpy"]
    np.random.set_state((kind, np.array(keys, dtype=np.uint32), *rest))  # noqa: NPY002  the global one is what would be drawn from
    torch.set_rng_state(tensors[f"{rank}/cpu"])
    for device in range(torch.cuda.device_count()):
        if f"{rank}/cuda{device}" in tensors:
            torch.cuda.set_rng_state(tensors[f"{rank}/cuda{device}"], device)


def digests(model: LM, optimizers: Optimizers) -> dict[str, str]:
    """SHA-256 of the weights and of the optimizers' state: two runs are the same if these are."""
    both = {"weights": weights(model), "optimizer": optimizer_state(model, optimizers)}
    return {what: hashlib.sha256(safetensors.save(tensors)).hexdigest() for what, tensors in both.items()}


def environment(config: Config) -> dict[str, Any]:
    """What else a float's last bit depends on."""
    cuda = config.device == "cuda"
    return {
        "torch": torch.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "cuda": torch.version.cuda if cuda else None,
        "chip": torch.cuda.get_device_name() if cuda else _cpu(),
        "threads": torch.get_num_threads(),
        "processes": dist.get_world_size() if dist.is_initialized() else 1,
        "compile": config.compile,
        "deterministic": config.deterministic,
    }


def _refuse_differences(state: dict[str, Any], config: Config, data: Data, say: Say) -> None:
    """Another tokenizer or another model: never. Anything else that could change a bit: only with `--resume inexact`, and said."""
    refuse_other_format(state)
    if state["data"]["tokenizer"] != data.tokenizer:
        found = f"data of tokenizer {data.tokenizer[:16]}"
        raise refusal(
            found, f"the checkpoint's tokenizer {state['data']['tokenizer'][:16]}", "give the --data it was trained on, or another --out"
        )
    before, now = state["config"], dataclasses.asdict(config)
    then, today = state["environment"], environment(config)
    free = FREE | today.keys()  # the number of threads that were used says more than the option
    differences = [f"{key} {before.get(key)} -> {now[key]}" for key in now if key not in free and before.get(key) != now[key]]
    if reshaped := [text for text in differences if text.split()[0] in SHAPE]:
        raise refusal(f"another model: {', '.join(reshaped)}", "the model that the checkpoint holds", "give its options, or another --out")
    differences += [f"{key} {then.get(key)} -> {today[key]}" for key in today if then.get(key) != today[key]]
    if state["data"]["tokens"] != data.tokens:
        differences.append(f"data {state['data']['tokens'][:16]} -> {data.tokens[:16]}")
    if differences and config.resume == "exact":
        do = "give what the checkpoint had, or go on without the bitwise claim: --resume inexact"
        raise refusal(f"since the checkpoint: {', '.join(differences)}", "all that a bitwise resume depends on unchanged", do)
    if differences:
        say(f"not a bitwise resume: {', '.join(differences)}")
    elif not config.deterministic:
        say("not a bitwise resume: kernels were not deterministic")


def _generators() -> tuple[dict[str, Any], dict[str, Tensor]]:
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002
    plain = {"python": random.getstate(), "numpy": [kind, np.asarray(keys).tolist(), *rest]}
    tensors = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_initialized():
        tensors |= {f"cuda{device}": torch.cuda.get_rng_state(device) for device in range(torch.cuda.device_count())}
    return plain, tensors


def _every_process(mine: Any) -> list[Any]:
    if not dist.is_initialized():
        return [mine]
    everyone: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, mine)
    return everyone


def _cpu() -> str:
    """Maker, family and model: matrix libraries choose their kernels by these, not by the instruction set alone."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    named = [facts[key] for key in ("vendor_id", "cpu family", "model") if key in facts]
    return " ".join([platform.machine(), *named, torch.backends.cpu.get_cpu_capability()])


def _rank() -> int:
    return dist.get_rank() if dist.is_initialized() else 0
