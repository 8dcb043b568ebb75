"""One optimizer step; careful that it is normalised by its tokens, and skipped, with the reason, if anything in it is not finite."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from trainer import checkpoint, device, optim
from trainer.config import Config
from trainer.errors import refusal
from trainer.model import LM, PADDING


class Tokens(Protocol):
    """What the loop asks of its data: `trainer.data.Tokens`, or anything alike. `batch` is a pure function, so (seed, step) is the data's position."""

    vocab_size: int
    fingerprint: str  # of the tokenizer
    digest: str  # of the tokens

    def batch(self, step: int, *, seed: int, batch: int, length: int, split: str = "train", rank: int = 0, world: int = 1) -> Any: ...


class Objective(nn.Module):
    """The loss as a module of its own: what is compiled, and what DDP wraps."""

    def __init__(self, model: LM) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens_BT1: Tensor) -> Tensor:
        return self.model.loss(tokens_BT1)[0]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    step: int
    loss: float  # nats a token, before this step's update
    gradient_norm: float
    rates: dict[str, float]  # learning rate of each optimizer
    tokens: int
    skipped: str | None  # the reason


@dataclass(kw_only=True)
class Run:
    """A run between two steps. Its whole state is in what `checkpoint.save` is given."""

    config: Config
    place: device.Place
    tokens: Tokens
    model: LM
    objective: nn.Module
    optimizers: dict[str, torch.optim.Optimizer]
    step: int = 0
    tokens_seen: int = 0
    graphs_before: int = 0  # compiled in this process before this run
    outcomes: list[Outcome] = field(default_factory=list)
    interrupted: bool = False

    @property
    def losses(self) -> list[float]:
        return [outcome.loss for outcome in self.outcomes]

    @property
    def data(self) -> checkpoint.Data:
        return checkpoint.Data(tokenizer=self.tokens.fingerprint, tokens=self.tokens.digest)


def begin(config: Config, tokens: Tokens, place: device.Place) -> Run:
    """Model, objective and optimizers at step 0, a function of the configuration and the vocabulary."""
    if config.vocab_size and config.vocab_size < tokens.vocab_size:
        do = "leave --vocab_size out: the data's is taken"
        raise refusal(f"--vocab_size {config.vocab_size}", f"at least the tokenizer's {tokens.vocab_size}", do)
    config = dataclasses.replace(config, vocab_size=config.vocab_size or tokens.vocab_size)
    device.seed_all(config.seed)
    model = LM(config).to(place.device)  # made on the CPU: the same weights whatever the device
    chosen = optim.optimizers(model, config)
    objective: nn.Module = Objective(model)
    graphs = device.graphs() if config.compile else 0
    if config.compile:
        objective = device.compiled(objective)
    objective = device.parallel(objective, place)
    device.seed_all(config.seed + 1 + place.rank)  # processes drop different channels
    return Run(config=config, place=place, tokens=tokens, model=model, objective=objective, optimizers=chosen, graphs_before=graphs)


def one_step(run: Run) -> Outcome:
    """Accumulate, judge, update. The counter moves on also if the update is skipped: step n always has the same data and learning rate."""
    batches = [next_batch(run, micro) for micro in range(run.config.accumulate)]
    count = int(run.place.total(torch.stack([scored(b) for b in batches]).sum().to(run.place.device)))
    nll = torch.zeros((), dtype=torch.float64, device=run.place.device)
    for micro, tokens_BT1 in enumerate(batches):
        with device.last_only(run.objective, last=micro == len(batches) - 1):
            with device.arithmetic(run.config):
                loss = run.objective(tokens_BT1.to(run.place.device))
            normalised(loss, count, run.place.world).backward()
        nll += loss.detach()
    if run.config.compile and not run.outcomes:
        device.assert_compiled(run.graphs_before)
    loss = float(run.place.total(nll)) / count
    norm = float(gradient_norm(run.model))  # waits for the GPU, once a step: whether to skip has to be known here
    rates = optim.set_rates(run.optimizers, optim.factor(run.step, run.config))
    reason = why_skip(loss, norm, run.model)
    if reason is None:
        clip(run.model, norm, run.config.clip)
        for optimizer in run.optimizers.values():
            optimizer.step()
    for optimizer in run.optimizers.values():
        optimizer.zero_grad(set_to_none=True)
    outcome = Outcome(step=run.step, loss=loss, gradient_norm=norm, rates=rates, tokens=count, skipped=reason)
    run.step, run.tokens_seen = run.step + 1, run.tokens_seen + count
    run.outcomes.append(outcome)
    return outcome


def next_batch(run: Run, micro: int) -> Tensor:
    """Micro-batch m of step s is draw s x accumulate + m: processes x micro-batches can be traded without another order."""
    c = run.config
    draw = run.step * c.accumulate + micro
    batch_BT1 = run.tokens.batch(
        draw, seed=c.seed, batch=c.batch, length=c.length, split="train", rank=run.place.rank, world=run.place.world
    )
    return torch.from_numpy(batch_BT1)


def scored(tokens_BT1: Tensor) -> Tensor:
    """How many targets of a micro-batch count."""
    return (tokens_BT1[:, 1:] != PADDING).sum()


def normalised(nll: Tensor, count: int, world: int) -> Tensor:
    """A micro-batch's part of the step's mean over all its tokens. DDP averages over processes, hence the factor."""
    return nll * (world / count)


def gradient_norm(model: nn.Module) -> Tensor:
    """Of all gradients together. A parameter without one is our own mistake, and would train silently never."""
    gradients = {name: p.grad for name, p in model.named_parameters() if p.requires_grad}
    missing = [name for name, gradient in gradients.items() if gradient is None]
    assert not missing, f"no gradient reached {missing}"
    return torch.nn.utils.get_total_norm(gradients.values(), foreach=next(model.parameters()).is_cuda)


def why_skip(loss: float, norm: float, model: nn.Module) -> str | None:
    """Asked before clipping, which would turn one infinite gradient into a whole gradient of zeros and NaN."""
    finite = float("inf")
    if not abs(loss) < finite:
        return f"loss is {loss}"
    if not norm < finite:
        bad = [name for name, p in model.named_parameters() if p.grad is not None and not p.grad.isfinite().all()]
        return (
            f"gradient norm is {norm}: {bad[0]} and {len(bad) - 1} more"
            if bad
            else f"gradient norm is {norm}: all finite, their squares overflow"
        )
    return None


def clip(model: nn.Module, norm: float, limit: float) -> None:
    """Shorten the whole gradient, as one vector: clipping each parameter by itself would turn it."""
    if limit and norm > limit:
        for p in model.parameters():
            if p.grad is not None:  # a frozen one has none
                p.grad.mul_(limit / norm)


def held_out(run: Run) -> float:
    """Mean loss (nats a token) on the first held-out windows of the seed's order: the same ones each time."""
    c, sums = run.config, torch.zeros(2, dtype=torch.float64)
    run.model.eval()
    for draw in range(c.held_out_batches):
        batch_BT1 = run.tokens.batch(
            draw, seed=c.seed, batch=c.batch, length=c.length, split="held_out", rank=run.place.rank, world=run.place.world
        )
        with torch.no_grad(), device.arithmetic(c):
            nll, count = run.model.loss(torch.from_numpy(batch_BT1).to(run.place.device))
        sums += torch.stack([nll.double(), count.double()]).cpu()
    run.model.train()
    nll, count = run.place.total(sums.to(run.place.device)).tolist()
    return float(nll / count)
