"""Facts of the machine a number was measured on."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from functools import lru_cache
from pathlib import Path


@lru_cache
def cpu_model() -> str:
    try:
        with Path("/proc/cpuinfo").open() as info:
            for line in info:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


# What a path of this machine says to a reader elsewhere is only its end.
_ENDS = re.compile(r"[^\s\"'(]*/(?:site-packages|registry/src/[^/\s]+|lib/python3\.\d+)/")


def portable(text: str, root: Path) -> str:
    """Text without this machine's paths: those of the project relative to it, those of packages and of crates from their own names on."""
    text = _ENDS.sub("", text.replace(f"{root}/", ""))
    for path, name in sorted([(tempfile.gettempdir(), "$TMPDIR"), (str(Path.home()), "~")], key=lambda pair: -len(pair[0])):
        text = text.replace(f"{path}/", f"{name}/")
    return text


def load() -> float:
    """The one-minute load average: above the number of cores, wall times say little."""
    return round(os.getloadavg()[0], 2)


def gpus() -> list[str]:
    """Names of the NVIDIA GPUs, or none where there is no driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
        names = [pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(i)) for i in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError:
        return []
    return [n.decode() if isinstance(n, bytes) else str(n) for n in names]
