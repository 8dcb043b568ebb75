"""Keras 3 models on the jax or the torch backend; careful to take every loss in a StatelessScope, so that no statistic, seed or traced value stays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np

from gradarbiter.core import Array
from gradarbiter.frameworks.hookless import Hookless
from gradarbiter.subject import Arrays, Group

BACKENDS = ("jax", "torch")
STATISTICS = ("moving_mean", "moving_variance")  # of BatchNormalization: weights that nothing trains


def knows(model: Any) -> bool:
    return isinstance(model, keras.Model)


class KerasSubject(Hookless):
    """A built `keras.Model` with ``loss_fn(model, batch)`` or, since keras has no mode of its own, ``loss_fn(model, batch, training)`` that passes it on.

    ``optimizer``: one of `keras.optimizers`; without one that of `model.compile`. ``step``: your training step, a function of nothing.
    ``accumulate(model)``: gradients in the order of ``model.trainable_variables``. A parameter's name is its path.
    """

    framework = "keras"

    def __init__(self, model: Any, batch: Any, loss_fn: Callable[..., Any], optimizer: Any = None, **options: Any) -> None:
        super().__init__(model, batch, loss_fn, getattr(model, "optimizer", None) if optimizer is None else optimizer, **options)
        if not model.built or keras.config.backend() not in BACKENDS:
            raise ValueError(
                f"found:   a model that is {'built' if model.built else 'not built'}, on the {keras.config.backend()} backend\n"
                f"wanted:  a built model on one of {', '.join(BACKENDS)}\n"
                "do this: call the model once on a batch; set KERAS_BACKEND before keras is imported"
            )
        if self.optimizer is not None and not self.optimizer.built:
            self.optimizer.build(model.trainable_variables)  # so that its state exists, and can be put back

    def write(self, values: Arrays) -> None:
        held = self._tensors()
        for name, value in values.items():
            held[name].assign(value)

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        loss, gradients, _ = self._value_and_grad(self.batch if batch is None else batch, training=training)
        return float(self._numpy(loss)), self._by_name(gradients)

    def step(self) -> None:
        if self._step is not None:
            self._step()
            return
        self._need_optimizer()
        _, gradients, after = self._value_and_grad(self.batch, training=True)
        with _untracked():
            self.optimizer.apply(gradients, self.model.trainable_variables)
            for variable, value in zip(self._others(), after, strict=True):
                variable.assign(value)

    def accumulated(self, *, training: bool = True, seed: int | None = 0) -> dict[str, Array | None]:  # noqa: ARG002  the model's own state
        with self.kept():
            return self._by_name(self._accumulated(training=training))

    def groups(self) -> list[Group]:
        self._need_optimizer()
        names = {id(variable): name for name, variable in self._tensors().items()}
        return [Group(optimizer=type(self.optimizer).__name__, names=tuple(names[id(v)] for v in self.model.trainable_variables))]

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        variables = [*self.model.variables, *([] if self.optimizer is None else self.optimizer.variables)]
        held = [(variable, np.array(self._numpy(variable))) for variable in variables]
        try:
            yield
        finally:
            for variable, value in held:
                variable.assign(value)

    def wide(self) -> None:
        return None

    def _tensors(self) -> dict[str, Any]:
        floats = [v for v in self.model.weights if "float" in str(v.dtype) and v.name not in STATISTICS]
        paths = [variable.path.replace("/", ".") for variable in floats]
        # Two layers may have one name.
        return {path if paths.count(path) == 1 else f"{path}#{i}": v for i, (path, v) in enumerate(zip(paths, floats, strict=True))}

    def _trainable(self) -> set[str]:
        trainable = {id(variable) for variable in self.model.trainable_variables}
        return {name for name, variable in self._tensors().items() if id(variable) in trainable}

    def _dtype(self, tensor: Any) -> str:
        return str(keras.backend.standardize_dtype(tensor.dtype))

    def _run(self, function: Callable[..., Any], batch: Any, *, training: bool, seed: int = 0) -> Any:  # noqa: ARG002  `function` was told
        state = [(v, v.value + seed if v.name == "seed_generator_state" else v.value) for v in self.model.variables]
        with _untracked(), keras.StatelessScope(state, initialize_variables=False):
            return function(self.model, batch)

    def _derivative(self, function: Callable[[Any], Any], at: Any) -> tuple[Any, Any]:
        (value, _), (gradient,) = _value_and_grad(lambda given: (function(given[0]), None), [at])
        return value, gradient

    def _numpy(self, leaf: Any) -> Array:
        leaf = leaf.value if isinstance(leaf, keras.Variable) else leaf
        narrow = self._dtype(leaf) in ("bfloat16", "float16")
        made: Array = keras.ops.convert_to_numpy(keras.ops.cast(leaf, "float32") if narrow else leaf)
        return made

    def _like(self, array: Array, leaf: Any) -> Any:
        return keras.ops.convert_to_tensor(array, dtype=self._dtype(leaf))

    def _others(self) -> list[Any]:
        """What a loss may change: statistics, seeds."""
        trainable = {id(variable) for variable in self.model.trainable_variables}
        return [variable for variable in self.model.variables if id(variable) not in trainable]

    def _value_and_grad(self, batch: Any, *, training: bool) -> tuple[Any, Sequence[Any], Sequence[Any]]:
        """Loss, gradients of the trainable variables, and the next values of the others."""
        trainable, others, loss_fn = self.model.trainable_variables, self._others(), self._told(training)

        def whole(values: Sequence[Any]) -> tuple[Any, list[Any]]:
            mapping = [*zip(trainable, values, strict=True), *((v, v.value) for v in others)]
            with keras.StatelessScope(mapping, initialize_variables=False) as scope:
                loss = loss_fn(self.model, batch)
            return loss, [scope.get_current_value(v) for v in others]

        (loss, after), gradients = _value_and_grad(whole, [v.value for v in trainable])
        return loss, gradients, after

    def _by_name(self, gradients: Sequence[Any]) -> dict[str, Array | None]:
        names = {id(variable): name for name, variable in self._tensors().items()}
        pairs = zip(self.model.trainable_variables, gradients, strict=True)
        return {names[id(variable)]: None if gradient is None else np.array(self._numpy(gradient)) for variable, gradient in pairs}


subject = KerasSubject


def _value_and_grad(function: Callable[[Sequence[Any]], tuple[Any, Any]], at: Sequence[Any]) -> tuple[tuple[Any, Any], Sequence[Any]]:
    """(value, what came with it), and the gradient by each of ``at``: by the backend itself."""
    if keras.config.backend() == "jax":
        import jax

        return jax.value_and_grad(function, has_aux=True)(list(at))  # type: ignore[no-any-return]
    import torch

    leaves = [value.detach().clone().requires_grad_() for value in at]
    value, beside = function(leaves)
    return (value.detach(), beside), torch.autograd.grad(value, leaves, allow_unused=True)


def _untracked() -> contextlib.AbstractContextManager[Any]:
    if keras.config.backend() == "jax":
        return contextlib.nullcontext()
    import torch

    untracked: contextlib.AbstractContextManager[Any] = torch.no_grad()
    return untracked
