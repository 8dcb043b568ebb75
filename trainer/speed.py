"""Tokens a second and what they are worth; careful that MFU is never a number without its definition and its peak.

Three definitions, in FLOP a token, H head channels, all without the optimizer:

    palm      6 matmul parameters + 12 layers x heads x H x length        attention as if every query saw every position (PaLM's)
    useful    6 matmul parameters + 12 layers x heads x H x mean context  what the model needs: causal, inside the window
    hfu       what the machine multiplies: padded vocabulary, keys that are computed and masked, scores computed again in the backward pass

Matmul parameters are those that meet the stream of tokens in a matrix product: the head counts, the input embedding does not.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from trainer import attention
from trainer.config import Config

# Dense bfloat16 TFLOP/s without sparsity, of the data sheets. A reader who divides by the sparse number halves every MFU.
PEAKS: Mapping[str, float] = {
    "H200 NVL": 835.0,
    "H100 NVL": 835.0,
    "H100 PCIe": 756.0,
    "H100": 989.4,  # SXM: "NVIDIA H100 80GB HBM3"
    "H200": 989.4,
    "A100": 312.0,
}


@dataclass(frozen=True, kw_only=True)
class Work:
    """FLOP a token, forward and backward."""

    palm: float
    useful: float
    hfu: float


@dataclass(frozen=True, kw_only=True)
class Peak:
    tflops: float | None  # None: nothing is known, so no MFU is shown
    source: str

    def __str__(self) -> str:
        return self.source if self.tflops is None else f"{self.tflops:.4g} TFLOP/s ({self.source})"


def work(config: Config) -> Work:
    layer = config.width * (2 * config.width + 2 * config.kv_heads * config.head_channels + 3 * config.ffn)
    matrices = config.layers * layer
    head, padded_head = config.width * config.vocab_size, config.width * config.padded_vocab
    keys = 12 * config.layers * config.width  # a key: 2 products x 2 FLOP x 3 (forward, and twice in backward)
    # FlexAttention and SDPA keep no scores: their backward multiplies q and k once more.
    recomputed = 1 if config.device == "cuda" else 0
    computed = attention.keys_computed(config.length, config.window, config.device) * (6 + recomputed) / 6
    return Work(
        palm=6 * (matrices + head) + keys * config.length,
        useful=6 * (matrices + head) + keys * mean_context(config.length, config.window),
        hfu=6 * (matrices + padded_head) + keys * computed,
    )


def mean_context(length: int, window: int) -> float:
    """Keys a query sees, averaged over the positions: min(i + 1, window)."""
    window = min(window, length)
    return (window * (window + 1) / 2 + (length - window) * window) / length


def peak(config: Config) -> Peak:
    if config.peak_tflops:
        return Peak(tflops=config.peak_tflops, source="--peak_tflops")
    if config.device == "cuda":
        name = torch.cuda.get_device_name()
        for known, tflops in PEAKS.items():
            if known in name and "MIG" not in name:  # of a part of a GPU no data sheet speaks
                return Peak(tflops=tflops, source=f"data sheet of {known}, dense bfloat16 (this is {name})")
    if config.measure_peak:
        return Peak(tflops=measured_peak(config), source=f"measured here: one {config.dtype} product of 2048 x 2048 matrices")
    return Peak(tflops=None, source="unknown: give --peak_tflops or --measure_peak true")


def measured_peak(config: Config, *, seconds: float = 0.5) -> float:
    size = 2048 if config.device == "cpu" else 8192
    own = torch.Generator(config.device).manual_seed(0)  # the run's would go on elsewhere: a measurement may not change what is dropped
    a = torch.randn(size, size, device=config.device, generator=own).to(getattr(torch, config.dtype))
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        a @ a
        if config.device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return float(2 * size**3 / best / 1e12)


class Meter:
    """The speed of a run, step by step and at its end."""

    def __init__(self, config: Config, world: int) -> None:
        self.work, self.peak = work(config), peak(config)
        self._gpu, self._world, self._dollars = Gpu(config), world, config.dollars_per_hour
        self._steps: list[tuple[int, float]] = []

    def facts(self) -> dict[str, Any]:
        return {"flop_per_token": asdict(self.work), "peak": asdict(self.peak), "no_power_and_clock": self._gpu.silent}

    def step(self, tokens: int, seconds: float) -> dict[str, Any]:
        self._steps.append((tokens, seconds))
        return {"seconds": seconds, **self._figures(tokens / seconds), **self._gpu.read()}

    def summary(self) -> str:
        """Of the median step, the first left out: it compiles, and fills caches."""
        if len(self._steps) < 2:
            return "too few steps for a speed"
        found = self._figures(statistics.median(tokens / seconds for tokens, seconds in self._steps[1:]))
        shares = [f"{name} {found[name]:.1%}" for name in ("mfu_palm", "mfu_useful", "hfu") if found[name] is not None]
        price = f"${found['dollars_per_billion_tokens']:,.2f} a billion tokens at ${self._dollars:.2f} an hour"
        memory = [f"{value / 2**30:.1f} GiB" for name, value in self._gpu.read().items() if name == "memory_bytes"]
        return "; ".join([f"{found['tokens_per_s']:,.0f} tokens/s", *shares, price, *memory])

    def _figures(self, rate: float) -> dict[str, float | None]:
        top = None if self.peak.tflops is None else self.peak.tflops * 1e12 * self._world

        def share(flop: float) -> float | None:
            return None if top is None else rate * flop / top

        shares = {"mfu_palm": share(self.work.palm), "mfu_useful": share(self.work.useful), "hfu": share(self.work.hfu)}
        return {"tokens_per_s": rate, **shares, "dollars_per_billion_tokens": self._dollars / 3600 / rate * 1e9}


class Gpu:
    """Power, clock and memory of the GPU in use; nothing where there is none. Power and clock are NVML's: where it fails, why is kept, and the run goes on."""

    def __init__(self, config: Config) -> None:
        self._there = config.device == "cuda"
        self._nvml: Any = None
        self._handle: Any = None
        self.silent: str | None = None  # why there is no power and clock
        self._power_and_clock()

    def read(self) -> dict[str, float]:
        return {"memory_bytes": torch.cuda.max_memory_allocated(), **self._power_and_clock()} if self._there else {}

    def _power_and_clock(self) -> dict[str, float]:
        if self.silent or not self._there:
            return {}
        try:
            if self._nvml is None:
                self._open()
            return {
                "power_w": self._nvml.nvmlDeviceGetPowerUsage(self._handle) / 1000,
                "sm_mhz": self._nvml.nvmlDeviceGetClockInfo(self._handle, self._nvml.NVML_CLOCK_SM),
            }
        except Exception as failed:  # noqa: BLE001  not installed, no driver, not permitted, not supported, lost meanwhile
            self.silent = f"{type(failed).__name__}: {failed}"
            return {}

    def _open(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        identity = torch.cuda.get_device_properties(torch.cuda.current_device()).uuid  # CUDA_VISIBLE_DEVICES renumbers, a UUID does not
        self._handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{identity}")
        self._nvml = pynvml
