"""What the checks ask of a model with its loss, batch and optimizer, in NumPy arrays; careful that a check leaves all of them as it found them.

An adapter under `gradarbiter.frameworks` implements `Subject` for one framework. Every array that crosses is float32 or wider (bfloat16 is widened, exactly),
or an integer; its shape is the framework's own, so a parameter and its gradient always have the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any, Protocol

from gradarbiter.core import Array
from gradarbiter.recipe import Recipe
from gradarbiter.result import Finding

Arrays = Mapping[str, Array]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    name: str
    shape: tuple[int, ...]
    dtype: str  # of the framework's tensor: "float32", "bfloat16", ...
    trainable: bool
    table: bool = False  # an embedding: rows that are looked up by ids
    head: bool = False  # a matrix whose output is the logits (or is tied to a table)


@dataclass(frozen=True, kw_only=True)
class Group:
    """One group of one optimizer. ``names`` of parameters; ``foreign`` counts entries that are no parameter of the model."""

    optimizer: str  # its class: "AdamW", "Muon"
    names: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    foreign: int = 0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a second implementation says for the same parameters and batch, by the model's own names."""

    loss: float
    gradients: Arrays
    outputs: Array | None = None


Reference = Callable[[Arrays, Any], Answer]  # (float64 parameters by name, the batch); never the code that is examined


@dataclass(frozen=True, kw_only=True)
class Expect:
    """What the user says of the model. What is not said is not checked, except where a default is named."""

    frozen: Sequence[str] | None = None  # patterns of parameters meant to be frozen; None: those that the model marks so; (): none
    unused: Sequence[str] = ()  # patterns of parameters that the loss may not depend on
    tied: Sequence[tuple[str, str]] = ()  # pairs of names that are one parameter
    causal: bool | None = None  # outputs at a position depend on no later token
    reach: int | None = None  # how many tokens back an output may depend on, itself included: layers x (window - 1) + 1
    position: bool = True  # the order of the tokens matters
    next_token: bool | None = (
        None  # the loss is the mean cross-entropy of the next token; None: asked where outputs look like logits of a language model
    )
    vocab_size: int | None = None  # ids that exist; more logits than that must take no part
    padding: int | None = None  # a target with this value is not scored
    trained: bool = False  # a trained model's loss may be anything
    batch_mixing: bool = False  # rows of a batch may influence each other in evaluation
    hidden: Sequence[str] | None = None  # patterns of the matrices that Muon may hold; None: every matrix that is no table and no head
    dtype: str | None = (
        None  # what matrix products are meant to be computed in; None: what autocast says, else the narrowest trainable parameter's
    )
    recipe: Recipe | None = None  # which rule updates each parameter


class Subject(Protocol):
    """One model, its loss, its batch, its optimizer."""

    framework: str
    batch: Any
    reference: Reference | None

    def parameters(self) -> list[Parameter]: ...

    def read(self) -> dict[str, Array]:
        """Values of all parameters, by name; copies."""

    def write(self, values: Arrays) -> None:
        """Set the named parameters (cast to their dtype), others untouched."""

    def loss(self, batch: Any = None, *, training: bool = True) -> float:
        """``loss_fn(model, batch)``, with the same random numbers each time it is called."""

    def gradients(self, batch: Any = None, *, training: bool = True) -> tuple[float, dict[str, Array | None]]:
        """Loss, and the gradient of every trainable parameter; None where the framework gives none."""

    def outputs(self, batch: Any = None, *, seed: int = 0) -> Array:
        """What the model predicts in evaluation mode, float32 or wider; ``seed``: of random numbers that it draws itself, not of those that `loss_fn` draws.

        Raises NotAsked where there is no way to know.
        """

    def output_gradient(self) -> tuple[float, Array, Array]:
        """Loss, outputs and d loss / d outputs in evaluation mode. Raises NotAsked."""

    def step(self) -> None:
        """One training step as the user's loop does it. Raises NotAsked without an optimizer or a step of the user's."""

    def accumulated(self, *, training: bool = True, seed: int | None = 0) -> dict[str, Array | None]:
        """The gradient that the user's own loop hands to the optimizer for its next step, several micro-batches together. Raises NotAsked.

        ``seed`` None: with the random numbers that the coming `step` will draw.
        """

    def groups(self) -> list[Group]:
        """Raises NotAsked where the optimizer's groups cannot be read."""

    def tokens(self, batch: Any = None) -> Array:
        """The batch's token ids, shape (sequences, positions). Raises NotAsked where there are none or several."""

    def with_tokens(self, ids: Array) -> Any:
        """The batch with other token ids."""

    def with_rows(self, index: Sequence[int]) -> Any:
        """The batch whose row i is its row index[i], in every tensor that has a batch axis."""

    def kept(self) -> AbstractContextManager[None]:
        """Parameters, optimizer state, gradients, buffers, mode and random generators are put back on exit."""

    def wide(self) -> Subject | None:
        """A float64 copy of the model with its loss and batch, without an optimizer; None where the framework has none."""


Check = Callable[[Subject, Expect], list[Finding]]  # may raise NotAsked


def matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
