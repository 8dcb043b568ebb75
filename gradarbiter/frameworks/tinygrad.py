"""tinygrad (0.14) models for the checks; careful that everything is lazy: parameters are assigned in place, so that a TinyJit of yours keeps its buffers."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from tinygrad import Tensor, dtypes, nn
from tinygrad.helpers import Context
from tinygrad.nn.optim import OptimizerGroup
from tinygrad.nn.state import get_state_dict

from gradarbiter import batch as batches
from gradarbiter.core import Array
from gradarbiter.frameworks.hookless import Hookless
from gradarbiter.result import NotAsked
from gradarbiter.subject import Arrays, Group, Subject

STATISTICS = ("running_mean", "running_var")  # of BatchNorm
RANDOM = ("_seed", "_device_seeds", "_device_rng_counters")  # tinygrad has no public way to read its random state
DTYPES = {dtypes.float64: "float64", dtypes.float32: "float32", dtypes.float16: "float16", dtypes.bfloat16: "bfloat16"}


def knows(model: Any) -> bool:
    try:
        return bool(get_state_dict(model))
    except RecursionError:  # another framework's object, which leads back to itself
        return False


class TinygradSubject(Hookless):
    """Any object that holds tensors, with ``loss_fn(model, batch)``. A tensor with ``is_param`` false is frozen.

    ``optimizer``: one of `tinygrad.nn.optim`. ``step``: your training step, a function of nothing. ``accumulate(model)``: leaves a step's gradients in
    ``.grad``.
    """

    framework = "tinygrad"

    def __init__(self, model: Any, batch: Any, loss_fn: Callable[..., Any], optimizer: Any = None, **options: Any) -> None:
        super().__init__(model, batch, loss_fn, optimizer, **options)
        Tensor.realize(*self._state())  # values still to be computed would be drawn anew under each seed

    def write(self, values: Arrays) -> None:
        held = self._tensors()
        for name, value in values.items():
            held[name].assign(self._like(value, held[name])).realize()

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        trainable = {name: tensor for name, tensor in self._tensors().items() if tensor.is_param}
        with self._undone(training=training):
            loss = self._told(training)(self.model, self.batch if batch is None else batch)
            graph = loss.uop.toposort()
            reached = {name: tensor for name, tensor in trainable.items() if tensor.uop in graph}
            gradients = dict(zip(reached, loss.gradient(*reached.values()), strict=True)) if reached else {}
            read = {name: self._numpy(gradients[name]) if name in gradients else None for name in trainable}
            return float(loss.item()), read

    def step(self) -> None:
        if self._step is not None:
            self._step()
            return
        self._need_optimizer()
        with Context(TRAINING=1):
            Tensor.manual_seed(self._seed)  # the gradient that `gradients` gives, dropout included
            self.optimizer.zero_grad()
            self._told(training=True)(self.model, self.batch).backward()
            self.optimizer.step()

    def accumulated(self, *, training: bool = True, seed: int | None = 0) -> dict[str, Array | None]:
        tensors = self._tensors()
        grads = {name: tensor.grad for name, tensor in tensors.items()}
        with self._undone(training=training, seed=seed):
            for tensor in tensors.values():
                tensor.grad = None
            try:
                self._accumulated(training=training)
                return {name: None if t.grad is None else self._numpy(t.grad) for name, t in tensors.items() if t.is_param}
            finally:
                for name, tensor in tensors.items():
                    tensor.grad = grads[name]

    def groups(self) -> list[Group]:
        self._need_optimizer()
        names = {id(tensor): name for name, tensor in self._tensors().items()}
        found = []
        for optimizer in self.optimizer.optimizers if isinstance(self.optimizer, OptimizerGroup) else [self.optimizer]:
            known = tuple(names[id(t)] for t in optimizer.params if id(t) in names)
            found.append(Group(optimizer=_called(optimizer), names=known, foreign=len(optimizer.params) - len(known)))
        return found

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        grads = {name: tensor.grad for name, tensor in self._tensors().items()}
        with self._held(self._state()):
            try:
                yield
            finally:
                for name, tensor in self._tensors().items():
                    tensor.grad = grads[name]

    def wide(self) -> Subject | None:
        model = copy.deepcopy(self.model)
        for tensor in get_state_dict(model).values():
            if tensor.is_floating_point():
                tensor.replace(tensor.cast(dtypes.float64).contiguous())
        batch = batches.mapped(
            self.batch, lambda _, leaf: leaf.cast(dtypes.float64) if isinstance(leaf, Tensor) and leaf.is_floating_point() else leaf
        )
        options = {"predict": self._predict, "score": self._score, "tokens": self._tokens, "seed": self._seed}
        copied = TinygradSubject(model, batch, self._loss_fn, tables=self._tables, heads=self._heads, **options)
        loss = copied._run(copied._told(training=True), batch, training=True)
        if loss.dtype != dtypes.float64:
            raise NotAsked(f"the model or its loss names a type itself: of float64 parameters the loss is {self._dtype(loss)}")
        return copied

    def _state(self) -> list[Tensor]:
        return [*get_state_dict(self.model).values(), *get_state_dict(self.optimizer).values()]

    def _tensors(self) -> dict[str, Any]:
        normed = set(get_state_dict(self.model, tensor_type=nn.BatchNorm))
        return {
            name: tensor
            for name, tensor in get_state_dict(self.model).items()
            if tensor.is_floating_point() and not (name.rpartition(".")[2] in STATISTICS and name.rpartition(".")[0] in normed)
        }

    def _trainable(self) -> set[str]:
        return {name for name, tensor in self._tensors().items() if tensor.is_param}

    def _tables_by_class(self) -> set[str]:
        return {f"{name}.weight".removeprefix(".") for name in get_state_dict(self.model, tensor_type=nn.Embedding)}

    def _dtype(self, tensor: Any) -> str:
        return DTYPES.get(tensor.dtype, str(tensor.dtype))

    def _run(self, function: Callable[..., Any], batch: Any, *, training: bool, seed: int = 0) -> Any:
        with self._undone(training=training, seed=seed):
            return function(self.model, batch).realize()

    def _derivative(self, function: Callable[[Any], Any], at: Any) -> tuple[Any, Any]:
        at = Tensor(at.numpy(), dtype=at.dtype)
        out = function(at)
        (gradient,) = out.gradient(at)
        return out, gradient

    def _numpy(self, leaf: Any) -> Array:
        made: Array = (leaf.float() if leaf.dtype in (dtypes.bfloat16, dtypes.float16) else leaf).numpy()
        return made

    def _like(self, array: Array, leaf: Any) -> Any:
        return Tensor(np.asarray(array, order="C"), device=leaf.device).cast(leaf.dtype)

    @contextlib.contextmanager
    def _undone(self, *, training: bool, seed: int | None = 0) -> Iterator[None]:
        parameters = {id(tensor) for tensor in self._tensors().values()}
        buffers = [tensor for tensor in get_state_dict(self.model).values() if id(tensor) not in parameters]
        with self._held(buffers), Context(TRAINING=int(training)):
            if seed is not None:
                Tensor.manual_seed(self._seed + seed)
            yield

    @contextlib.contextmanager
    def _held(self, tensors: Iterable[Tensor]) -> Iterator[None]:
        """These and the random state are put back, each into its own buffer."""
        held = [(tensor, self._numpy(tensor).copy()) for tensor in {id(tensor): tensor for tensor in tensors}.values()]
        seed, seeds, counters = (getattr(Tensor, part) for part in RANDOM)
        held += [(counter, counter.numpy().copy()) for counter in counters.values()]
        seeds, counters = dict(seeds), dict(counters)
        try:
            yield
        finally:
            for tensor, value in held:
                tensor.assign(self._like(value, tensor)).realize()
            for part, value in zip(RANDOM, (seed, seeds, counters), strict=True):
                setattr(Tensor, part, value)


subject = TinygradSubject


def _called(optimizer: Any) -> str:
    """What the user asked for: tinygrad makes Muon and SGD of one class, AdamW and Adam of another."""
    if getattr(optimizer, "ns_coefficients", None):
        return "Muon"
    if getattr(optimizer, "adam", False):
        return "AdamW" if optimizer.wd else "Adam"
    return "SGD" if getattr(optimizer, "tcoef", None) == 0 else type(optimizer).__name__
