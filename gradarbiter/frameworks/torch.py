"""PyTorch models for the checks; careful to go through `loss_fn` and the model's own call, so that wrappers (DDP, compile, autocast) stay in the path."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gradarbiter import batch as batches
from gradarbiter.core import Array
from gradarbiter.frameworks import arithmetic, returned
from gradarbiter.result import NotAsked
from gradarbiter.slopes import few_rows
from gradarbiter.subject import Arrays, Group, Parameter, Reference, Subject

Step = Callable[[], Any]


def knows(model: Any) -> bool:
    return isinstance(model, nn.Module)


class TorchSubject(batches.Batched):
    """A model with ``loss_fn(model, batch)``, which returns the mean loss.

    ``optimizer``: one, or several in a dict or list. ``step``: your training step, if it is more than gradient and `optimizer.step()`; ``accumulate``: the
    part of it that leaves a step's gradients in the parameters, unscaled and before clipping; then ``batch`` is its micro-batches, one after the other.
    ``predict(model, batch)``: where the outputs are not what calling the model returns.
    ``tokens``: the key of the token ids in the batch. ``reference``: a second implementation. ``keep``: what else your step changes and is to be put back
    after a check, each with ``state_dict()`` and ``load_state_dict(state)``: schedulers, a GradScaler, your loop's counter.
    """

    framework = "torch"

    def __init__(
        self,
        model: nn.Module,
        batch: Any,
        loss_fn: Callable[[Any, Any], Tensor],
        optimizer: Any = None,
        *,
        step: Step | None = None,
        accumulate: Step | None = None,
        reference: Reference | None = None,
        predict: Callable[[Any, Any], Any] | None = None,
        tokens: Any = None,
        keep: Sequence[Any] = (),
        seed: int = 0,
        arithmetic: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext,
    ) -> None:
        self.model, self.batch = model, batch
        self._loss_fn, self._predict, self._tokens, self._seed = loss_fn, predict, tokens, seed
        self._optimizers, self._keep, self._arithmetic = _several(optimizer), tuple(keep), arithmetic
        self._step, self._accumulate, self.reference = step, accumulate, reference
        self._named = dict(model.named_parameters())

    def parameters(self) -> list[Parameter]:
        tables = {id(m.weight) for m in self.model.modules() if isinstance(m, nn.Embedding)}
        heads = returned.heads(self.model)
        return [
            Parameter(
                name=name,
                shape=tuple(p.shape),
                dtype=str(p.dtype).removeprefix("torch."),
                trainable=p.requires_grad,
                table=id(p) in tables,
                head=id(p) in heads,
            )
            for name, p in self._named.items()
        ]

    def read(self) -> dict[str, Array]:
        return {name: _array(p, copy=True) for name, p in self._named.items()}

    def write(self, values: Arrays) -> None:
        with torch.no_grad():
            for name, value in values.items():
                self._named[name].copy_(torch.from_numpy(np.array(value)))  # ascontiguousarray would give a scalar an axis

    def loss(self, batch: Any = None, *, training: bool = True) -> float:
        with self._seeded(training=training), self._statistics(), torch.no_grad():
            return float(self._call(batch))

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        with self._cleared():
            with self._seeded(training=training), self._statistics():
                loss = self._call(batch)
                loss.backward()
            return float(loss.detach()), self._gradients()

    def outputs(self, batch: Any = None, *, seed: int = 0) -> Array:
        with self._seeded(training=False), torch.no_grad(), self._reseeded(seed):
            if self._predict is not None:
                return _array(returned.one_tensor(self._predict(self.model, self.batch if batch is None else batch)))
            with self._heard() as heard:
                self._call(batch)
        return _array(returned.only(heard))

    def output_gradient(self) -> tuple[float, Array, Array]:
        with self._seeded(training=False), self._heard() as heard:
            loss = self._call(None)
        out = returned.only(heard)
        if not out.requires_grad:
            raise NotAsked("the outputs carry no gradient: the loss would not train the model through them")
        (gradient,) = torch.autograd.grad(loss, out, allow_unused=True)
        if gradient is None:
            raise NotAsked("the loss does not depend on what calling the model returned")
        return float(loss.detach()), _array(out), _array(gradient)

    def step(self) -> None:
        if self._step is None and not self._optimizers:
            raise NotAsked("no optimizer: give optimizer= or step=")
        self.model.train()
        if self._step is not None:
            self._step()
            return
        for optimizer in self._optimizers.values():
            optimizer.zero_grad(set_to_none=True)
        with self._seeded(training=True):  # the gradient that `gradients` gives, dropout included
            self._call(None).backward()
        for optimizer in self._optimizers.values():
            optimizer.step()

    def accumulated(self, *, training: bool = True, seed: int | None = 0) -> dict[str, Array | None]:
        if self._accumulate is None:
            raise NotAsked("no accumulation of yours: give accumulate=, a function that leaves a step's gradients in the parameters")
        with self._cleared(), self._seeded(training=training, seed=seed), self._statistics():
            self._accumulate()
            return self._gradients()

    def groups(self) -> list[Group]:
        if not self._optimizers:
            raise NotAsked("no optimizer: give optimizer=")
        names = {id(p): name for name, p in self._named.items()}
        found = []
        for key, optimizer in self._optimizers.items():
            for group in optimizer.param_groups:
                known = tuple(names[id(p)] for p in group["params"] if id(p) in names)
                options = {k: v for k, v in group.items() if k != "params"}
                kind = type(optimizer).__name__ if len(self._optimizers) == 1 else f"{key} ({type(optimizer).__name__})"
                found.append(Group(optimizer=kind, names=known, options=options, foreign=len(group["params"]) - len(known)))
        return found

    def _numpy(self, leaf: Tensor) -> Array:
        return _array(leaf)

    def _like(self, array: Array, leaf: Tensor) -> Tensor:
        return torch.from_numpy(np.asarray(array, order="C")).to(leaf.dtype).to(leaf.device)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        model = copy.deepcopy(self.model.state_dict())  # buffers too
        stateful = [*self._optimizers.values(), *self._keep]
        states = [copy.deepcopy(each.state_dict()) for each in stateful]
        held = {name: None if p.grad is None else p.grad.clone() for name, p in self._named.items()}
        with self._generators(), self._mode():
            try:
                yield
            finally:
                self.model.load_state_dict(model)
                for each, state in zip(stateful, states, strict=True):
                    each.load_state_dict(state)
                for name, p in self._named.items():
                    p.grad = held[name]

    def wide(self) -> Subject | None:
        with self._cleared():  # a copy of the gradients would be memory for nothing
            try:
                model = copy.deepcopy(self.model).double()
            except (TypeError, RuntimeError) as failed:
                raise NotAsked(f"the model cannot be copied: {failed}") from failed
        wide = batches.mapped(self.batch, lambda _, leaf: leaf.double() if leaf.is_floating_point() else leaf)
        options: dict[str, Any] = {"predict": self._predict, "tokens": self._tokens, "seed": self._seed}
        copied = TorchSubject(model, wide, self._loss_fn, arithmetic=arithmetic.widened, **options)
        try:
            copied.loss(few_rows(copied))
        except RuntimeError as failed:  # a kernel that has no float64
            raise NotAsked(f"the model does not run in float64: {str(failed).splitlines()[0]}") from failed
        return copied

    def computes(self) -> str:
        return arithmetic.asked(self.model, lambda: self.loss(few_rows(self), training=False))

    def _gradients(self) -> dict[str, Array | None]:
        return {name: None if p.grad is None else _array(p.grad, copy=True) for name, p in self._named.items() if p.requires_grad}

    @contextlib.contextmanager
    def _cleared(self) -> Iterator[None]:
        """No gradients at the start, and those that were there at the end."""
        held = {name: p.grad for name, p in self._named.items()}
        for p in self._named.values():
            p.grad = None
        try:
            yield
        finally:
            for name, p in self._named.items():
                p.grad = held[name]

    def _call(self, batch: Any) -> Tensor:
        loss = self._loss_fn(self.model, self.batch if batch is None else batch)
        if not isinstance(loss, Tensor) or loss.numel() != 1:
            raise ValueError(
                f"found:   loss_fn returned {type(loss).__name__}{tuple(getattr(loss, 'shape', ()))}\n"
                "wanted:  loss_fn(model, batch) -> one number in a tensor\ndo this: return the mean loss"
            )
        return loss.reshape(())

    @contextlib.contextmanager
    def _seeded(self, *, training: bool, seed: int | None = 0) -> Iterator[None]:
        with self._mode(training=training), self._generators(), self._arithmetic():
            if seed is not None:
                torch.manual_seed(self._seed + seed)
            yield

    @contextlib.contextmanager
    def _mode(self, *, training: bool | None = None) -> Iterator[None]:
        modes = {m: m.training for m in self.model.modules()}
        if training is not None:
            self.model.train(training)
        try:
            yield
        finally:
            for m, before in modes.items():
                m.training = before

    @contextlib.contextmanager
    def _statistics(self) -> Iterator[None]:
        """Buffers are put back: a loss in training mode moves BatchNorm's running mean."""
        held = [(buffer, buffer.clone()) for buffer in self.model.buffers()]
        try:
            yield
        finally:
            with torch.no_grad():
                for buffer, before in held:
                    buffer.copy_(before)

    @contextlib.contextmanager
    def _reseeded(self, seed: int) -> Iterator[None]:
        """Other random numbers inside the model alone: what `loss_fn` draws before it calls the model, a diffusion's noise, stays."""
        handle = self.model.register_forward_pre_hook(lambda _module, _inputs: torch.manual_seed(self._seed + seed) and None)
        try:
            yield
        finally:
            handle.remove()

    @contextlib.contextmanager
    def _generators(self) -> Iterator[None]:
        devices = sorted({p.device.index or 0 for p in self._named.values() if p.device.type == "cuda"})
        with torch.random.fork_rng(devices=devices):
            yield

    @contextlib.contextmanager
    def _heard(self) -> Iterator[list[Tensor]]:
        """What calling the model returns, while its loss is computed."""
        heard: list[Tensor] = []
        handle = self.model.register_forward_hook(lambda _module, _inputs, out: heard.append(returned.one_tensor(out)))
        try:
            yield heard
        finally:
            handle.remove()


subject = TorchSubject


def _several(optimizer: Any) -> dict[str, torch.optim.Optimizer]:
    if optimizer is None:
        return {}
    if isinstance(optimizer, dict):
        return dict(optimizer)
    return {str(i): o for i, o in enumerate(optimizer if isinstance(optimizer, list | tuple) else [optimizer])}


def _array(tensor: Tensor, *, copy: bool = False) -> Array:
    tensor = tensor.detach()
    narrow = tensor.dtype in (torch.bfloat16, torch.float16)
    made: Array = (tensor.float() if narrow else tensor).cpu().numpy()
    return made.copy() if copy else made
