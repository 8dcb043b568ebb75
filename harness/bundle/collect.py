"""The report of an environment by the project's own collector, run in the column's environment; careful that no path of this machine stays in it."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

from harness import cargo, environment, machine
from harness.client import cell_environment
from harness.pins import Column
from harness.project import Project

LIMIT_S = 180.0
FACTS = "import importlib.metadata as m, platform; print('Python', platform.python_version()); print(platform.platform())"
COLLECTORS = {
    "torch": ["-m", "torch.utils.collect_env"],
    "jax": ["-c", "import jax; jax.print_environment_info()"],
    "paddle": ["-c", f"{FACTS}; import paddle; print('paddle', paddle.__version__); paddle.version.show()"],
    "tensorflow": [
        "-c",
        f"{FACTS}; import tensorflow as tf; print(tf.version.GIT_VERSION, tf.version.VERSION); print(tf.sysconfig.get_build_info())",
    ],
    "mlx": ["-c", f"{FACTS}; import mlx.core as mx; print('mlx', m.version('mlx')); print(mx.default_device())"],
}
ABSOLUTE = re.compile(r"(?<![\w.:/~$}<>*-])/(?!dev/|proc/|usr/bin/env\b)(?:[\w.+@=-]+/)+(?P<name>[\w.+@=-]*)")

NODE = re.compile(r"\bnode='[^']*'")  # a machine's own name, in what uname says


def portable(text: str, project: Project) -> str:
    """The text with every absolute path cut to its last name, and without the name of the machine."""
    text = NODE.sub("node=''", machine.portable(text, project.root))
    return ABSOLUTE.sub(lambda found: found["name"] or "...", text)


def collect(project: Project, column: Column, repro: Path) -> str:
    """What the collector printed; where it cannot run, a line that says why."""
    if column.language == "rust":
        return portable(_rust(repro), project)
    return _python(project, column)


@cache
def _python(project: Project, column: Column) -> str:
    """Of an interpreter, which is the same for all repros of a column."""
    ready = environment.read(project, column)
    if ready.cause:
        return f"not collected: {ready.problem}\n"
    named = column.requires[0].partition("==")[0]
    argv = [ready.python, "-s", *COLLECTORS.get(column.framework, ["-c", f"{FACTS}; print({named!r}, m.version({named!r}))"])]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", env=cell_environment(), cwd="/", timeout=LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as cannot:
        return f"not collected: {portable(str(cannot), project)}\n"
    if done.returncode:
        return f"not collected: the collector ended with {done.returncode}: {portable(done.stderr.strip()[-300:], project)}\n"
    return portable(done.stdout, project)


def _rust(repro: Path) -> str:
    env = cargo.environment(repro.resolve() / "target")
    parts = []
    for argv, folder in ((["rustc", "-Vv"], Path("/")), (["cargo", "tree", "--locked", "--prefix", "depth"], repro)):
        try:
            done = cargo.run(argv, folder, env)
        except OSError as cannot:
            return f"not collected: {cannot}\n"
        said = done.stdout if not done.returncode else f"not collected: {done.stderr.strip()[-300:]}"
        said = re.sub(r"(?m)^(0\S+ v\S+) \(.*\)$", r"\1", said)  # the repro's own folder
        parts.append(f"$ {' '.join(argv)}\n{said.strip()}\n")
    return "\n".join(parts)
