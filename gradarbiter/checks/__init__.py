"""The step checks by name: each module of this folder is one check, its function called like it. Nothing is registered by hand."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from gradarbiter.subject import Check

# In the order of a report: what is cheap and explains the rest comes first.
ORDER = (
    "gradient_flow",
    "directional_gradient",
    "gradient_parity",
    "loss_scale",
    "next_token",
    "causality",
    "position_sensitivity",
    "batch_independence",
    "mode",
    "optimizer_cover",
    "update_flow",
    "update_parity",
)


def names() -> tuple[str, ...]:
    found = {module.name for module in pkgutil.iter_modules(__path__)}
    return tuple(sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name)))


def load(name: str) -> Check:
    check: Check = getattr(import_module(f"gradarbiter.checks.{name}"), name)
    return check
