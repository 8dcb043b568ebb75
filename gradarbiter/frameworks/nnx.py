"""Flax nnx modules for the JAX adapter; careful that they change in place: losses come from a clone, and a step is undone variable by variable."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

MODES = ("deterministic", "use_running_average")


class Graph:
    """A module with its `nnx.Optimizer`, or an optax transformation for one. Parameters: every `nnx.Param`; trained: what the optimizer is ``wrt``."""

    def __init__(self, model: Any, optimizer: Any) -> None:
        self.model = model
        if optimizer is not None and not isinstance(optimizer, nnx.Optimizer):
            optimizer = nnx.Optimizer(model, optimizer, wrt=nnx.Param)
        self._optimizer, self._wrt = optimizer, nnx.Param if optimizer is None else optimizer.wrt

    @property
    def state(self) -> Any:
        return nnx.as_pure(self._optimizer.opt_state)

    @state.setter
    def state(self, value: Any) -> None:
        nnx.update(self._optimizer.opt_state, value)

    def arrays(self) -> dict[str, jax.Array]:
        return self.by_name(nnx.state(self.model, nnx.Param))

    def trainable(self) -> set[str]:
        return set(self.by_name(nnx.state(self.model, self._wrt)))

    def tables(self) -> set[str]:
        return {".".join(map(str, (*path, "embedding"))) for path, module in nnx.iter_modules(self.model) if isinstance(module, nnx.Embed)}

    def built(self, values: dict[str, jax.Array], *, training: bool, seed: int = 0) -> Any:
        model = nnx.clone(self.model)
        nnx.update(model, jax.tree.map(lambda count: count + seed, nnx.state(model, nnx.RngCount)))
        _set(model, values)
        model.train() if training else model.eval()
        return model

    def wide(self) -> Any:
        model = self.built({name: array.astype(jnp.float64) for name, array in self.arrays().items()}, training=True)
        for _, module in nnx.iter_modules(model):
            dtype = getattr(module, "dtype", None)  # what a layer casts to before it computes: nnx.Embed notes its table's when it is made
            if dtype is not None and jnp.issubdtype(dtype, jnp.floating):
                module.dtype = jnp.float64
        return model

    def set(self, values: dict[str, jax.Array]) -> None:
        _set(self.model, values)

    def by_name(self, gradients: Any) -> dict[str, jax.Array]:
        return {".".join(map(str, path)): variable[...] for path, variable in nnx.to_flat_state(gradients)}

    def update(self, score: Callable[[Any], jax.Array]) -> None:
        self.model.train()
        self._optimizer.update(self.model, nnx.grad(score, argnums=nnx.DiffState(0, self._wrt))(self.model))

    def ready(self) -> None:
        """An `nnx.Optimizer` makes its state when it is made."""

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        held = [(part, nnx.as_pure(nnx.state(part))) for part in (self.model, self._optimizer) if part is not None]
        modes = [
            (module, mode, getattr(module, mode)) for _, module in nnx.iter_modules(self.model) for mode in MODES if hasattr(module, mode)
        ]
        try:
            yield
        finally:
            for part, values in held:
                nnx.update(part, values)
            for module, mode, value in modes:
                setattr(module, mode, value)


def _set(model: Any, values: dict[str, jax.Array]) -> None:
    paths = {".".join(map(str, path)): path for path, _ in nnx.to_flat_state(nnx.state(model, nnx.Param))}
    nnx.update(model, nnx.from_flat_state([(paths[name], value) for name, value in values.items()]))
