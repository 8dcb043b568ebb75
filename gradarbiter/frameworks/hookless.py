"""What adapters do alike where a framework has no hook on a model's call; careful to say what must be given instead of guessing what the outputs are."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradarbiter.batch import Batched
from gradarbiter.core import Array
from gradarbiter.result import NotAsked
from gradarbiter.subject import Parameter, Reference, matches

# A table or head by its name, where its class does not tell: "wte.weight", "tok_emb", "embed_tokens.weight"; not "patch_embed.proj.weight".
TABLE = re.compile(r"(.*[._])?(wte|wpe|\w*emb(ed(ding|dings|der)?)?(_tokens)?)([._](weight|w|table|embeddings?|value))?")
HEAD = re.compile(r"(.*[.])?(head|lm_head|output_layer)([.]\w+)?")


class Hookless(Batched):
    """A model with ``loss_fn(model, batch)``, which returns the mean loss; where it has a parameter ``training``, it is told.

    ``predict(model, batch)`` returns the outputs (logits), and ``score(outputs, batch)`` the same loss from them: what torch's adapter learns from hooks.
    ``tokens``: the key of the token ids in the batch. ``tables`` and ``heads``: patterns of the embeddings and of the matrices that make logits; by class
    or name where not given. ``accumulate(model)``: the gradients of several micro-batches as your loop gives them to the optimizer. ``reference``: a
    second implementation.
    """

    framework: str

    def __init__(
        self,
        model: Any,
        batch: Any,
        loss_fn: Callable[..., Any],
        optimizer: Any = None,
        *,
        step: Callable[..., Any] | None = None,
        accumulate: Callable[[Any], Any] | None = None,
        reference: Reference | None = None,
        predict: Callable[..., Any] | None = None,
        score: Callable[[Any, Any], Any] | None = None,
        tokens: Any = None,
        tables: Sequence[str] | None = None,
        heads: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        self.model, self.batch, self.optimizer, self.reference = model, batch, optimizer, reference
        self._loss_fn, self._predict, self._score = loss_fn, predict, score
        self._step, self._accumulate, self._tokens, self._seed = step, accumulate, tokens, seed
        self._tables, self._heads = tables, heads

    # An adapter's part, beside what `Batched` asks for.

    def _tensors(self) -> dict[str, Any]:
        """Every parameter by name."""
        raise NotImplementedError

    def _trainable(self) -> set[str]:
        raise NotImplementedError

    def _dtype(self, tensor: Any) -> str:
        raise NotImplementedError

    def _run(self, function: Callable[..., Any], batch: Any, *, training: bool, seed: int = 0) -> Any:
        """``function(model, batch)`` in that mode, with the same random numbers for the same seed, leaving nothing behind."""
        raise NotImplementedError

    def _derivative(self, function: Callable[[Any], Any], at: Any) -> tuple[Any, Any]:
        """A function's value and its gradient."""
        raise NotImplementedError

    def _tables_by_class(self) -> set[str]:
        return set()

    # What follows from it.

    def parameters(self) -> list[Parameter]:
        trainable, tables = self._trainable(), self._tables_by_class()
        return [
            Parameter(
                name=name,
                shape=tuple(tensor.shape),
                dtype=self._dtype(tensor),
                trainable=name in trainable,
                table=len(tensor.shape) == 2
                and (matches(name, self._tables) if self._tables is not None else name in tables or bool(TABLE.fullmatch(name))),
                head=len(tensor.shape) == 2 and (matches(name, self._heads) if self._heads is not None else bool(HEAD.fullmatch(name))),
            )
            for name, tensor in self._tensors().items()
        ]

    def read(self) -> dict[str, Array]:
        return {name: np.array(self._numpy(tensor)) for name, tensor in self._tensors().items()}

    def loss(self, batch: Any = None, *, training: bool = True) -> float:
        return float(self._numpy(self._run(self._told(training), self.batch if batch is None else batch, training=training)))

    def outputs(self, batch: Any = None, *, seed: int = 0) -> Array:
        return np.array(self._numpy(self._predicted(self.batch if batch is None else batch, seed)))

    def output_gradient(self) -> tuple[float, Array, Array]:
        if self._score is None:
            raise NotAsked("how the loss follows from the outputs is not known: give score=, a function of (outputs, batch)")
        score, out = self._score, self._predicted(self.batch)
        loss, gradient = self._derivative(lambda out: scalar(score(out, self.batch)), out)
        found, whole = float(self._numpy(loss)), self.loss(training=False)
        # Two ways to the same mean over the outputs: a handful of roundings an element, and a sum whose rounding grows like a random walk.
        unit = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float64": 2.0**-53}.get(self._dtype(out), 2.0**-24)
        if not abs(found - whole) <= 2 * (8 + math.sqrt(math.prod(out.shape))) * unit * max(abs(whole), 1.0):
            raise NotAsked(
                f"score(predict(model, batch), batch) is {found:.6g} where loss_fn says {whole:.6g} in evaluation: give the same loss"
            )
        return found, np.array(self._numpy(out)), np.array(self._numpy(gradient))

    def _predicted(self, batch: Any, seed: int = 0) -> Any:
        if self._predict is None:
            raise NotAsked("what the model predicts is not known: give predict=, a function of (model, batch) that returns the logits")
        return self._run(told(self._predict, training=False), batch, training=False, seed=seed)

    def _told(self, training: bool) -> Callable[[Any, Any], Any]:
        loss_fn = told(self._loss_fn, training=training)
        return lambda model, batch: scalar(loss_fn(model, batch))

    def _accumulated(self, *, training: bool) -> Any:
        if self._accumulate is None:
            raise NotAsked("no accumulation of yours: give accumulate=, a function of the model that returns a step's gradients")
        return told(self._accumulate, training=training)(self.model)

    def _need_optimizer(self) -> None:
        if self.optimizer is None:
            raise NotAsked("no optimizer: give optimizer= or step=")


def told(function: Callable[..., Any], *, training: bool) -> Callable[..., Any]:
    """The function, which is given ``training`` if it has a parameter of that name."""
    try:
        known = "training" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled, or built in
        return function
    return (lambda *given: function(*given, training=training)) if known else function


def scalar(loss: Any) -> Any:
    if math.prod(getattr(loss, "shape", (0,))) != 1:
        raise ValueError(
            f"found:   loss_fn returned {type(loss).__name__}{tuple(getattr(loss, 'shape', ()))}\n"
            "wanted:  loss_fn(model, batch) -> one number in an array of the framework\ndo this: return the mean loss"
        )
    return loss.reshape(())
