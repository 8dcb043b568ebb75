"""What noxfile.py's sessions share: interpreters, environments, what the harness said. Standard library and `packaging` only: it runs in nox's Python."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness.pins import Column
from harness.project import ROOT

Session = Any  # nox.Session: nox is not in the environment of the harness, where the types are checked
HARNESS = str(ROOT / ".venv" / "bin" / "python")
# What the harness said in each session: nox loads its file once more, so a variable of that file would not do.
EXITS = ROOT / ".nox" / f"exits-{os.getpid()}"
WORST_FIRST = (130, 5, 1, 4, 3, 2)  # of several exit statuses the first of these counts (harness/errors.py)


def uv_path() -> str:
    try:
        from uv import find_uv_bin  # type: ignore[import-not-found]  # it comes with nox

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        return shutil.which("uv") or str(ROOT / ".nox" / "_boot" / "bin" / "uv")


UV = uv_path()


def prepare() -> None:
    """Tell what is started from here which uv to use, and which interpreters there are."""
    os.environ["UV"] = UV
    # pyenv's shims refuse every version that is not selected, and uv stops at the first refusal: select them all, the running one first.
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    if versions.is_dir():
        running = ".".join(map(str, sys.version_info[:3]))
        found = [p.name for p in versions.glob("3.*") if (p / "bin" / "python").exists()]
        os.environ["PYENV_VERSION"] = ":".join(sorted(found, key=lambda n: n != running))


def has_python(column: Column) -> bool:
    """Whether this machine has the interpreter of a Python column; nothing is downloaded."""
    if column.language != "python":
        return False
    if column.python == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return True
    with contextlib.suppress(FileNotFoundError):
        return (
            subprocess.run([UV, "python", "find", "--no-python-downloads", column.python], capture_output=True, check=False).returncode == 0
        )
    return False


def chromium() -> str:
    """The browser that the page's tests open; "" where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")


def harness_environment(session: Session) -> None:
    """`.venv`, which the harness lives in."""
    locked(session, ROOT / ".venv", "harness")


def locked(session: Session, folder: Path, name: str) -> str:
    """A virtual environment exactly as its lock says, made once: no network and no resolver when the lock has not changed."""
    lock, stamp = ROOT / "harness" / "locks" / f"{name}.txt", folder / "silentbench.stamp"
    want = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == want):
        session.run(UV, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder), external=True)
        session.run(UV, "pip", "sync", "--quiet", "--python", str(folder / "bin" / "python"), "--require-hashes", str(lock), external=True)
        stamp.write_text(want)
    return str(folder / "bin" / "python")


def make_venv(session: Session, name: str, minor: str) -> str:
    folder = ROOT / ".nox" / name
    if not (folder / "bin" / "python").exists():
        session.run(UV, "venv", "--quiet", "--clear", "--python", minor, str(folder), external=True)
    return str(folder)


def build(session: Session, column: Column, venv: str | None, torch_backend: str = "", ok: tuple[int, ...] = (0, 1, 3, 4)) -> None:
    """Bring a column up to its lock; a Python column without an environment is one whose interpreter is missing, which its cells then say."""
    arguments = [] if column.language != "python" else ["--venv", venv] if venv else ["--missing"]
    named = [column.framework, "--local", column.local] if column.local else [column.id]
    harness(session, "build", *named, *arguments, *(["--torch-backend", torch_backend] if torch_backend else []), ok=ok)


def harness(session: Session, *arguments: str, ok: tuple[int, ...] = (0, 1, 3, 4)) -> None:
    """Run the harness; remember its exit status, and go on to the next column or to the page where it only says what it found."""
    # Ctrl-C reaches the harness itself: wait for its last words instead of killing it after a quarter of a second, as subprocess.run would.
    run = subprocess.Popen([HARNESS, "-m", "harness", *arguments], cwd=ROOT)
    while run.poll() is None:
        with contextlib.suppress(KeyboardInterrupt):
            run.wait()
    said(run.returncode)
    if run.returncode == 130:
        raise KeyboardInterrupt
    if run.returncode not in ok:
        session.error(f"python -m harness {' '.join(arguments[:2])} ended with {run.returncode} (see the exit table in README.md)")


def said(code: int) -> None:
    with EXITS.open("a") as exits:
        exits.write(f"{code}\n")


def worst(otherwise: int | str | None) -> int | str | None:
    """The exit status of all that the harness said in this process's sessions; nox's own where it said nothing."""
    codes = {int(code) for code in EXITS.read_text().split()} if EXITS.exists() else set()
    EXITS.unlink(missing_ok=True)
    return next((code for code in WORST_FIRST if code in codes), otherwise)


def options(session: Session) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog=f"nox -s {session.name} --", description="What follows goes to: python -m harness run")
    parser.add_argument(
        "--local", action="append", default=[], metavar="FRAMEWORK=PATH", help="a column built from your own checkout or wheel"
    )
    parser.add_argument(
        "--torch-backend", default="", choices=["", "cpu"], help="cpu: uv's CPU index (1.2 GB) instead of the lock (5.3 GB)"
    )
    parser.add_argument("--build-only", action="store_true", help="make the environment, ask nothing")
    return parser.parse_known_args(session.posargs)
