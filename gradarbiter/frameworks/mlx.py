"""MLX models for the checks; careful that everything is lazy and changes in place: what a loss did to buffers, mode and random state is undone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import mlx.core as mx
import numpy as np
from mlx import nn
from mlx.optimizers import MultiOptimizer
from mlx.utils import tree_flatten, tree_map, tree_unflatten

from gradarbiter.core import Array
from gradarbiter.frameworks.hookless import Hookless
from gradarbiter.subject import Arrays, Group

STATISTICS = ("running_mean", "running_var")  # of BatchNorm: among mlx's parameters, and frozen by it


def knows(model: Any) -> bool:
    return isinstance(model, nn.Module)


class MlxSubject(Hookless):
    """An `mlx.nn.Module` with ``loss_fn(model, batch)``. ``optimizer``: one of `mlx.optimizers`. ``step``: your training step, a function of nothing."""

    framework = "mlx"

    def write(self, values: Arrays) -> None:
        held = dict(tree_flatten(self.model.parameters()))  # all: a list of arrays is updated as a whole
        self.model.update(tree_unflatten([(name, self._like(values[name], old) if name in values else old) for name, old in held.items()]))
        mx.eval(self.model.parameters())

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        with self._undone(training=training):
            loss, gradients = self._value_and_grad(self.batch if batch is None else batch, training=training)
            mx.eval(loss, gradients)
        return float(loss.item()), self._by_name(gradients)

    def step(self) -> None:
        self.model.train()
        if self._step is not None:
            self._step()
        else:
            self._need_optimizer()
            mx.random.seed(self._seed)  # the gradient that `gradients` gives, dropout included
            _, gradients = self._value_and_grad(self.batch, training=True)
            self.optimizer.update(self.model, gradients)
        mx.eval(self.model.parameters(), [] if self.optimizer is None else self.optimizer.state)

    def accumulated(self, *, training: bool = True, seed: int | None = 0) -> dict[str, Array | None]:
        with self._undone(training=training, seed=seed):
            return self._by_name(self._accumulated(training=training))

    def groups(self) -> list[Group]:
        self._need_optimizer()
        parameters = tree_flatten(self.model.trainable_parameters())
        if not isinstance(self.optimizer, MultiOptimizer):
            return [Group(optimizer=type(self.optimizer).__name__, names=tuple(name for name, _ in parameters))]
        held: list[list[str]] = [[] for _ in self.optimizer.optimizers]
        for name, array in parameters:
            held[next(i for i, takes in enumerate(self.optimizer.filters) if takes(name, array))].append(name)
        return [Group(optimizer=type(one).__name__, names=tuple(names)) for one, names in zip(self.optimizer.optimizers, held, strict=True)]

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        state = None if self.optimizer is None else tree_map(mx.array, self.optimizer.state)
        try:
            with self._held():
                yield
        finally:
            if state is not None:
                self.optimizer.state = state

    def wide(self) -> None:
        """MLX 0.32.4 has the type, on the CPU, but computes exp, sin, erf and softmax in it to 1e-7: no reference."""

    def _tensors(self) -> dict[str, Any]:
        normed = {name for name, module in self.model.named_modules() if isinstance(module, nn.BatchNorm)}
        floats = [(name, array) for name, array in tree_flatten(self.model.parameters()) if mx.issubdtype(array.dtype, mx.floating)]
        return {name: array for name, array in floats if not (name.rpartition(".")[2] in STATISTICS and name.rpartition(".")[0] in normed)}

    def _trainable(self) -> set[str]:
        return {name for name, _ in tree_flatten(self.model.trainable_parameters())}

    def _tables_by_class(self) -> set[str]:
        return {f"{name}.weight" for name, module in self.model.named_modules() if isinstance(module, nn.Embedding)}

    def _dtype(self, tensor: Any) -> str:
        return str(tensor.dtype).removeprefix("mlx.core.")

    def _run(self, function: Callable[..., Any], batch: Any, *, training: bool, seed: int = 0) -> Any:
        with self._undone(training=training, seed=seed):
            out = function(self.model, batch)
            mx.eval(out)
        return out

    def _derivative(self, function: Callable[[Any], Any], at: Any) -> tuple[Any, Any]:
        return mx.value_and_grad(function)(at)  # type: ignore[no-any-return]

    def _numpy(self, leaf: Any) -> Array:
        narrow = leaf.dtype in (mx.bfloat16, mx.float16)
        return np.array(leaf.astype(mx.float32) if narrow else leaf)

    def _like(self, array: Array, leaf: Any) -> Any:
        # NumPy's float64 would arrive as float32 unless it is asked for.
        return mx.array(array, dtype=leaf.dtype)

    def _value_and_grad(self, batch: Any, *, training: bool) -> tuple[Any, Any]:
        return nn.value_and_grad(self.model, self._told(training))(self.model, batch)  # type: ignore[no-any-return]

    def _by_name(self, gradients: Any) -> dict[str, Array | None]:
        return {name: self._numpy(gradient) for name, gradient in tree_flatten(gradients)}

    @contextlib.contextmanager
    def _undone(self, *, training: bool, seed: int | None = 0) -> Iterator[None]:
        with self._held():
            if seed is not None:
                mx.random.seed(self._seed + seed)
            self.model.train(training)
            yield

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """Parameters, statistics, modes and the random state are put back."""
        arrays = tree_map(mx.array, self.model.parameters())
        modes = [(module, module.training) for module in self.model.modules()]
        high, low = (int(half) for half in mx.random.state[0])
        try:
            yield
        finally:
            self.model.update(arrays)
            for module, training in modes:  # from the outside in: train() sets what is below, too
                module.train(training)
            mx.random.seed(high << 32 | low)  # a seed's key is its two halves


subject = MlxSubject
