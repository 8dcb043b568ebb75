"""Which adapter shows a model to the checks; careful to import no framework that the model does not come from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from gradarbiter.subject import Subject

# The module that must be imported already if a model is of that framework -> its adapter. The order decides: keras wraps the ones below it.
ADAPTERS = ("keras", "torch", "mlx", "tinygrad", "jax")


def subject(model: Any, batch: Any, loss_fn: Callable[..., Any], optimizer: Any = None, **options: Any) -> Subject:
    """The adapter for ``model``. Options are the adapter's (`predict`, `tokens`, `step`, ...).

    Raises:
        ValueError: no adapter knows this model.
    """
    from importlib import import_module

    for name in ADAPTERS:
        if name in sys.modules or (name == "mlx" and "mlx.core" in sys.modules):
            adapter = import_module(f"gradarbiter.frameworks.{name}")
            if adapter.knows(model):
                made: Subject = adapter.subject(model, batch, loss_fn, optimizer, **options)
                return made
    raise ValueError(
        f"found:   a model of type {type(model).__module__}.{type(model).__qualname__}\n"
        f"wanted:  one of {', '.join(ADAPTERS)} (for jax: a pytree with array leaves)\n"
        "do this: give the framework's own model, or implement gradarbiter.subject.Subject"
    )
