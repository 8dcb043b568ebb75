"""Makes a column's environment from its lock and writes its manifest; careful that a failure costs this column only, and says what to install."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from pathlib import Path

from harness import cell, environment, sessions
from harness.case import Spec
from harness.environment import Environment
from harness.errors import BadInput, CannotBuild
from harness.pins import Column
from harness.project import Project

UV = os.environ.get("UV") or sessions.uv_path()  # noxfile.py names the one it brought


def build(project: Project, column: Column, specs: list[Spec], *, venv: Path | None = None, backend: str = "") -> Environment:
    """Bring one column up to its lock (quick where it is there already) and write its manifest, also where that fails."""
    try:
        if not project.environments.exists():
            project.environments.mkdir(parents=True)
        made = _python(project, column, venv, backend) if column.language == "python" else _rust(project, column, specs)
    except CannotBuild as problem:
        made = environment.failed(column, problem)
    environment.write(project, made, column)
    return made


def no_interpreter(column: Column) -> CannotBuild:
    python = f"Python {column.python}"
    do = f"install it (pyenv install {column.python}, or uv python install {column.python}); the other columns work without it"
    return CannotBuild("interpreter", f"no {python} for {column.id}", python, do)


def make_venv(column: Column, folder: Path) -> None:
    """An empty environment with the column's Python, which this machine has: none is downloaded.

    Raises:
        CannotBuild: it has not, or uv refuses.
    """
    sessions.prepare()
    if not sessions.has_python(column):
        raise no_interpreter(column)
    argv = [UV, "venv", "--quiet", "--clear", "--no-python-downloads", "--python", column.python, str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotBuild("interpreter", done.stderr.strip()[-300:], f"Python {column.python}", "python3 noxfile.py -s clean", done.stderr)


def refuse(project: Project, column: Column) -> Environment:
    """Write the manifest of a column that nox could not even begin with: its interpreter is missing."""
    made = environment.failed(column, no_interpreter(column))
    environment.write(project, made, column)
    return made


def _python(project: Project, column: Column, venv: Path | None, backend: str) -> Environment:
    if venv is None:
        raise BadInput(
            f"no environment for {column.id}",
            "the folder of a virtual environment",
            f'build it through nox: python3 noxfile.py -s "cells({column.id})"',
        )
    lock, python, stamp = project.locks / column.lock, venv / "bin" / "python", venv / "silentbench.stamp"
    if not lock.exists():
        raise CannotBuild("install", f"no lock {lock.name}", "a lock for every pin", "python3 noxfile.py -s lock")
    want = f"{environment.lock_digest(lock)} {backend} {_local_digest(column)}"
    if not (stamp.exists() and stamp.read_text() == want):
        _room(project, column)
        stamp.unlink(missing_ok=True)
        if backend:
            # Its index holds other wheels than the lock's hashes name: an opt-in, said in every record.
            _uv(column, "pip", "install", "--python", str(python), "--torch-backend", backend, *column.requires)
        else:
            _uv(column, "pip", "sync", "--python", str(python), "--require-hashes", str(lock))
        if column.local and not column.source:
            _uv(column, "pip", "install", "--python", str(python), "--no-deps", "--reinstall", column.local)
        stamp.write_text(want)
    if column.source:
        _link(venv, column)
    named = column.requires[0].partition("==")[0]  # tensorflow's distribution is tensorflow-cpu
    asked = "import importlib.metadata as m, platform as p, sys; print(p.python_implementation(), p.python_version()); print(m.version(sys.argv[1]))"
    facts = subprocess.run([python, "-c", asked, named], capture_output=True, text=True, check=False)
    if facts.returncode:
        raise CannotBuild(
            "interpreter",
            f"{python} does not run, or has no {named}: {facts.stderr.strip()[-200:]}",
            f"Python {column.python} with {named}",
            "python3 noxfile.py -s clean, then again",
        )
    toolchain, version = facts.stdout.splitlines()[:2]
    return Environment(
        column=column.id,
        python=str(python),
        lock=environment.lock_digest(lock),
        backend=backend,
        local=column.local,
        version=column.version if column.source else version,
        toolchain=toolchain,
    )


def _link(venv: Path, column: Column) -> None:
    """Put the framework that is a folder of ours, and nothing else of ours, among the packages: a link, so that what runs is what a cell's version hashes."""
    for packages in venv.glob("lib/python3*/site-packages"):
        (packages / column.framework).unlink(missing_ok=True)
        (packages / column.framework).symlink_to(column.source)


def _rust(project: Project, column: Column, specs: list[Spec]) -> Environment:
    from harness import rust

    _room(project, column)
    files: list[rust.RustFile] = []
    swept: list[rust.RustFile] = []
    for spec in {s.id: s for s in specs}.values():
        for variant, file in cell.files_for(cell.run_files(spec.folder), column).items():
            made = rust.RustFile(case=spec.id, variant=variant, path=file.path, functions=tuple(file.functions()))
            if not spec.op:
                files.append(made)
            elif column.swept:
                swept.append(made)
    local = Path(column.local) if column.local else None
    built = rust.build(project, column, files, local=local)
    operations = rust.build(project, column, swept, local=local, sweep=True) if swept else None
    dropped = {**built.dropped, **(operations.dropped if operations else {})}
    return Environment(
        column=column.id,
        binary=str(built.binary),
        swept=str(operations.binary) if operations else "",
        lock=environment.lock_digest(project.locks / column.lock),
        local=column.local,
        version=next(iter(built.crates.values())),
        compiled={f"{f.path.parent.name}/{f.path.name}": environment.sha256(f.path) for f in [*files, *swept]},
        glue=cell.between(column),
        toolchain=built.rustc,
        dropped={key: {"absent": d.absent, "message": _first_error(d.evidence), "log": d.evidence} for key, d in dropped.items()},
    )


def _first_error(evidence: str) -> str:
    return " ".join(line.strip() for line in evidence.strip().splitlines()[:2])[:300]


def _uv(column: Column, *arguments: str) -> None:
    try:
        run = subprocess.run([UV, *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CannotBuild("toolchain", f"no uv at {UV!r}", "uv, which noxfile.py brings", "run through python3 noxfile.py") from None
    if run.returncode:
        last = " ".join(run.stderr.split())[-300:]
        raise CannotBuild(
            "install",
            f"uv could not install {column.id}: {last}",
            "the packages of its lock",
            "check network and disk, then run the same command again",
            run.stderr,
        )


def _room(project: Project, column: Column) -> None:
    """Refuse before a download fills the disk.

    Raises:
        CannotBuild: less free space than the pin says the environment needs.
    """
    free = shutil.disk_usage(project.environments).free / 1e9
    if free < column.disk_gb:
        raise CannotBuild(
            "install",
            f"{free:.1f} GB free where {column.id} would be built",
            f"{column.disk_gb:g} GB",
            "free the disk (python3 noxfile.py -s clean), or for torch take the CPU wheels: python3 noxfile.py -- --torch-backend cpu",
        )


def _local_digest(column: Column) -> str:
    if not column.local or column.source:
        return ""  # a link is made at each build
    path = Path(column.local)
    newest = max((p.stat().st_mtime_ns for p in path.rglob("*.py")), default=0) if path.is_dir() else path.stat().st_mtime_ns
    return f"{path} {newest}"


def lock(project: Project, column: Column) -> Path:
    """Make a column's lock anew: hashed requirements, or Cargo.lock.

    Raises:
        CannotBuild: the resolver failed.
    """
    if column.language == "rust":
        from harness import rust

        return rust.lock(project, dataclasses.replace(column, local=""))
    return lock_requirements(project, column.requires, column.python, project.locks / column.lock, column)


def lock_requirements(project: Project, requires: tuple[str, ...], python: str, to: Path, column: Column) -> Path:
    source = project.environments / "lock" / f"{to.stem}.in"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("\n".join(requires) + "\n")
    options = ["--universal", "--generate-hashes", "--no-emit-index-url", "--no-header", "--annotation-style", "line"]
    _uv(column, "pip", "compile", "--quiet", *options, "--upgrade", "--python-version", python, str(source), "-o", str(to))
    # A relative path of a temporary file says nothing to a reader and changes from machine to machine.
    to.write_text(to.read_text().replace(str(source), "pins.toml").replace(os.path.relpath(source), "pins.toml"))
    return to
