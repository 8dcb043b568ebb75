"""JAX models for the checks: any pytree of arrays, equinox, flax nnx; careful to differentiate a copy, so that no traced value stays in the model.

Nothing is compiled here: a `loss_fn` of yours under `jax.jit` makes the checks cheap. JAX gives zeros, never nothing, to a parameter that the loss ignores.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from gradarbiter import batch as batches
from gradarbiter.core import Array
from gradarbiter.frameworks.hookless import Hookless
from gradarbiter.result import NotAsked
from gradarbiter.subject import Arrays, Group, Subject


def knows(model: Any) -> bool:
    return _is_nnx(model) or any(_is_parameter(leaf) for leaf in jax.tree.leaves(model))


class Form(Protocol):
    """A kind of model with its optimizer: how parameters are named, how a model with others is built, how a step is made."""

    model: Any
    state: Any  # the optimizer's

    def arrays(self) -> dict[str, jax.Array]: ...

    def trainable(self) -> set[str]: ...

    def tables(self) -> set[str]: ...

    def built(self, values: dict[str, jax.Array], *, training: bool, seed: int = 0) -> Any:
        """A copy with these parameters, in that mode."""

    def wide(self) -> Any:
        """A copy in float64."""

    def set(self, values: dict[str, jax.Array]) -> None: ...

    def by_name(self, gradients: Any) -> dict[str, jax.Array]:
        """Gradients in the model's own structure, by name."""

    def update(self, score: Callable[[Any], jax.Array]) -> None:
        """One step of the optimizer."""

    def ready(self) -> None:
        """The optimizer's state exists."""

    def kept(self) -> contextlib.AbstractContextManager[None]: ...


class Tree:
    """A pytree, which never changes: a step makes another. What is not a floating-point array of JAX is no parameter (equinox's rule)."""

    def __init__(self, model: Any, optimizer: Any) -> None:
        self.model, self.optimizer = model, optimizer
        self.state: Any = None

    def arrays(self) -> dict[str, jax.Array]:
        return self.by_name(self.model)

    def trainable(self) -> set[str]:
        return set(self.arrays())

    def tables(self) -> set[str]:
        eqx = sys.modules.get("equinox")
        if eqx is None:
            return set()
        parts = jax.tree_util.tree_leaves_with_path(self.model, is_leaf=lambda part: isinstance(part, eqx.nn.Embedding))
        return {f"{name(path)}.weight" for path, part in parts if isinstance(part, eqx.nn.Embedding)}

    def built(self, values: dict[str, jax.Array], *, training: bool, seed: int = 0) -> Any:  # noqa: ARG002  it has no random state
        model = jax.tree_util.tree_map_with_path(lambda path, leaf: values.get(name(path), leaf), self.model)
        eqx = sys.modules.get("equinox")
        return eqx.nn.inference_mode(model, value=not training) if eqx is not None and isinstance(model, eqx.Module) else model

    def wide(self) -> Any:
        return self.built({key: array.astype(jnp.float64) for key, array in self.arrays().items()}, training=True)

    def set(self, values: dict[str, jax.Array]) -> None:
        self.model = jax.tree_util.tree_map_with_path(lambda path, leaf: values.get(name(path), leaf), self.model)

    def by_name(self, gradients: Any) -> dict[str, jax.Array]:
        return {name(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(gradients) if _is_parameter(leaf)}

    def update(self, score: Callable[[Any], jax.Array]) -> None:
        import optax

        self.ready()
        parameters = self._parameters()
        gradients = jax.grad(lambda given: score(self._with(given)))(parameters)
        updates, self.state = self.optimizer.update(gradients, self.state, parameters)
        self.model = self._with(optax.apply_updates(parameters, updates))

    def ready(self) -> None:
        if self.state is None:
            self.state = self.optimizer.init(self._parameters())

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        model, state = self.model, self.state
        try:
            yield
        finally:
            self.model, self.state = model, state

    def _parameters(self) -> Any:
        """The model with None where there is no parameter: what optax is given."""
        return jax.tree.map(lambda leaf: leaf if _is_parameter(leaf) else None, self.model)

    def _with(self, parameters: Any) -> Any:
        return jax.tree.map(lambda new, old: old if new is None else new, parameters, self.model, is_leaf=lambda leaf: leaf is None)


class JaxSubject(Hookless):
    """A pytree or an nnx module, with ``loss_fn(model, batch)``.

    ``optimizer``: an optax transformation (its state is made here), or an `nnx.Optimizer`. ``step``: for a pytree ``step(model, state, batch)`` returns
    the next model and state (``state`` begins as None or what ``optimizer`` makes); for nnx a function of nothing that changes both in place.
    """

    framework = "jax"

    def __init__(self, model: Any, batch: Any, loss_fn: Callable[..., Any], optimizer: Any = None, **options: Any) -> None:
        super().__init__(model, batch, loss_fn, optimizer, **options)
        self._precision: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
        if _is_nnx(model):
            from gradarbiter.frameworks.nnx import Graph

            self._form: Form = Graph(model, optimizer)
        else:
            self._form = Tree(model, optimizer)

    def write(self, values: Arrays) -> None:
        held = self._form.arrays()
        with self._precision():
            self._form.set({key: jnp.asarray(value, dtype=held[key].dtype) for key, value in values.items()})

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        batch, arrays, loss_fn = self.batch if batch is None else batch, self._form.arrays(), self._told(training)
        trainable = {key: arrays[key] for key in arrays if key in self._form.trainable()}

        def whole(given: dict[str, jax.Array]) -> jax.Array:
            return loss_fn(self._form.built({**arrays, **given}, training=training), batch)

        with self._precision():
            loss, gradients = jax.value_and_grad(whole)(trainable)
        return float(loss), {key: self._numpy(gradients[key]) for key in trainable}  # jax sorts a dict

    def step(self) -> None:
        if self._step is None:
            self._need_optimizer()
            self._form.update(lambda model: self._told(training=True)(model, self.batch))
        elif isinstance(self._form, Tree):
            if self.optimizer is not None:
                self._form.ready()
            self._form.model, self._form.state = self._step(self._form.model, self._form.state, self.batch)[:2]
        else:
            self._step()
        self.model = self._form.model

    def accumulated(self, *, training: bool = True, seed: int | None = 0) -> dict[str, Array | None]:  # noqa: ARG002  the model's own state
        with self.kept():
            gradients = self._form.by_name(self._accumulated(training=training))
            return {key: self._numpy(gradient) for key, gradient in gradients.items()}

    def groups(self) -> list[Group]:
        """The labels of `optax.multi_transform` (so of `optax.contrib.muon`) and, by the state that each keeps of them, their parameters."""
        self._need_optimizer()
        self._form.ready()
        parts = jax.tree.leaves(self._form.state, is_leaf=lambda part: hasattr(part, "inner_states"))
        labels = {label: state for part in parts if hasattr(part, "inner_states") for label, state in part.inner_states.items()}
        known = set(self._form.arrays())
        held = {
            label: {_parameter_of(name(path), known) for path, _ in jax.tree_util.tree_leaves_with_path(state)} - {""}
            for label, state in (labels or {"optax": self._form.state}).items()
        }
        silent = [label for label in held if not held[label]]
        if silent and known - set().union(*held.values()):
            raise NotAsked(f"optax does not say which parameters {silent[0]!r} holds: it keeps no state of them")
        return [Group(optimizer=str(label), names=tuple(sorted(names))) for label, names in held.items() if names]

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        try:
            with self._form.kept():
                yield
        finally:
            self.model = self._form.model

    def wide(self) -> Subject | None:
        """A copy whose own calls run with 64-bit types enabled, whatever the process has."""
        with jax.enable_x64(True):
            model = self._form.wide()
            batch = batches.mapped(
                self.batch, lambda _, leaf: leaf.astype(np.float64) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf
            )
        options = {"predict": self._predict, "score": self._score, "tokens": self._tokens, "tables": self._tables, "heads": self._heads}
        copied = JaxSubject(model, batch, self._loss_fn, **options)
        copied._precision = lambda: jax.enable_x64(True)
        try:
            loss = copied._run(copied._told(training=True), batch, training=True)
        except TypeError as failed:
            raise NotAsked(f"the model does not run in float64: {str(failed).splitlines()[0]}") from failed
        if loss.dtype != jnp.float64:
            raise NotAsked(f"the model or its loss names a type itself: of float64 parameters the loss is {loss.dtype}")
        return copied

    def _tensors(self) -> dict[str, Any]:
        return dict(self._form.arrays())

    def _trainable(self) -> set[str]:
        return self._form.trainable()

    def _tables_by_class(self) -> set[str]:
        return self._form.tables()

    def _dtype(self, tensor: Any) -> str:
        return str(tensor.dtype.name)

    def _run(self, function: Callable[..., Any], batch: Any, *, training: bool, seed: int = 0) -> Any:
        with self._precision():
            return function(self._form.built(self._form.arrays(), training=training, seed=seed), batch)

    def _derivative(self, function: Callable[[Any], Any], at: Any) -> tuple[Any, Any]:
        with self._precision():
            return jax.value_and_grad(function)(at)  # type: ignore[no-any-return]

    def _numpy(self, leaf: Any) -> Array:
        narrow = jnp.issubdtype(leaf.dtype, jnp.floating) and leaf.dtype.itemsize < 4
        made: Array = np.asarray(leaf.astype(jnp.float32) if narrow else leaf)
        return made

    def _like(self, array: Array, leaf: Any) -> Any:
        with self._precision():
            return jnp.asarray(array, dtype=leaf.dtype)


subject = JaxSubject


def name(path: Any) -> str:
    return str(jax.tree_util.keystr(path, simple=True, separator="."))


def _parameter_of(leaf: str, known: set[str]) -> str:
    """The parameter that a leaf of the optimizer's state is about: "0.mu.layers.0.kernel" -> "layers.0.kernel"; "" if none."""
    return max((key for key in known if f".{leaf}".endswith(f".{key}")), key=len, default="")


def _is_parameter(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and bool(jnp.issubdtype(leaf.dtype, jnp.inexact))


def _is_nnx(model: Any) -> bool:
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(model, nnx.Module)
