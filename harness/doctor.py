"""`doctor`: what this machine has, what is built, and what to install for the rest."""

from __future__ import annotations

import ctypes.util
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from harness import build, environment, machine, pins, sessions
from harness.pins import Column
from harness.project import Project

Line = tuple[str, str, str]  # what, ok | missing | error, detail


def examine(project: Project) -> Iterator[Line]:
    yield (
        "system",
        "ok" if platform.system() == "Linux" else "error",
        f"{platform.system()} {platform.machine()}; workers need Linux (subreaper, pidfd, /proc)",
    )
    yield "processor", "ok", f"{machine.cpu_model()}, {os.cpu_count()} cores, load {machine.load()}"
    columns = pins.read(project.pins)
    free = shutil.disk_usage(project.root).free / 1e9
    need = sum(c.disk_gb for c in columns)
    yield "disk", "ok" if free > need else "missing", f"{free:.0f} GB free; all environments together need about {need:.0f} GB"
    for tool, why, install in (
        ("uv", "Python environments", "brought by python3 noxfile.py"),
        ("cargo", "the Rust columns", "Rust 1.85 or newer, from your distribution or rustup"),
        ("cc", "linking the Rust columns", "Debian: apt install gcc"),
        ("g++", "torch's compiled mode", "Debian: apt install g++"),
    ):
        path = shutil.which(os.environ.get("UV", "uv") if tool == "uv" else tool)
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.splitlines() if path else []
        yield tool, "ok" if path else "missing", version[0] if version else f"for {why}: {install}"
    drivers = vulkan_drivers()
    wanted = "for the wgpu columns: Debian: apt install mesa-vulkan-drivers libvulkan1 (a software device is enough)"
    yield "Vulkan", "ok" if drivers else "missing", ", ".join(drivers) or wanted
    yield from _interpreters(columns)
    gpus = machine.gpus()
    yield "GPU", "ok" if gpus else "missing", ", ".join(gpus) or "no GPU: GPU columns would be error: device"
    for column in columns:
        built = environment.read(project, column)
        yield (
            column.id,
            "error" if built.cause else "ok",
            f"{built.cause}: {built.problem}" if built.cause else f"{built.toolchain} {built.backend} {built.binary or built.python}",
        )


def vulkan_drivers() -> list[str]:
    """The names of the Vulkan drivers that are installed; none without the loader."""
    if ctypes.util.find_library("vulkan") is None:
        return []
    named = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES")
    if named:
        return [path.stem for path in map(Path, named.split(os.pathsep)) if path.is_file()]
    return sorted(
        path.stem for folder in ("/etc", "/usr/share", "/usr/local/share") for path in Path(folder, "vulkan/icd.d").glob("*.json")
    )


def _interpreters(columns: list[Column]) -> Iterator[Line]:
    sessions.prepare()
    for minor in sorted({c.python for c in columns if c.python}):
        first, *more = [c for c in columns if c.python == minor]
        if sessions.has_python(first):
            yield f"Python {minor}", "ok", f"for {first.id}" + (f" and {len(more)} more" if more else "")
        else:
            yield f"Python {minor}", "missing", str(build.no_interpreter(first)) + (f" (and for {len(more)} more)" if more else "")
