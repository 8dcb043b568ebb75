#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["nox[uv]==2026.10.20"]
# ///
"""The one entry point: `python3 noxfile.py`, `uv run noxfile.py`, `pipx run noxfile.py` and `nox` do the same.

python3 noxfile.py                       build the columns, ask every cell, draw the page, say where it is
python3 noxfile.py -s tests              lint, types, unit tests, the control column
python3 noxfile.py -s "cells(candle-0.11.1)" -- -k rms_norm
python3 noxfile.py -t newest             the newest version of each framework
python3 noxfile.py -s matrix -- --local candle=../candle --torch-backend cpu
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path


def stop(text):
    """Bad input: the exit status is 2, not Python's 1, which says that a framework turned worse."""
    print(text, file=sys.stderr)
    sys.exit(2)


if sys.version_info < (3, 11):
    stop(f"silentbench needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")
if platform.system() != "Linux" and __name__ == "__main__" and not {"-l", "--list"} & set(sys.argv):
    stop(
        f"found:   {platform.system()}\nwanted:  Linux: workers stand on its subreapers, pidfds and /proc\n"
        "do this: run it in a Linux VM or WSL 2; results/matrix.html opens anywhere"
    )

HERE = Path(__file__).resolve().parent
NOX = "nox[uv]==2026.10.20"

try:
    import nox
except ModuleNotFoundError:  # a bare Python: install nox beside the columns, once, then run this file in there
    import venv

    home = HERE / ".nox" / "_boot"
    python, ready = home / "bin" / "python", home / "ready"
    if not (ready.exists() and ready.read_text() == NOX):
        print(f"first run: installing {NOX} into {home.relative_to(HERE)}", file=sys.stderr)
        try:
            venv.create(home, clear=True, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", NOX], check=True)
        except (subprocess.CalledProcessError, OSError) as failed:
            stop(
                f"found:   nox could not be installed: {failed}\nwanted:  venv with pip, and PyPI for the first run\n"
                "do this: Debian and Ubuntu: apt install python3-venv; then run this again"
            )
        ready.write_text(NOX)
    os.execv(python, [python, __file__, *sys.argv[1:]])  # noqa: S606  in our place: one process, one Ctrl-C, one exit status

sys.path.insert(0, str(HERE))
from harness import pins, sessions  # noqa: E402  standard library and packaging only
from harness.errors import Failed  # noqa: E402
from harness.sessions import HARNESS, UV, build, harness, harness_environment, locked, make_venv, options  # noqa: E402

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["matrix"]
nox.options.error_on_missing_interpreters = False  # our own answer to one is an `error` record

sessions.prepare()
try:
    COLUMNS = pins.read(HERE / "harness" / "pins.toml")
except Failed as bad:
    stop(str(bad))

for column in COLUMNS:
    interpreter = sessions.has_python(column)
    backend = {"python": column.python} if interpreter else {"venv_backend": "none"}

    @nox.session(name=f"cells({column.id})", tags=[*column.tags, "cells"], default=False, **backend)
    def cells(session, column=column, interpreter=interpreter):
        """Build one column and ask its cells: -- [-k EXPRESSION] [--build-only] [--torch-backend cpu]."""
        chosen, rest = options(session)
        harness_environment(session)
        build(session, column, session.virtualenv.location if interpreter else None, chosen.torch_backend)
        if not chosen.build_only:
            harness(session, "run", "--columns", column.id, *rest)
            harness(session, "report")


def build_and_ask(session, tag):
    """Every column of a tag, or all of them: build each, then ask their cells in one run, and draw the page."""
    chosen, _ = options(session)
    try:
        for text in chosen.local:
            pins.local_column(COLUMNS, text)
    except Failed as bad:
        sessions.said(int(bad.exit))
        session.error(str(bad))
    backend = ["--torch-backend", chosen.torch_backend] if chosen.torch_backend else []
    for column in pins.select(COLUMNS, [tag] if tag else []):
        session.notify(f"cells({column.id})", ["--build-only", *backend])
    session.notify("ask_all", [*([f"--columns={tag}"] if tag else []), *session.posargs])


@nox.session(venv_backend="none")
def matrix(session):
    """The main job: build every quick column, ask every cell, draw the page. -- [-k EXPRESSION] [--local F=PATH] [--torch-backend cpu] [--fresh]."""
    build_and_ask(session, "quick")


@nox.session(venv_backend="none", default=False)
def history(session):
    """The same with every column, the older versions too (much more disk: python -m harness doctor says how much)."""
    build_and_ask(session, "")


@nox.session(venv_backend="none", default=False)
def ask_all(session):
    """The second half of `matrix` and `history`: ask the cells of the built columns, and draw the page."""
    chosen, rest = options(session)
    harness_environment(session)
    for text in chosen.local:
        build_local(session, text)
        rest += ["--local", text]
    harness(session, "run", *rest)
    harness(session, "report")


def build_local(session, text):
    column = pins.local_column(COLUMNS, text)
    build(session, column, make_venv(session, column.id, column.python) if sessions.has_python(column) else None)


@nox.session(venv_backend="none", default=False)
def tests(session):
    """Lint, types, unit tests, fakes and the control column: minutes, no framework."""
    harness_environment(session)
    build_columns(session, ["numpy"])
    session.run(HARNESS, "-m", "ruff", "check", ".", external=True)
    session.run(HARNESS, "-m", "ruff", "format", "--check", ".", external=True)
    session.run(HARNESS, "-m", "mypy", external=True)
    session.run(HARNESS, "-m", "pytest", "-m", "not real and not trainer and not arbiter", *session.posargs, external=True)


@nox.session(name="tests-real", venv_backend="none", default=False)
def tests_real(session):
    """Real frameworks: the newest of the main job's, without tinygrad, which compiles for minutes."""
    harness_environment(session)
    build_columns(session, ["real"])
    session.run(HARNESS, "-m", "pytest", "-m", "real", *session.posargs, external=True)


@nox.session(name="tests-trainer", venv_backend="none", default=False)
def tests_trainer(session):
    """The reference trainer: its own environment with torch; all of it, the slow tests too: -- -m trainer."""
    python, files = locked(session, HERE / ".nox" / "trainer", "trainer"), sorted(map(str, Path("tests").glob("test_trainer_*.py")))
    session.run(python, "-m", "pytest", "-m", "trainer and not slow", *session.posargs, *files, external=True, env={"OMP_NUM_THREADS": "1"})


@nox.session(name="tests-page", venv_backend="none", default=False)
def tests_page(session):
    """The page in this machine's Chromium (apt install chromium; without one it is passed over), or its size and times: -- [-k EXPRESSION | bench]."""
    if not sessions.chromium():
        session.skip("no Chromium here, and none is brought: Debian's is `apt install chromium`, another is named by the variable CHROMIUM")
    python, files = locked(session, HERE / ".nox" / "page", "page"), sorted(map(str, Path("tests").glob("test_page_*.py")))
    if session.posargs == ["bench"]:
        session.run(python, "-m", "tests.bench_page", external=True)
    else:
        session.run(python, "-m", "pytest", *session.posargs, *files, external=True)


@nox.session(name="bench-trainer", venv_backend="none", default=False)
def bench_trainer(session):
    """The trainer's speed beside transformers' Llama and a GPT-2, into results/benchmarks/trainer.json: -- [--rounds N] [--fresh]."""
    python = locked(session, HERE / ".nox" / "trainer", "trainer")
    session.run(python, "-m", "tests.bench_trainer", *session.posargs, external=True, interrupt_timeout=10)  # it says what it keeps


@nox.session(venv_backend="none", default=False)
def trainer(session):
    """Tokens a second, MFU, memory and price of a preset in a few minutes, unattended: -- paper --device cuda."""
    session.run(locked(session, HERE / ".nox" / "trainer", "trainer"), "-m", "trainer.trial", *session.posargs, external=True)


def arbiter_environment(session):
    python = locked(session, HERE / ".nox" / "arbiter", "arbiter")
    session.run(python, "-c", "", external=True)  # tinygrad's compiler links itself when its Python first starts
    return python


@nox.session(name="tests-arbiter", venv_backend="none", default=False)
def tests_arbiter(session):
    """Gradarbiter on real frameworks: one environment with torch, jax, keras, tinygrad and mlx; the slow ones too: -- -m arbiter."""
    python, files = arbiter_environment(session), sorted(map(str, Path("tests").glob("test_gradarbiter_*.py")))
    session.run(python, "-m", "pytest", "-m", "arbiter and not slow", *session.posargs, *files, external=True, env={"OMP_NUM_THREADS": "1"})


@nox.session(venv_backend="none", default=False)
def detection(session):
    """What gradarbiter catches of the trainer's faults, and whom it accuses: into results/detection.json; -- [-k NAME]."""
    python = arbiter_environment(session)
    session.run(python, "-m", "tests.detection", *session.posargs, external=True, env={"OMP_NUM_THREADS": "1"})


@nox.session(venv_backend="none", default=False)
def blindspot(session):
    """For each of the trainer's faults: would the loss curve have told, and what gradarbiter says: into results/blindspot.json."""
    session.run(arbiter_environment(session), "-m", "tests.blindspot", external=True, env={"OMP_NUM_THREADS": "1"})


@nox.session(venv_backend="none", default=False)
def rivals(session):
    """What gradcheck, Lightning, HF's Trainer and traincheck catch of the trainer's faults, into results/rivals.json (2 h): -- [--tools ...] [--sample N]."""
    python = locked(session, HERE / ".nox" / "rivals", "rivals")
    session.run(python, "-m", "tests.rivals", *session.posargs, external=True, env={"OMP_NUM_THREADS": "1"})


@nox.session(venv_backend="none", default=False)
def sweep(session):
    """Ask every operation in many ways, only what has changed since: -- [--columns PATTERN] [-k EXPRESSION] [--budget 10m] [--fresh]."""
    parser = argparse.ArgumentParser(prog="nox -s sweep --")
    parser.add_argument(
        "--columns", action="append", default=[], help="ids, shell patterns or tags; those of the main job where none is given"
    )
    chosen, rest = parser.parse_known_args(session.posargs)
    columns = chosen.columns or ["quick"]
    harness_environment(session)
    build_columns(session, columns)
    harness(session, "sweep", *(f"--columns={pattern}" for pattern in columns), *rest)
    harness(session, "report")


def build_columns(session, patterns):
    for column in pins.select(COLUMNS, patterns):
        venv = make_venv(session, f"cells-{column.id}".replace(".", "-"), column.python) if sessions.has_python(column) else None
        build(session, column, venv, ok=(0,))


@nox.session(venv_backend="none", default=False)
def lock(session):
    """Make the locks anew from harness/pins.toml and harness/locks/*.in: -- [--columns PATTERN]."""
    flags = "--quiet --universal --generate-hashes --no-emit-index-url --no-header --annotation-style line --python-version 3.11 --upgrade"
    for source in [] if session.posargs else sorted(Path("harness/locks").glob("*.in")):
        session.run(UV, "pip", "compile", *flags.split(), str(source), "-o", str(source.with_suffix(".txt")), external=True)
    harness_environment(session)
    harness(session, "lock", *session.posargs, ok=(0,))


@nox.session(venv_backend="none", default=False)
def report(session):
    """Draw the page from the latest records: -- [--publish]."""
    harness_environment(session)
    harness(session, "report", *session.posargs, ok=(0,))


@nox.session(venv_backend="none", default=False)
def clean(session):
    """Give the disk back: every environment, build and latest record; committed results stay."""
    for folder in (HERE / ".nox", HERE / ".venv", HERE / "results" / "latest"):
        if folder.exists():
            session.log(f"removing {folder.relative_to(HERE)}")
            shutil.rmtree(folder, ignore_errors=folder.name == ".nox")


def main():
    """Run nox, which knows only failed and not failed; where this file is run itself, the worst of what the harness said is the exit status."""
    sessions.EXITS.parent.mkdir(exist_ok=True)
    sessions.EXITS.write_text("")
    try:
        nox.main()
    except SystemExit as done:
        sys.exit(sessions.worst(done.code))


if __name__ == "__main__":
    main()
