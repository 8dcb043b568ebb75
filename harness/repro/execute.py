"""Runs a bundle as its reader would: in an environment of its own, with nothing of ours; careful that a time-out ends every process it started."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import cargo
from harness import environment as environments
from harness.build import UV, make_venv
from harness.errors import CannotBuild
from harness.pins import Column
from harness.project import Project

LIMIT_S = 60.0  # of a run, without what it takes to make its environment
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "UV_CACHE_DIR", "LD_LIBRARY_PATH")


@dataclass(frozen=True, kw_only=True)
class Ran:
    code: int
    output: str
    seconds: float
    warm: bool


def run(project: Project, column: Column, folder: Path, *, warm: bool) -> Ran:
    """Run the bundle of ``folder``.

    Raises:
        CannotBuild: its environment could not be made, or it does not compile.
    """
    if column.language == "rust":
        with binary(project, column, folder, warm=warm) as built:
            return _timed([str(built)], folder, warm=warm)
    with python(project, column, warm=warm) as interpreter:
        return _timed([str(interpreter), "repro.py"], folder, warm=warm)


@contextlib.contextmanager
def python(project: Project, column: Column, *, warm: bool) -> Iterator[Path]:
    """An interpreter with the column's packages: that of its cells, or a new one from its lock, which is gone afterwards.

    Raises:
        CannotBuild: there is none.
    """
    if warm:
        ready = environments.read(project, column)
        if ready.cause:
            raise CannotBuild(ready.cause, ready.found, ready.wanted, ready.do)
        yield Path(ready.python)
        return
    folder = Path(tempfile.mkdtemp(prefix="silentbench-repro-"))
    try:
        venv, lock = folder / "venv", project.locks / column.lock
        make_venv(column, venv)
        _uv([UV, "pip", "sync", "--quiet", "--python", str(venv / "bin" / "python"), "--require-hashes", str(lock)])
        yield venv / "bin" / "python"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _uv(argv: list[str]) -> None:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CannotBuild("toolchain", f"no uv at {argv[0]!r}", "uv, which noxfile.py brings", "run through python3 noxfile.py") from None
    if done.returncode:
        said = " ".join(done.stderr.split())[-300:]
        raise CannotBuild("install", f"{' '.join(argv[1:3])}: {said}", "a fresh environment", "check network and disk, or use --warm")


@contextlib.contextmanager
def binary(project: Project, column: Column, folder: Path, *, warm: bool) -> Iterator[Path]:
    """The binary of a Rust bundle: with the dependencies that were compiled before for the column, or with all of them compiled now, gone afterwards.

    Raises:
        CannotBuild: cargo, the registry, or the bundle does not compile.
    """
    shared = project.environments.resolve() / "repro" / column.id
    shared.mkdir(parents=True, exist_ok=True)
    target = shared if warm else Path(tempfile.mkdtemp(prefix="silentbench-repro-", dir=shared.parent))
    try:
        env = cargo.environment(target)
        cargo.version("cargo", env)
        done = cargo.run(["cargo", "build", "--release", "--locked", "--quiet"], folder, env)
        if done.returncode:
            raise cargo.fault(done)
        name = re.search(r'\[\[bin\]\]\s*name = "([^"]+)"', (folder / "Cargo.toml").read_text())
        assert name
        yield target / "release" / name[1]
    finally:
        if not warm:
            shutil.rmtree(target, ignore_errors=True)


def _timed(argv: list[str], folder: Path, *, warm: bool) -> Ran:
    env = {name: value for name, value in os.environ.items() if name in KEPT} | {"PYTHONDONTWRITEBYTECODE": "1"}
    start = time.monotonic()
    process = subprocess.Popen(
        argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=LIMIT_S)
        code = process.returncode
    except subprocess.TimeoutExpired:
        _end(process)
        output, code = process.communicate()[0] + f"\nno end after {LIMIT_S:g} s\n", 124
    except BaseException:  # Ctrl-C: nothing that was started stays
        _end(process)
        raise
    return Ran(code=code, output=output, seconds=round(time.monotonic() - start, 3), warm=warm)


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
