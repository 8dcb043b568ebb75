"""torch: safetensors in, safetensors out. A parent may only import it; one large matmul there hangs a forked child."""

import torch
from safetensors.torch import load_file, save_file

TOOLCHAIN_ERRORS = ("InvalidCxxCompiler",)
DEVICE_ERRORS = ("Found no NVIDIA driver", "Torch not compiled with CUDA enabled")


def warm():
    # torch.optim imports the first on its first use, torch.compile the second: 1.0 and 0.8 s of CPU, else in every cell. Neither starts a thread.
    import torch._dynamo
    import torch._inductor.compile_fx  # noqa: F401


def load(path, dtype):
    return load_file(path)


def settle(out):
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return out


def compiled(function):
    # The ninth variant through one code object would silently run eager: make that an error.
    torch._dynamo.config.fail_on_recompile_limit_hit = True  # noqa: SLF001
    return torch.compile(function)


def save(tensors, path):
    save_file({name: t.detach().cpu().contiguous().clone() for name, t in tensors.items()}, path)


def facts():
    return {"torch": torch.__version__, "threads": torch.get_num_threads()}
