"""torch.autograd.gradcheck of the trainer's model and loss, as functions of all parameters; careful that its tolerances are those which pass on healthy twins.

Three questions a run: the logits in float64 with gradcheck's own tolerances; the loss in a float64 model (it casts logits to float32, so the step and the
tolerance are wide); the same in a float32 model. In fast mode gradcheck compares one random direction a parameter. Where it fails it recomputes whole Jacobians
for its message, minutes of this model: that text is left out, the verdict is not touched.
"""

import contextlib
from unittest import mock

import torch
from torch.autograd import gradcheck
from torch.func import functional_call

from tests import rivals_runs as runs
from trainer import faults, step

NAME = "gradcheck"
VERSION = torch.__version__
USE = "torch.autograd.gradcheck(fast_mode=True) of logits (float64) and of the loss (float64, float32), over all parameters, in eval mode, on one micro-batch"
# Of the loss: float32's rounding of a loss near 200 is 1e-5, divided by 2 eps 3e-4. The narrowest atol that let 20 healthy seeds pass was 5e-4 (float64 model)
# and 3e-4 (float32); at half of this eps no atol below 1e-3 (2e-3) did. Doubled, so that the 21st passes too.
WIDE = {"eps": 2e-2, "atol": 1e-3, "rtol": 1e-2}
IN_THE_STEP = "acts in the step, after the gradient: gradcheck sees a function"
ELSEWHERE = {
    "mean_of_means": IN_THE_STEP,
    "accumulation_not_divided": IN_THE_STEP,
    "clip_hides_inf": IN_THE_STEP,
    "safeguard_off": IN_THE_STEP,
    "bf16_gradient_sums": IN_THE_STEP,
    "half_gradients": IN_THE_STEP,
    "mask_rebuilt": "the same numbers, later: gradcheck sees numbers",
    "activations_kept": "the same numbers, more memory: gradcheck sees numbers",
}


def applies(name):
    fault = faults.CATALOGUE[name]
    if fault.layer in ("optimizer", "data", "resume"):
        return f"acts on the {fault.layer}: gradcheck sees a function"
    return ELSEWHERE.get(name, IN_THE_STEP if fault.shows_in == "updates" else "")


def ask(case, folder):
    heard, before = runs.Heard(), runs.cpu_s()
    for what, dtype, tolerances in questions():
        failed = failure(case, folder, what, dtype, tolerances)
        if failed:
            heard.alarms.append(f"{what} in {name_of(dtype)}: {failed}")
    heard.cpu_s = runs.cpu_s() - before
    return heard


def questions():
    yield "logits", torch.float64, {}
    yield "loss", torch.float64, WIDE
    yield "loss", torch.float32, WIDE


def failure(case, folder, what, dtype, tolerances):
    with default_dtype(dtype), runs.planted(case, folder) as (twin, place):
        run = runs.begin(case, twin, place)
        run.model.eval()
        function, parameters = function_of(run, what)
        try:
            with mock.patch("torch.autograd.gradcheck._run_slow_mode_and_get_error", return_value=""):
                gradcheck(function, parameters, fast_mode=True, **tolerances)
        except Exception as error:  # noqa: BLE001  whatever it raises is its verdict
            return runs.first_line(error)
    return ""


def function_of(run, what):
    tokens = step.next_batch(run, 0)
    names = [name for name, _ in run.model.named_parameters()]
    parameters = tuple(p.detach().clone().requires_grad_() for p in run.model.parameters())

    def logits(*values):
        return functional_call(run.model, dict(zip(names, values, strict=True)), (tokens[:, :-1].clamp_min(0),))

    def loss(*values):
        return functional_call(run.objective, {f"model.{n}": v for n, v in zip(names, values, strict=True)}, (tokens,))

    return {"logits": logits, "loss": loss}[what], parameters


@contextlib.contextmanager
def default_dtype(dtype):
    """The model's stream has the default dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def name_of(dtype):
    return str(dtype).removeprefix("torch.")
