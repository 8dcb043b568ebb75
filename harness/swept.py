"""The child half of a sweep: one operation, many examples, one process; careful that an example which raises costs only itself. Loaded by path."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def answer(
    request: dict[str, Any], adapter: Any, ways: Any, function: Callable[..., Any], refusal: Callable[..., dict[str, Any]]
) -> dict[str, Any]:
    """Ask each example of ``request["examples"]`` and save its ``y`` and gradients under its number; ``said`` is how each ended.

    ``ways`` is the framework's sweep.py: ``view(buffer, layout, shape)`` and ``gradients(function, floats, upstream)``.
    """
    tensors = adapter.load(request["inputs"], "")
    said: list[dict[str, Any]] = []
    kept: dict[str, Any] = {}
    for number, example in enumerate(request["examples"]):
        mine = {name: tensors[f"{number}/{name}"] for name in (*example["tensors"], "upstream")}
        cpu = time.process_time()
        try:
            out = adapter.settle(one(example, mine, adapter, ways, function, compiled=request["mode"] == "compiled"))
            kept |= {f"{number}/{name}": tensor for name, tensor in out.items() if tensor is not None}
            said.append({"end": "answer"})
        except Exception as raised:  # noqa: BLE001  whatever the framework raises is its answer
            said.append(refusal(raised, request, adapter))
        request["framework_cpu_s"] = request.get("framework_cpu_s", 0.0) + time.process_time() - cpu
    return {"kept": kept, "said": said}


def one(
    example: dict[str, Any], tensors: dict[str, Any], adapter: Any, ways: Any, function: Callable[..., Any], *, compiled: bool
) -> dict[str, Any]:
    """The output and the gradient of every buffer that floats, for one example."""
    upstream, floats = tensors.pop("upstream"), example["floats"]

    def call(**buffers: Any) -> Any:
        views = {
            name: ways.view(buffers.get(name, tensors[name]), example["layouts"][name], shape) for name, shape in example["tensors"].items()
        }
        if example["use"] == "chain":
            views |= {name: views[name] + views[name] for name in floats}
        y = function(**views, **example["attributes"])
        return y + y if example["use"] == "twice" else y

    if compiled:
        call = adapter.compiled(call)
    if not example["gradient"]:
        return {"y": call(**{name: tensors[name] for name in floats})}
    out: dict[str, Any] = ways.gradients(call, {name: tensors[name] for name in floats}, upstream)
    return out
