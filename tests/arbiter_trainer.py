"""The reference trainer as gradarbiter is shown it, with a second implementation of its model; careful that none of this calls what a fault may have replaced.

Shapes: B sequences, T positions, D width, N query heads, K key heads, H channels of a head, V vocabulary.
"""

import math

import torch
import torch.nn.functional as F

from gradarbiter.recipe import Recipe, adamw, muon
from gradarbiter.subject import Answer, Expect
from trainer import device, step
from trainer.model import PADDING


def shown(run):
    """The arguments of `gradarbiter.check` for a run between two steps: its own step and accumulation, and the micro-batches of its next step as the batch."""
    return {
        "model": run.model,
        "batch": torch.cat([step.next_batch(run, micro) for micro in range(run.config.accumulate)]),
        "loss_fn": mean_loss(run.config),
        "optimizer": run.optimizers,
        "expect": expected(run.config),
        "step": lambda: step.one_step(run),
        "accumulate": lambda: accumulate(run),
        "reference": None if run.config.dropout else second_implementation(run.config),
        "keep": [Counter(run)],
    }


class Counter:
    """Where the run is: what a step changes beside weights and optimizers."""

    def __init__(self, run):
        self.run = run

    def state_dict(self):
        return {"step": self.run.step, "tokens_seen": self.run.tokens_seen, "outcomes": list(self.run.outcomes)}

    def load_state_dict(self, state):
        self.run.step, self.run.tokens_seen, self.run.outcomes = state["step"], state["tokens_seen"], list(state["outcomes"])


def mean_loss(config):
    def loss_fn(model, tokens_BT1):
        with device.arithmetic(config):
            nll, count = model.loss(tokens_BT1)
        return nll / count

    return loss_fn


def accumulate(run):
    """As `step.one_step` does it."""
    batches = [step.next_batch(run, micro) for micro in range(run.config.accumulate)]
    count = int(torch.stack([step.scored(tokens_BT1) for tokens_BT1 in batches]).sum())
    for tokens_BT1 in batches:
        with device.arithmetic(run.config):
            loss = run.objective(tokens_BT1)
        step.normalised(loss, count, 1).backward()


def expected(config):
    """What somebody who trains with this configuration knows of it."""
    return Expect(
        frozen=(),
        tied=[("embedding.weight", "head.weight")] if config.head == "tied" else (),
        causal=True,
        reach=config.layers * (min(config.window, config.length) - 1) + 1,
        next_token=True,
        vocab_size=config.vocab_size,
        padding=PADDING,
        recipe=meant(config),
    )


def meant(config):
    """The optimizers by the configuration's words, and where the configuration has none, by the trainer's documentation (eps, Newton-Schulz)."""
    betas = {"beta1": config.beta1, "beta2": config.beta2, "eps": 1e-10}
    decayed = adamw(config.lr, weight_decay=config.weight_decay, **betas)
    matrices = muon(config.muon_lr, momentum=config.momentum, weight_decay=config.weight_decay, dtype="float32")
    plain = adamw(config.lr, weight_decay=0.0, **betas)
    rules = dict.fromkeys(("layers.*.attention.*.weight", "layers.*.ffn.*.weight"), matrices if config.optimizer == "muon" else decayed)
    return Recipe(rules | {"*": plain}, clip=config.clip or None, schedule=lambda at: share(at, config))


def share(at, config):
    """Of the peak learning rate: a linear rise over the warm-up, then half a cosine from 1 down to `final` at the last step."""
    if at < config.warmup:
        return (at + 1) / config.warmup
    done = (at - config.warmup) / (config.steps - 1 - config.warmup)
    return config.final + (1 - config.final) * (1 + math.cos(math.pi * done)) / 2


def second_implementation(config):
    """The model's loss, outputs and gradients in float64 by the textbook: one dense masked softmax, RoPE by complex numbers, loops where they are clearer."""

    def answer(values, tokens_BT1):
        w = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in values.items()}
        logits_BTV = forward(w, tokens_BT1[:, :-1].clamp_min(0), config)
        loss = F.cross_entropy(logits_BTV.flatten(0, 1), tokens_BT1[:, 1:].flatten(), ignore_index=PADDING)
        loss.backward()
        return Answer(
            loss=float(loss.detach()),
            outputs=logits_BTV.detach().numpy(),
            gradients={name: torch.zeros_like(p).numpy() if p.grad is None else p.grad.numpy() for name, p in w.items()},
        )

    return answer


def forward(w, tokens_BT, config):
    x_BTD = w["embedding.weight"][tokens_BT]
    one = torch.ones((), dtype=torch.float64)
    for i in range(config.layers):
        at = f"layers.{i}."
        mixed = attention(w, at + "attention.", norm(x_BTD, w[at + "attention_norm.weight"]), config)
        x_BTD = x_BTD + w.get(at + "attention_scale", one) * mixed
        h_BTD = norm(x_BTD, w[at + "ffn_norm.weight"])
        gate, up = h_BTD @ w[at + "ffn.gate.weight"].T, h_BTD @ w[at + "ffn.up.weight"].T
        x_BTD = x_BTD + w.get(at + "ffn_scale", one) * ((gate * torch.sigmoid(gate) * up) @ w[at + "ffn.down.weight"].T)
    head_VD = w["embedding.weight" if config.head == "tied" else "head.weight"][: config.vocab_size]
    return norm(x_BTD, w["norm.weight"]) @ head_VD.T


def norm(x, weight):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def attention(w, at, x_BTD, config):
    batch, length, _ = x_BTD.shape
    h = config.head_channels
    q, k, v = ((x_BTD @ w[at + part + ".weight"].T).view(batch, length, -1, h) for part in ("query", "key", "value"))
    if at + "value_scale_K" in w:
        v = v * w[at + "value_scale_K"][None, None, :, None]
    q, k = turned(q, config), turned(k, config)
    position = torch.arange(length)
    back = position[:, None] - position[None, :]
    unseen = (back < 0) | (back >= config.window)
    heads = []
    for n in range(config.heads):
        shared = n // (config.heads // config.kv_heads)
        scores = q[:, :, n] @ k[:, :, shared].mT / math.sqrt(h)
        heads.append(torch.softmax(scores.masked_fill(unseen, -math.inf), -1) @ v[:, :, shared])
    return torch.cat(heads, -1) @ w[at + "output.weight"].T


def turned(x_BTNH, config):
    """The pair of channels (i, i + H/2) as a complex number, times e^(i position frequency)."""
    half = config.head_channels // 2
    frequency = config.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle_TH = torch.arange(x_BTNH.shape[1], dtype=torch.float64)[:, None] * frequency
    z = torch.complex(x_BTNH[..., :half], x_BTNH[..., half:]) * torch.polar(torch.ones_like(angle_TH), angle_TH)[:, None]
    return torch.cat([z.real, z.imag], -1)
