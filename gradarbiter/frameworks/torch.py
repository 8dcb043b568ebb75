"""PyTorch models for the checks; careful to go through `loss_fn` and the model's own call, so that wrappers (DDP, compile, autocast) stay in the path."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gradarbiter import batch as batches
from gradarbiter.core import Array
from gradarbiter.result import NotAsked
from gradarbiter.subject import Arrays, Group, Parameter, Reference, Subject

Step = Callable[[], Any]
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.uint8)


def knows(model: Any) -> bool:
    return isinstance(model, nn.Module)


class TorchSubject:
    """A model with ``loss_fn(model, batch)``, which returns the mean loss.

    ``optimizer``: one, or several in a dict or list. ``step``: your training step, if it is more than gradient and `optimizer.step()`; ``accumulate``: the part of
    it that leaves a step's gradients in the parameters. ``predict(model, batch)``: where the outputs are not what calling the model returns.
    ``tokens``: the key of the token ids in the batch. ``reference``: a second implementation.
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
        seed: int = 0,
    ) -> None:
        self.model, self.batch = model, batch
        self._loss_fn, self._predict, self._tokens, self._seed = loss_fn, predict, tokens, seed
        self._optimizers = _several(optimizer)
        self._step, self._accumulate, self.reference = step, accumulate, reference
        self._named = dict(model.named_parameters())

    def parameters(self) -> list[Parameter]:
        tables = {id(m.weight) for m in self.model.modules() if isinstance(m, nn.Embedding)}
        heads = _heads(self.model)
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
                self._named[name].copy_(torch.from_numpy(np.ascontiguousarray(value)))

    def loss(self, batch: Any = None, *, training: bool = True) -> float:
        with self._seeded(training=training), torch.no_grad():
            return float(self._call(batch))

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        with self._cleared():
            with self._seeded(training=training):
                loss = self._call(batch)
                loss.backward()
            return float(loss.detach()), self._gradients()

    def outputs(self, batch: Any = None) -> Array:
        with self._seeded(training=False), torch.no_grad():
            if self._predict is not None:
                return _array(_one_tensor(self._predict(self.model, self.batch if batch is None else batch)))
            with self._heard() as heard:
                self._call(batch)
        return _array(_only(heard))

    def output_gradient(self) -> tuple[float, Array, Array]:
        with self._seeded(training=False), self._heard() as heard:
            loss = self._call(None)
        out = _only(heard)
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
        self._call(None).backward()
        for optimizer in self._optimizers.values():
            optimizer.step()

    def accumulated(self) -> dict[str, Array | None]:
        if self._accumulate is None:
            raise NotAsked("no accumulation of yours: give accumulate=, a function that leaves a step's gradients in the parameters")
        with self._cleared(), self._seeded(training=True):
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

    def tokens(self, batch: Any = None) -> Array:
        _, leaf = self._token_leaf(self.batch if batch is None else batch)
        return _array(leaf)

    def with_tokens(self, ids: Array) -> Any:
        path, leaf = self._token_leaf(self.batch)
        made = torch.from_numpy(np.ascontiguousarray(ids)).to(leaf.dtype).to(leaf.device)
        # HF's labels are the ids once more: where a leaf equals the tokens, it stays equal to them.
        same = {
            at for at, other in batches.leaves(self.batch) if other is leaf or (other.shape == leaf.shape and bool((other == leaf).all()))
        }
        return batches.mapped(self.batch, lambda at, old: made if at == path or at in same else old)

    def with_rows(self, index: Sequence[int]) -> Any:
        sizes = [leaf.shape[0] for _, leaf in batches.leaves(self.batch) if leaf.ndim]
        if not sizes:
            raise NotAsked("the batch holds no tensor with a batch axis")
        rows = max(set(sizes), key=sizes.count)
        return batches.mapped(self.batch, lambda _, leaf: leaf[list(index)] if leaf.ndim and leaf.shape[0] == rows else leaf)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        model = copy.deepcopy(self.model.state_dict())  # buffers too
        states = {key: copy.deepcopy(optimizer.state_dict()) for key, optimizer in self._optimizers.items()}
        held = {name: p.grad for name, p in self._named.items()}
        modes = {m: m.training for m in self.model.modules()}
        with self._generators():
            try:
                yield
            finally:
                self.model.load_state_dict(model)
                for key, optimizer in self._optimizers.items():
                    optimizer.load_state_dict(states[key])
                for name, p in self._named.items():
                    p.grad = held[name]
                for m, training in modes.items():
                    m.training = training

    def wide(self) -> Subject | None:
        with self._cleared():  # a copy of the gradients would be memory for nothing
            try:
                model = copy.deepcopy(self.model).double()
            except (TypeError, RuntimeError) as failed:
                raise NotAsked(f"the model cannot be copied: {failed}") from failed
        wide = batches.mapped(self.batch, lambda _, leaf: leaf.double() if leaf.is_floating_point() else leaf)
        copied = TorchSubject(model, wide, self._loss_fn, predict=self._predict, tokens=self._tokens, seed=self._seed)
        try:
            copied.loss()
        except RuntimeError as failed:  # the model or the loss names a dtype
            raise NotAsked(f"the model does not run in float64: {str(failed).splitlines()[0]}") from failed
        return copied

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
    def _seeded(self, *, training: bool) -> Iterator[None]:
        modes = {m: m.training for m in self.model.modules()}
        self.model.train(training)
        try:
            with self._generators():
                torch.manual_seed(self._seed)
                yield
        finally:
            for m, before in modes.items():
                m.training = before

    @contextlib.contextmanager
    def _generators(self) -> Iterator[None]:
        devices = sorted({p.device.index or 0 for p in self._named.values() if p.device.type == "cuda"})
        with torch.random.fork_rng(devices=devices):
            yield

    @contextlib.contextmanager
    def _heard(self) -> Iterator[list[Tensor]]:
        """What calling the model returns, while its loss is computed."""
        heard: list[Tensor] = []
        handle = self.model.register_forward_hook(lambda _module, _inputs, out: heard.append(_one_tensor(out)))
        try:
            yield heard
        finally:
            handle.remove()

    def _token_leaf(self, batch: Any) -> tuple[batches.Path, Tensor]:
        found = [(at, leaf) for at, leaf in batches.leaves(batch) if isinstance(leaf, Tensor) and leaf.dtype in INTEGERS and leaf.ndim == 2]
        if self._tokens is not None:
            found = [(at, leaf) for at, leaf in found if at[-1:] == (self._tokens,)]
        elif len(found) > 1:
            found = [(at, leaf) for at, leaf in found if at[-1] in ("input_ids", "tokens", "ids", 0)]
        if len(found) != 1:
            raise NotAsked(f"{len(found)} tensors in the batch could be the token ids: give tokens= with the key of one")
        return found[0]


subject = TorchSubject


def _several(optimizer: Any) -> dict[str, torch.optim.Optimizer]:
    if optimizer is None:
        return {}
    if isinstance(optimizer, dict):
        return dict(optimizer)
    return {str(i): o for i, o in enumerate(optimizer if isinstance(optimizer, list | tuple) else [optimizer])}


def _heads(model: nn.Module) -> set[int]:
    """Matrices of the output layer: what transformers says it is, else linear modules called head, lm_head or output_layer."""
    find = getattr(model, "get_output_embeddings", None)
    named = find() if callable(find) else None
    heads = (
        [named]
        if named is not None
        else [m for name, m in model.named_modules() if name.rpartition(".")[2] in ("head", "lm_head", "output_layer")]
    )
    return {id(p) for m in heads for p in m.parameters() if p.ndim == 2}


def _one_tensor(out: Any) -> Tensor:
    for candidate in (out, getattr(out, "logits", None), getattr(out, "last_hidden_state", None)):
        if isinstance(candidate, Tensor):
            return candidate
    if isinstance(out, list | tuple) and out and isinstance(out[0], Tensor):
        return out[0]
    if isinstance(out, dict) and isinstance(out.get("logits"), Tensor):
        return out["logits"]
    raise NotAsked(f"calling the model returns {type(out).__name__}: give predict=, which returns one tensor")


def _only(heard: list[Tensor]) -> Tensor:
    if len(heard) != 1:
        raise NotAsked(f"loss_fn called the model {len(heard)} times: give predict=, which returns one tensor")
    return heard[0]


def _array(tensor: Tensor, *, copy: bool = False) -> Array:
    tensor = tensor.detach()
    narrow = tensor.dtype in (torch.bfloat16, torch.float16)
    made: Array = (tensor.float() if narrow else tensor).cpu().numpy()
    return made.copy() if copy else made
