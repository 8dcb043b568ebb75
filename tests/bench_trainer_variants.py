"""One variant of the trainer's benchmark, measured in this process: prints one JSON line; careful that CPU time, one thread and warm steps are all it counts.

python -m tests.bench_trainer_variants ours
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import sys
import time

import numpy as np
import torch

from tests import bench_trainer_models as models
from trainer import device, speed, step
from trainer.config import Config, tiny

VOCAB = 4096
LONG = 32  # micro-batches of a step of 16,384 tokens
STEPS, LONG_STEPS = 20, 2  # timed in a process
WARM, WARM_COMPILED = 4, 8
GEMM = 2048


class Text:
    """Random tokens: what is timed does not depend on what they say."""

    vocab_size, fingerprint, digest = VOCAB, "", "random"

    def batch(self, step, *, seed, batch, length, **_):
        return np.random.default_rng([seed, step]).integers(0, VOCAB, (batch, length + 1))


def ours(**changes):
    """The trainer's own step as `trainer.train` runs it: batches, loss, clipping, the search for what is not finite, learning rates, optimizers."""
    config = tiny(vocab_size=VOCAB, threads=1, progress=False, out="", **{"accumulate": 1, "optimizer": "adamw", **changes})
    with device.entered(config) as place:
        run = step.begin(config, Text(), place)
        run.config = dataclasses.replace(run.config, accumulate=1)  # a warm step needs no more
        warm(lambda: step.one_step(run), WARM_COMPILED if config.compile else WARM)
        run.config = config
        spent = timed(lambda: step.one_step(run), STEPS if config.accumulate == 1 else LONG_STEPS)
    assert not any(outcome.skipped for outcome in run.outcomes)
    return measured(run.model, config, spent)


def theirs(kind, *, accumulate=1, pure=False):
    """Forward, backward, optimizer, zero_grad. ``pure``: weights and optimizer in bfloat16 too, which trains worse and may be faster."""
    config = tiny(vocab_size=VOCAB, accumulate=accumulate)
    torch.manual_seed(0)
    model = (models.llama(config) if kind == "hf" else models.GPT2(config)).to(torch.bfloat16 if pure else torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr, fused=True)
    draws = itertools.count()

    def loss_of(tokens):
        if kind == "hf":
            return model(input_ids=tokens[:, :-1], labels=tokens[:, :-1]).loss  # it shifts the labels itself
        return model(tokens[:, :-1], tokens[:, 1:])

    def one_step(micro_batches):
        for _ in range(micro_batches):
            tokens = torch.from_numpy(Text().batch(next(draws), seed=0, batch=1, length=config.length))
            with torch.autocast("cpu", torch.bfloat16, enabled=not pure):
                loss = loss_of(tokens)
            (loss / micro_batches).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        assert loss.isfinite()

    warm(lambda: one_step(1), WARM)
    return measured(model, config, timed(lambda: one_step(accumulate), STEPS if accumulate == 1 else LONG_STEPS))


def gemm():
    """bfloat16 products in both layouts that a layer uses; which of them is faster depends on the library."""
    a, b = (torch.randn(GEMM, GEMM).to(torch.bfloat16) for _ in range(2))
    warm(lambda: a @ b, WARM)
    return {"flop_per_step": 2 * GEMM**3, "cpu_s": [*timed(lambda: a @ b, STEPS), *timed(lambda: a @ b.T, STEPS)]}


def measured(model, config: Config, spent):
    work = speed.work(config)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "tokens_per_step": config.accumulate * config.length,
        "useful_flop_per_token": work.useful,
        "cpu_s": spent,
    }


def warm(call, times):
    for _ in range(times):
        call()


def timed(call, times):
    spent = []
    for _ in range(times):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return spent


VARIANTS = {
    "gemm": gemm,
    "ours": ours,
    "ours_compiled": lambda: ours(compile=True),
    "ours_full": lambda: ours(window=512),
    "hf": lambda: theirs("hf"),
    "hf_pure_bf16": lambda: theirs("hf", pure=True),
    "nanogpt": lambda: theirs("nanogpt"),
    "ours_muon": lambda: ours(accumulate=LONG, optimizer="muon"),
    "ours_muon_compiled": lambda: ours(accumulate=LONG, optimizer="muon", compile=True),
    "hf_adamw_16k": lambda: theirs("hf", accumulate=LONG),
}
OURS = "trainer.step.one_step as trainer.train runs it, deterministic, with gradient norm, clipping, the search for what is not finite and learning rates"
THEIRS = "forward, backward, AdamW (fused), zero_grad: neither clipping nor a look for what is not finite"
MASTERS = "bfloat16 autocast on float32 weights, as ours"
MEANINGS = {
    "gemm": f"the best of {2 * STEPS} bfloat16 products of {GEMM} x {GEMM} matrices, half of them by a transposed one",
    "ours": f"eager; {OURS}",
    "ours_compiled": f"torch.compile of the loss and its gradient; {OURS}",
    "ours_full": f"eager, window = length; {OURS}",
    "hf": f"transformers.LlamaForCausalLM, sdpa, eager, full causal attention, its own loss, no cache; {MASTERS}; {THEIRS}",
    "hf_pure_bf16": f"the same with weights, gradients and optimizer in bfloat16; {THEIRS}",
    "nanogpt": f"GPT-2's shape: LayerNorm, GELU, sdpa, learned positions, 4 x width, tied head, eager; {MASTERS}; {THEIRS}",
    "ours_muon": f"eager, {LONG} micro-batches a step, Muon and AdamW; {OURS}",
    "ours_muon_compiled": f"torch.compile, {LONG} micro-batches a step, Muon and AdamW; {OURS}",
    "hf_adamw_16k": f"hf with {LONG} micro-batches a step",
}
SHAPE = {
    **{name: getattr(tiny(), name) for name in ("width", "layers", "heads", "kv_heads", "ffn", "length", "window", "batch", "dtype")},
    "vocabulary": VOCAB,
    "allocator": "glibc told to keep freed memory (trainer.device.keep_memory), for all variants",
}


def main(name):
    torch.set_num_threads(1)
    device.keep_memory()  # the trainer does; the others get it too, so that the ratios are the models' and not the allocator's
    before = os.getloadavg()[0]
    print(json.dumps({**VARIANTS[name](), "load": [before, os.getloadavg()[0]]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
