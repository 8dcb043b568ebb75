"""What a small run shows, stage by stage, so that a faulty one can be held against a healthy twin; careful to use the trainer's own path at each stage.

Stages follow from each other, so a fault is named by the first that differs: all earlier ones are equal to the bit. `cost` is what no number shows:
masks made in a forward pass, and bytes that are still held after some steps.
"""

from __future__ import annotations

import contextlib
import gc
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trainer import attention, checkpoint, config, data, device, order, step, store
from trainer import tokenizer as tk
from trainer.faults.catalogue import Fault, Situation, patched

Numbers = npt.NDArray[Any]
Shown = dict[str, Numbers]
STEPS = 5
SAVED = (2, 3)  # steps after which a checkpoint is written; the second is resumed
# Everything that nano has, smaller: GQA, window < length, two micro-batches, both optimizers. Seed 1, so that a seed that is ignored shows.
SMALL = {
    "width": 32,
    "ffn": 48,
    "length": 16,
    "window": 5,
    "batch": 2,
    "steps": STEPS,
    "warmup": 2,
    "seed": 1,
    "progress": False,
    "out": "",
}
TEXT = "সকালে মা পুকুরপা\u09dcে গেলেন। He read the letter twice."  # U+09DC, which NFC splits in two


class Padded(data.Tokens):
    """Rows that end in padding, row by row a different length."""

    def batch(self, step: int, *, seed: int, batch: int, length: int, split: str = "train", rank: int = 0, world: int = 1) -> order.Int64s:
        out = super().batch(step, seed=seed, batch=batch, length=length, split=split, rank=rank, world=world)
        for row, tokens in enumerate(out):
            tokens[len(tokens) - (3 * (2 * step + row)) % (len(tokens) - 2) :] = -1
        return out


@dataclass(frozen=True, kw_only=True)
class Twin:
    """One configuration on one folder of data (made by `trainer.data.sample`)."""

    folder: Path
    situation: Situation = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def show(self, stage: str) -> Shown:
        with device.entered(self.config) as place:
            return STAGES[stage](self, place)

    @property
    def config(self) -> config.Config:
        return config.nano(**{**SMALL, **self.options})

    @property
    def tokens(self) -> data.Tokens:
        return Padded(self.folder) if self.situation == "padding" else data.Tokens(self.folder)

    def begin(self, place: device.Place) -> step.Run:
        run = step.begin(self.config, self.tokens, place)
        if self.situation == "zero embedding":
            with torch.no_grad():
                run.model.embedding.weight[:8] = 0
        return run

    def resumed(self, place: device.Place, root: Path) -> step.Run:
        """As a fresh process would: a new run that goes on from the newest good checkpoint under ``root``."""
        run = self.begin(place)
        at = checkpoint.resume(root, run.model, run.optimizers, run.config, run.data, say=lambda _: None)
        assert at is not None
        run.step, run.tokens_seen = at.step, at.tokens_seen
        return run

    def steps(self, run: step.Run, upto: int, *, saved: Callable[[step.Run], None] = lambda _: None) -> None:
        while run.step < upto:
            with _infinite(run) if self.situation == "infinite gradient" and run.step == 1 else contextlib.nullcontext():
                step.one_step(run)
            saved(run)


def twin_of(fault: Fault, folder: Path) -> Twin:
    return Twin(folder=folder, situation=fault.situation, options=fault.options)


def differences(one: Shown, other: Shown) -> dict[str, float]:
    """Of each entry (in `gradients` and `updates`: of each parameter) the relative one: 0 only if equal to the bit (NaN equals NaN), inf if not alike."""
    return {key: _relative(one[key], other[key]) if key in one and key in other else math.inf for key in one | other}


def difference(one: Shown, other: Shown) -> float:
    return max(differences(one, other).values(), default=0.0)


def _relative(a: Numbers, b: Numbers) -> float:
    if a.shape != b.shape or a.dtype != b.dtype:
        return math.inf
    if np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
        return 0.0
    a, b = a.astype(np.float64), b.astype(np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return math.inf
    largest = max(float(np.linalg.norm(a)), float(np.linalg.norm(b)))
    return max(float(np.linalg.norm(a - b)) / largest, np.finfo(np.float64).tiny)


def _tokenizer(_twin: Twin, _place: device.Place) -> Shown:
    texts = [text for of in tk.sample_texts().values() for text in of[:12]]
    tokenizer = tk.train(texts, vocab=400)
    ids = tokenizer.encode(TEXT).ids
    return {"ids": np.array(ids), "back": np.frombuffer(tokenizer.decode(ids).encode(), dtype=np.uint8)}


def _batches(twin: Twin, _place: device.Place) -> Shown:
    c, tokens = twin.config, twin.tokens
    an_epoch = tokens.windows("train", c.length) // c.batch
    shape: dict[str, Any] = {"seed": c.seed, "batch": c.batch, "length": c.length}
    shown = {f"train {at}": tokens.batch(at, **shape) for at in (0, 1, 2, 3, 4, an_epoch + 1)}
    shown |= {f"held out {at}": tokens.batch(at, **shape, split="held_out") for at in range(2)}
    return shown | {f"rank {rank}": tokens.batch(0, **shape, rank=rank, world=2) for rank in range(2)}


def _fixed(twin: Twin) -> Tensor:
    """Made-up tokens: logits and loss are not to depend on the data."""
    tokens = np.random.default_rng(0).integers(0, 400, (twin.config.batch, twin.config.length + 1))
    if twin.situation == "padding":
        tokens[0, -5:] = -1
    if twin.situation == "zero embedding":
        tokens[:, 3] = 1
    return torch.from_numpy(tokens)


def _logits(twin: Twin, place: device.Place) -> Shown:
    model = twin.begin(place).model.eval()
    with torch.no_grad():
        return {"logits": model(_fixed(twin)[:, :-1].clamp_min(0)).float().numpy()}


def _loss(twin: Twin, place: device.Place) -> Shown:
    with torch.no_grad():
        nll, count = twin.begin(place).model.loss(_fixed(twin))
    return {"nll": nll.numpy(), "count": count.numpy()}


def _gradients(twin: Twin, place: device.Place) -> Shown:
    """What `one_step` hands to the optimizers, before clipping; a parameter that has no gradient is an empty entry."""
    run = twin.begin(place)
    batches = [step.next_batch(run, micro) for micro in range(run.config.accumulate)]
    count = int(torch.stack([step.scored(b) for b in batches]).sum())
    for tokens_BT1 in batches:
        step.normalised(run.objective(tokens_BT1), count, 1).backward()
    return {name: np.empty(0) if p.grad is None else p.grad.numpy().copy() for name, p in run.model.named_parameters()}


def _updates(twin: Twin, place: device.Place) -> Shown:
    run = twin.begin(place)
    twin.steps(run, STEPS)
    return _state(run, 0)


def _state(run: step.Run, since: int) -> Shown:
    taken = [outcome.skipped is None for outcome in run.outcomes[since:]]
    shown = {name: p.detach().numpy().copy() for name, p in run.model.named_parameters()}
    return shown | {"losses": np.array(run.losses[since:]), "taken": np.array(taken)}


def _evaluation(twin: Twin, place: device.Place) -> Shown:
    return {"held out": np.array(step.held_out(twin.begin(place)))}


def _resume(twin: Twin, place: device.Place) -> Shown:
    """The end of a run that was resumed from a checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def save(run: step.Run) -> None:
            if run.step in SAVED:
                at = checkpoint.Position(step=run.step, tokens_seen=run.tokens_seen)
                checkpoint.save(root, at, run.model, run.optimizers, run.config, run.data)

        twin.steps(twin.begin(place), SAVED[-1], saved=save)
        if twin.situation == "flipped byte":
            _flip(store.folders(root)[0] / "weights.safetensors")
        run = twin.resumed(place, root)
        twin.steps(run, STEPS)
    return _state(run, -1)


def _cost(twin: Twin, place: device.Place) -> Shown:
    made, bias = [0], attention._band_bias  # noqa: SLF001

    def counted(*args: Any) -> Tensor:
        made[0] += 1
        return bias(*args)

    before = _held()
    run = twin.begin(place)
    with patched(attention, _band_bias=counted):
        twin.steps(run, STEPS)
    return {"masks": np.array(made[0]), "bytes": np.array(_held() - before)}


def _held() -> int:
    """Bytes of all tensors that Python holds; by exact type, since isinstance would wake lazy modules."""
    gc.collect()
    return sum(x.untyped_storage().nbytes() for x in gc.get_objects() if type(x) in (Tensor, torch.nn.Parameter))


@contextlib.contextmanager
def _infinite(run: step.Run) -> Iterator[None]:
    def spoil(gradient: Tensor) -> Tensor:
        gradient = gradient.clone()
        gradient[0, 0] = math.inf
        return gradient

    handle = run.model.layers[0].ffn.up.weight.register_hook(spoil)
    try:
        yield
    finally:
        handle.remove()


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-2] ^= 0x10  # in the last weight, little-endian: a bit of its exponent or upper fraction
    path.write_bytes(content)


STAGES: Mapping[str, Callable[[Twin, device.Place], Shown]] = {
    "tokenizer": _tokenizer,
    "batches": _batches,
    "logits": _logits,
    "loss": _loss,
    "gradients": _gradients,
    "updates": _updates,
    "evaluation": _evaluation,
    "resume": _resume,
    "cost": _cost,
}
