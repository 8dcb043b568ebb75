"""Hugging Face's Trainer and its own checks around the trainer's run; careful that the step is the trainer's, function by function, with the fault in it.

`training_step` is overridden, as Trainer's documentation offers, and the two optimizers are one object to it. `logging_nan_inf_filter` is off: on, its default,
it writes the average of earlier losses where a loss was NaN.
"""

import os
import tempfile

import torch
import transformers
from transformers import Trainer, TrainerCallback, TrainingArguments

from tests import rivals_runs as runs
from trainer.faults import twin as twins

NAME = "transformers"
VERSION = transformers.__version__
USE = (
    '5 steps of Trainer(debug="underflow_overflow", logging_steps=1, logging_nan_inf_filter=False), evaluated at the end: what it raises and warns; '
    "what its log shows as nan, inf or 0"
)
TALK = ("transformers", "accelerate", "py.warnings")
OWN = {"zero_grad_forgotten": "Trainer clears the model's gradients itself, so the fault cannot be planted"}
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def applies(name):
    return runs.ONE_PROCESS.get(name, "") or OWN.get(name, "")


def ask(case, folder):
    heard, before = runs.Heard(steps=twins.STEPS), runs.cpu_s()
    with runs.listening(heard, TALK), tempfile.TemporaryDirectory() as root:
        try:
            with runs.planted(case, folder) as (twin, place):
                run = runs.begin(case, twin, place)
                train(run, twin, heard, root, twins.SAVED[-1] if case.resumed else twins.STEPS, save=case.resumed)
                if case.resumed:
                    run = runs.resume(twin, place, f"{root}/saved")
                    train(run, twin, heard, root, twins.STEPS)
                heard.numbers["losses"] = run.losses
        except Exception as error:  # noqa: BLE001  whatever it raises is its verdict
            heard.alarms.append(runs.first_line(error))
    heard.cpu_s = runs.cpu_s() - before
    return heard


def train(run, twin, heard, root, upto, *, save=False):
    count = upto - run.step if run.step < upto else twins.STEPS  # a late run begins far beyond it
    arguments = TrainingArguments(
        output_dir=root,
        max_steps=count,
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        max_grad_norm=0.0,  # only measured: the trainer clips
        logging_steps=1,
        logging_nan_inf_filter=False,
        debug="underflow_overflow",
        train_sampling_strategy="sequential",
        remove_unused_columns=False,
        label_names=["tokens"],
        prediction_loss_only=True,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=run.config.seed,
    )
    both = Both(run)
    wrapped = Wrapped(
        model=run.objective,
        args=arguments,
        data_collator=lambda items: {"tokens": items[0]},
        train_dataset=list(runs.micro_batches(run, run.step, count)),
        eval_dataset=list(runs.held_out(run)),
        optimizers=(both, torch.optim.lr_scheduler.LambdaLR(both, lambda _: 1.0)),
        callbacks=[Logged(heard)],
    )
    wrapped.run, wrapped.twin, wrapped.both, wrapped.root = run, twin, both, f"{root}/saved" if save else ""
    wrapped.train()
    wrapped.evaluate()


class Wrapped(Trainer):
    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        loss, count = runs.accumulate(self.twin, self.run, inputs["tokens"], model, self.accelerator.backward)
        self.both.loss, self.both.count, self.both.root = loss, count, self.root
        return torch.tensor(loss)

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        model.eval()
        with torch.no_grad():
            nll, count = self.run.model.loss(inputs["tokens"])
        return nll / count, None, None


class Both(torch.optim.Optimizer):
    """The trainer's optimizers as one, with its judgement and its clipping before them."""

    def __init__(self, run):
        self.run, self.loss, self.count, self.root = run, 0.0, 0, ""
        super().__init__([{"params": [p]} for p in run.model.parameters() if p.requires_grad], {"lr": 1.0})

    def step(self, closure=None):
        runs.update(self.run, self.loss, self.count, lambda: [optimizer.step() for optimizer in self.run.optimizers.values()])
        if self.root:
            runs.save(self.run, self.root)


class Logged(TrainerCallback):
    """The log, as a user reads it."""

    def __init__(self, heard):
        self.heard = heard

    def on_log(self, args, state, control, logs=None, **_):
        numbers = {name: value for name, value in (logs or {}).items() if name in ("loss", "grad_norm", "eval_loss", "train_loss")}
        found = [f"logged {name} is {value}" for name, value in numbers.items() if not runs.finite(value) or value == 0]
        self.heard.shown += [text for text in found if text not in self.heard.shown]
