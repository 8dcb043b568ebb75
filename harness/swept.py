"""The child half of a sweep: one operation, many examples, one process; careful that an example which raises costs only itself. Loaded by path."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

AGAIN = 6  # examples asked once more at the end: an answer must not depend on what was asked before it


def answer(request: dict[str, Any], adapter: Any, refusal: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """Ask each example of the file ``request["examples"]``; save its ``y``, its gradients and its buffers under its number; say how each ended.

    ``request["ways"]`` is the framework's sweep.py: ``view(buffer, layout, shape)`` and ``gradients(function, floats, upstream)``; where it has
    ``unasked(raised)``, that says of a refusal that the operation is not made for the type.
    """
    request["stage"] = "import"
    ways, run_file = request["load"](request["ways"], "ways"), request["load"](request["file"], "run_file")
    function = getattr(run_file, request["function"])
    request["stage"] = "load"
    with open(request["examples"]) as file:  # noqa: PTH123  no pathlib in a cell
        examples = json.load(file)
    tensors = getattr(ways, "load", adapter.load)(request["inputs"], "")
    request["stage"] = "run"
    said: list[dict[str, Any]] = []
    kept: dict[str, Any] = {}
    start, cpu = time.perf_counter(), time.process_time()
    order = [*range(len(examples)), *([*range(len(examples))][:AGAIN] if len(examples) > 1 else [])]
    for turn, number in enumerate(order):
        example, again = examples[number], turn >= len(examples)
        mine = {name: tensors[f"{number}/{name}"] for name in (*example["tensors"], "upstream")}
        if hasattr(ways, "reset") and request["mode"] == "compiled":
            ways.reset()
        try:
            made = one(example, mine, adapter, ways, function, compiled=request["mode"] == "compiled")
            out = adapter.settle({name: tensor for name, tensor in made.items() if tensor is not None})
            if again and said[number]["end"] != "answer":
                continue
            kept |= {f"{number}/{'again.' if again else ''}{name}": tensor for name, tensor in out.items()}
            if not again:
                said.append({"end": "answer"})
        except Exception as raised:  # noqa: BLE001  whatever the framework raises is its answer
            if again:
                continue
            if hasattr(ways, "unasked") and ways.unasked(raised):
                said.append({"end": "unasked"})
                continue
            said.append(refusal(raised, request, adapter))
            if example["gradient"] and request["mode"] == "eager":  # what has no backward has a value all the same
                with contextlib.suppress(Exception):
                    alone = one({**example, "gradient": False}, mine, adapter, ways, function, compiled=False)
                    kept |= {f"{number}/y": adapter.settle(alone)["y"]}
    for number, example in enumerate(examples):
        if said[number]["end"] == "answer":
            kept |= {f"{number}/in.{name}": tensors[f"{number}/{name}"] for name in example["tensors"]}
    spent = {"run_s": time.perf_counter() - start, "run_cpu_s": time.process_time() - cpu}
    request["stage"] = "save"
    adapter.save(kept, request["outputs"])
    return {"end": "answer", "said": said, **spent, "facts": adapter.facts()}


def one(
    example: dict[str, Any], tensors: dict[str, Any], adapter: Any, ways: Any, function: Callable[..., Any], *, compiled: bool
) -> dict[str, Any]:
    """The output and the gradient of every buffer that floats, for one example."""
    floats = {name: tensors[name] for name in example["floats"]}

    def call(**buffers: Any) -> Any:
        views = {
            name: ways.view(buffers.get(name, tensors[name]), example["layouts"][name], shape) for name, shape in example["tensors"].items()
        }
        if example["use"] == "chain":
            views |= {name: views[name] + views[name] for name in floats}
        y = next(iter(views.values())) if example["view"] else function(**views, **example["attributes"])
        return y + y if example["use"] == "twice" else y

    def gradients(**buffers: Any) -> Any:
        return ways.gradients(call, buffers, tensors["upstream"])

    def output(**buffers: Any) -> Any:
        return {"y": call(**buffers)}

    # A graph that is recorded as a whole holds its backward too; elsewhere a user compiles the forward.
    whole = gradients if example["gradient"] else output
    if compiled and (getattr(ways, "WHOLE", False) or not example["gradient"]):
        whole = adapter.compiled(whole)
    elif compiled:
        call = adapter.compiled(call)
    out: dict[str, Any] = whole(**floats)
    return out
