"""PyTorch Lightning's own checks around the trainer's run; careful that the step is the trainer's, function by function, with the fault in it.

With two optimizers Lightning asks for manual optimization, in which `gradient_clip_val` is refused: the trainer clips. The grad norms are those of
`lightning.pytorch.utilities.grad_norm`. fast_dev_run and the sanity check before training say only that the code runs, and every fault's code does.
"""

import tempfile

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelSummary
from lightning.pytorch.callbacks.spike import SpikeDetection
from lightning.pytorch.utilities import grad_norm

from tests import rivals_runs as runs
from trainer.faults import twin as twins

NAME = "lightning"
VERSION = L.__version__
OVERFIT = 40  # steps on one batch
USE = (
    "5 steps of Trainer(num_sanity_val_steps=2, detect_anomaly=True), EarlyStopping(check_finite=True) on training and held-out loss, SpikeDetection, "
    f"ModelSummary, grad_norm a step; then overfit_batches=1 for {OVERFIT} steps, whose last loss must be below 1.25 x the worst of the healthy seeds"
)
TALK = ("lightning.pytorch", "lightning.fabric", "pytorch_lightning", "py.warnings")


def applies(name):
    return runs.ONE_PROCESS.get(name, "")


def ask(case, folder):
    heard, before = runs.Heard(steps=twins.STEPS + OVERFIT), runs.cpu_s()
    with runs.listening(heard, TALK):
        try:
            with runs.planted(case, folder) as (twin, place), tempfile.TemporaryDirectory() as root:
                run = runs.begin(case, twin, place)
                fit(run, twin, heard, twins.SAVED[-1] if case.resumed else twins.STEPS, root if case.resumed else "")
                if case.resumed:
                    run = runs.resume(twin, place, root)
                    fit(run, twin, heard, twins.STEPS)
                heard.numbers["losses"] = run.losses
        except Exception as error:  # noqa: BLE001  whatever it raises is its verdict
            heard.alarms.append(runs.first_line(error))
    with runs.listening(runs.Heard(), TALK):
        heard.numbers["overfit"] = overfit(case, folder)
    heard.cpu_s = runs.cpu_s() - before
    return heard


def judge(heard, healthy):
    """The overfit test's verdict, with the bound that the healthy seeds of the same configuration give."""
    bound = 1.25 * max(each.numbers["overfit"] for each in healthy)
    found = heard.numbers["overfit"]
    return [] if found <= bound else [f"overfit_batches=1: loss {found:.2f} after {OVERFIT} steps, healthy at most {bound / 1.25:.2f}"]


def fit(run, twin, heard, upto, root=""):
    module, first = Wrapped(run, twin, root), run.step
    stops = [EarlyStopping(monitor=of, patience=10**6, check_finite=True, verbose=True) for of in ("train_loss_epoch", "held_out_loss")]
    trainer = L.Trainer(
        accelerator="cpu",
        max_epochs=1,
        num_sanity_val_steps=2,
        detect_anomaly=True,
        callbacks=[*stops, SpikeDetection(exclude_batches_path=module.notes), Metrics(heard)],
        **QUIET,
    )
    count = upto - first if first < upto else twins.STEPS  # a late run begins far beyond it
    trainer.fit(module, loader(runs.micro_batches(run, first, count)), loader(runs.held_out(run)))
    heard.alarms += [
        stop.stopping_reason_message for stop in stops if stop.stopping_reason_message and "not finite" in stop.stopping_reason_message
    ]


def overfit(case, folder):
    case = runs.dataclasses.replace(case, options=(*case.options, ("steps", OVERFIT)))
    with runs.planted(case, folder) as (twin, place):
        run = runs.begin(case, twin, place)
        module = Wrapped(run, twin)
        trainer = L.Trainer(accelerator="cpu", max_epochs=OVERFIT, overfit_batches=1, **QUIET)
        trainer.fit(module, loader(runs.micro_batches(run, run.step, 1)))
        return run.outcomes[-1].loss


QUIET = {"devices": 1, "logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}


class Wrapped(L.LightningModule):
    """`trainer.step.one_step`, with Lightning's backward and Lightning's optimizers."""

    def __init__(self, run, twin, root=""):
        super().__init__()
        self.automatic_optimization = False
        self.objective, self.run, self.twin, self.root = run.objective, run, twin, root
        self.notes = f"{tempfile.gettempdir()}/rivals/skip_batches.json"

    def configure_optimizers(self):
        return [taking_closure(optimizer) for optimizer in self.run.optimizers.values()]

    def training_step(self, batches, _index):
        run, optimizers = self.run, self.optimizers()
        optimizers = optimizers if isinstance(optimizers, list) else [optimizers]
        loss, count = runs.accumulate(self.twin, run, batches, self.objective, self.manual_backward)
        self.log_dict({f"norm/{name}": value for name, value in grad_norm(run.model, norm_type=2).items()})
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        runs.update(run, loss, count, lambda: [optimizer.step() for optimizer in optimizers])
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        if self.root:
            runs.save(run, self.root)
        return torch.tensor(loss)

    def validation_step(self, tokens, _index):
        nll, count = self.run.model.loss(tokens)
        self.log("held_out_loss", nll / count)


def taking_closure(optimizer):
    """Lightning gives every optimizer a closure, in which its hooks are; the trainer's Muon takes none."""
    own = optimizer.step

    def step_(closure=None):
        if closure is not None:
            closure()
        return own()

    optimizer.step = step_
    return optimizer


class Metrics(Callback):
    """What Lightning has logged, as a user reads it: a norm that is exactly zero or is not there, a number that is not finite, the counts of the summary."""

    def __init__(self, heard):
        self.heard, self.names = heard, set()

    def on_train_start(self, trainer, module):
        counts = ModelSummary(max_depth=1)._summary(trainer, module)
        self.heard.shown.append(
            f"{counts.total_parameters - counts.trainable_parameters} non-trainable of {counts.total_parameters} parameters"
        )
        self.names = {f"norm/grad_2.0_norm/{name}" for name, _ in module.run.model.named_parameters()}

    def on_train_batch_end(self, trainer, *_):
        logged = {name: float(value) for name, value in trainer.callback_metrics.items()}
        found = [f"logged {name} is {value}" for name, value in logged.items() if not runs.finite(value)]
        found += [f"logged {name} is 0" for name, value in logged.items() if value == 0]
        found += [f"no {name} is logged" for name in self.names - logged.keys()]
        self.heard.shown += [text for text in found if text not in self.heard.shown]


def loader(items):
    return torch.utils.data.DataLoader(list(items), batch_size=None, shuffle=False)
