"""Where a run happens: device, processes, arithmetic, compilation; careful that a missing GPU or a compile that fell back to eager is an error."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel

from trainer.config import Config


class NoGPU(Exception):
    """``--device cuda`` on a machine without one."""

    def __str__(self) -> str:
        return "error: no GPU (--device cuda, and torch.cuda.is_available() is False)"


class NotCompiled(Exception):
    """``--compile true`` and nothing was compiled."""

    def __str__(self) -> str:
        return (
            "found:   --compile true, and no graph was compiled: the run would be eager\n"
            "wanted:  the loss and its gradient compiled\n"
            "do this: unset TORCHDYNAMO_DISABLE and TORCH_COMPILE_DISABLE, or give --compile false"
        )


@dataclass(frozen=True, kw_only=True)
class Place:
    device: torch.device
    rank: int
    world: int

    @property
    def first(self) -> bool:
        return self.rank == 0

    def total(self, values: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        if self.world > 1:
            dist.all_reduce(values)
        return values

    def alike(self, value: int) -> bool:
        """Whether all processes have the same value."""
        return self.world == 1 or self.total(torch.tensor(value, device=self.device)).item() == self.world * value

    def wait(self) -> None:
        """For all processes."""
        self.total(torch.zeros(1, device=self.device))


@contextlib.contextmanager
def entered(config: Config) -> Iterator[Place]:
    """Threads, determinism and process group for one run; all put back at its end, so that runs can follow each other in a process."""
    if config.device == "cuda" and not torch.cuda.is_available():
        raise NoGPU
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory
    launched = "RANK" in os.environ  # by torchrun
    rank, world = (int(os.environ.get(key, default)) for key, default in (("RANK", "0"), ("WORLD_SIZE", "1")))
    if config.device == "cpu":
        keep_memory()
    if config.device == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # deterministic cuBLAS asks for it
    if launched:
        dist.init_process_group("nccl" if config.device == "cuda" else "gloo")
    try:
        if config.threads:
            torch.set_num_threads(config.threads)
        torch.use_deterministic_algorithms(config.deterministic)
        torch.utils.deterministic.fill_uninitialized_memory = False  # it would write every new tensor twice
        yield Place(device=torch.device(config.device), rank=rank, world=world)
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)
        torch.utils.deterministic.fill_uninitialized_memory = fill
        if launched:
            dist.destroy_process_group()


def keep_memory() -> None:
    """For the whole process: glibc would give a step's memory back to the kernel and fault 10,000 pages in again at the next: 17 of tiny's 118 ms."""
    trim_threshold, mmap_threshold = -1, -3  # of malloc.h
    with contextlib.suppress(AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        if mallopt(mmap_threshold, 1 << 30) or mallopt(mmap_threshold, 1 << 25):  # an older glibc refuses more than 32 MiB
            mallopt(trim_threshold, 1 << 30)


def seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  the global one is what would be drawn from
    torch.manual_seed(seed)  # CUDA's generators too


def arithmetic(config: Config) -> AbstractContextManager[Any]:
    """bfloat16 matrix products on float32 weights, or nothing."""
    cast: AbstractContextManager[Any] = torch.autocast(config.device, torch.bfloat16, enabled=config.dtype == "bfloat16")
    return cast


def compiled(module: nn.Module, *, backend: str = "inductor") -> nn.Module:
    """``module`` compiled as one graph: a break in it, or one variant too many, raises instead of running eagerly."""
    import torch._dynamo

    torch._dynamo.config.fail_on_recompile_limit_hit = True  # noqa: SLF001
    torch._dynamo.config.suppress_errors = False  # noqa: SLF001
    if torch._dynamo.config.disable:  # noqa: SLF001  TORCH_COMPILE_DISABLE=1
        raise NotCompiled
    module.compile(fullgraph=True, dynamic=False, backend=backend)
    return module


def graphs() -> int:
    """How many graphs were compiled in this process so far."""
    from torch._dynamo.utils import counters

    return int(counters["stats"]["unique_graphs"])


def assert_compiled(before: int) -> None:
    """Ask after the first step: TORCHDYNAMO_DISABLE=1 and the stance "force_eager" make torch.compile do nothing and say nothing, fullgraph or not."""
    if graphs() == before:
        raise NotCompiled


def parallel(module: nn.Module, place: Place) -> nn.Module:
    """Gradients averaged over the processes. DDP is outside of what is compiled, and has it split at its buckets: exchange and backward overlap."""
    if place.world == 1:
        return module
    return DistributedDataParallel(module, forward_sync_buffers=False, gradient_as_bucket_view=True)


def leave(code: int) -> NoReturn:
    """End the process. Under torchrun without Python's own ending, during which one of gloo's threads may still let go of a tensor and abort the process.

    DDP keeps those threads alive beyond `destroy_process_group` (pytorch/pytorch#179291): on a busy machine a run that was done left with SIGABRT.
    """
    if "RANK" not in os.environ:
        sys.exit(code)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def last_only(module: nn.Module, *, last: bool) -> AbstractContextManager[Any]:
    """Within an accumulated step only the last backward exchanges gradients."""
    kept: AbstractContextManager[Any] = (
        module.no_sync() if isinstance(module, DistributedDataParallel) and not last else contextlib.nullcontext()
    )
    return kept
