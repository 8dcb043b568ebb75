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
import contextlib
import hashlib
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
from harness import pins  # noqa: E402  standard library and packaging only
from harness.errors import Failed  # noqa: E402

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["matrix"]
nox.options.error_on_missing_interpreters = False  # our own answer to one is an `error` record

try:
    COLUMNS = pins.read(HERE / "harness" / "pins.toml")
except Failed as bad:
    stop(str(bad))
PYTHON = HERE / ".venv" / "bin" / "python"
EXITS = (
    HERE / ".nox" / f"exits-{os.getpid()}"
)  # what the harness said in each session: nox loads this file once more, so a variable would not do

# pyenv's shims refuse every version that is not selected, and uv stops at the first refusal: select them all, the running one first.
pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
if pyenv.is_dir():
    running = ".".join(map(str, sys.version_info[:3]))
    found = [p.name for p in pyenv.glob("3.*") if (p / "bin" / "python").exists()]
    os.environ["PYENV_VERSION"] = ":".join(sorted(found, key=lambda n: n != running))


def uv_path():
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        return shutil.which("uv") or "uv"


UV = os.environ["UV"] = uv_path()


def has_python(minor):
    if minor in ("", f"{sys.version_info[0]}.{sys.version_info[1]}"):
        return True
    return subprocess.run([UV, "python", "find", "--no-python-downloads", minor], capture_output=True, check=False).returncode == 0


def harness_environment(session):
    """`.venv`, which the harness lives in."""
    locked(session, HERE / ".venv", "harness")


def locked(session, folder, name):
    """A virtual environment exactly as its lock says, made once: no network and no resolver when the lock has not changed."""
    lock, stamp = HERE / "harness" / "locks" / f"{name}.txt", folder / "silentbench.stamp"
    want = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == want):
        session.run(UV, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder), external=True)
        session.run(UV, "pip", "sync", "--quiet", "--python", str(folder / "bin" / "python"), "--require-hashes", str(lock), external=True)
        stamp.write_text(want)
    return str(folder / "bin" / "python")


def harness(session, *arguments, ok=(0, 1, 3, 4)):
    """Run the harness; remember its exit status, and go on to the next column or to the page where it only says what it found."""
    # Ctrl-C reaches the harness itself: wait for its last words instead of killing it after a quarter of a second, as subprocess.run would.
    run = subprocess.Popen([PYTHON, "-m", "harness", *arguments], cwd=HERE)
    while run.poll() is None:
        with contextlib.suppress(KeyboardInterrupt):
            run.wait()
    with EXITS.open("a") as exits:
        exits.write(f"{run.returncode}\n")
    if run.returncode == 130:
        raise KeyboardInterrupt
    if run.returncode not in ok:
        session.error(f"python -m harness {' '.join(arguments[:2])} ended with {run.returncode} (see the exit table in README.md)")
    return run.returncode


def options(session):
    parser = argparse.ArgumentParser(prog=f"nox -s {session.name} --", description="What follows goes to: python -m harness run")
    parser.add_argument(
        "--local", action="append", default=[], metavar="FRAMEWORK=PATH", help="a column built from your own checkout or wheel"
    )
    parser.add_argument(
        "--torch-backend", default="", choices=["", "cpu"], help="cpu: uv's CPU index (1.2 GB) instead of the lock (5.3 GB)"
    )
    parser.add_argument("--build-only", action="store_true", help="make the environment, ask nothing")
    return parser.parse_known_args(session.posargs)


def make_venv(session, name, minor):
    folder = HERE / ".nox" / name
    if not (folder / "bin" / "python").exists():
        session.run(UV, "venv", "--quiet", "--clear", "--python", minor, str(folder), external=True)
    return folder


for column in COLUMNS:
    python_column = column.language == "python"
    interpreter = has_python(column.python)
    backend = {"python": column.python} if python_column and interpreter else {"venv_backend": "none"}

    @nox.session(name=f"cells({column.id})", tags=[*column.tags, "cells"], default=False, **backend)
    def cells(session, column=column, python_column=python_column, interpreter=interpreter):
        """Build one column and ask its cells: -- [-k EXPRESSION] [--build-only] [--torch-backend cpu]."""
        chosen, rest = options(session)
        harness_environment(session)
        arguments = ["build", column.id]
        if python_column and interpreter:
            arguments += ["--venv", session.virtualenv.location]
        elif python_column:
            arguments += ["--missing", column.python]
        if chosen.torch_backend:
            arguments += ["--torch-backend", chosen.torch_backend]
        harness(session, *arguments)
        if not chosen.build_only:
            ask(session, ["--columns", column.id, *rest])
            page(session)


def ask(session, arguments):
    """Ask cells; a report of what turned is no failure of the session, an error of ours is."""
    return harness(session, "run", *arguments)


def page(session):
    harness(session, "report")


def build_local(session, text):
    framework, _, path = text.partition("=")
    column = pins.local_column(COLUMNS, text)
    arguments = ["build", framework, "--local", path]
    if column.language == "python":
        arguments += ["--venv", str(make_venv(session, f"{framework}-local", column.python))]
    harness(session, *arguments)
    return ["--local", text]


@nox.session(venv_backend="none")
def matrix(session):
    """The main job: build every quick column, ask every cell, draw the page. -- [-k EXPRESSION] [--local F=PATH] [--torch-backend cpu] [--fresh]."""
    chosen, _ = options(session)
    try:
        for text in chosen.local:
            pins.local_column(COLUMNS, text)
    except Failed as bad:
        with EXITS.open("a") as exits:
            exits.write(f"{int(bad.exit)}\n")
        session.error(str(bad))
    for column in COLUMNS:
        if "quick" in column.tags:
            session.notify(
                f"cells({column.id})", ["--build-only", *(["--torch-backend", chosen.torch_backend] if chosen.torch_backend else [])]
            )
    session.notify("ask_all", session.posargs)


@nox.session(venv_backend="none", default=False)
def ask_all(session):
    """The second half of `matrix`: ask the cells of the built columns, and draw the page."""
    chosen, rest = options(session)
    harness_environment(session)
    local = [a for text in chosen.local for a in build_local(session, text)]
    ask(session, ["--columns=quick", *local, *rest])
    page(session)


@nox.session(venv_backend="none", default=False)
def tests(session):
    """Lint, types, unit tests, fakes and the control column: minutes, no framework."""
    harness_environment(session)
    build_columns(session, ["numpy"])
    session.run(str(PYTHON), "-m", "ruff", "check", ".", external=True)
    session.run(str(PYTHON), "-m", "ruff", "format", "--check", ".", external=True)
    session.run(str(PYTHON), "-m", "mypy", external=True)
    session.run(str(PYTHON), "-m", "pytest", "-m", "not real and not trainer and not arbiter", *session.posargs, external=True)


@nox.session(name="tests-real", venv_backend="none", default=False)
def tests_real(session):
    """Real frameworks: the newest version of each."""
    harness_environment(session)
    build_columns(session, ["newest"])
    session.run(str(PYTHON), "-m", "pytest", "-m", "real", *session.posargs, external=True)


@nox.session(name="tests-trainer", venv_backend="none", default=False)
def tests_trainer(session):
    """The reference trainer: its own environment with torch; all of it, the slow tests too: -- -m trainer."""
    python, files = locked(session, HERE / ".nox" / "trainer", "trainer"), sorted(map(str, Path("tests").glob("test_trainer_*.py")))
    session.run(python, "-m", "pytest", "-m", "trainer and not slow", *session.posargs, *files, external=True, env={"OMP_NUM_THREADS": "1"})


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


def build_columns(session, patterns):
    for column in pins.select(COLUMNS, patterns):
        arguments = ["build", column.id]
        if column.language == "python":
            arguments += ["--venv", str(make_venv(session, f"cells-{column.id}".replace(".", "-"), column.python))]
        harness(session, *arguments, ok=(0,))


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
    EXITS.parent.mkdir(exist_ok=True)
    EXITS.write_text("")
    try:
        nox.main()
    except SystemExit as done:
        said = set(EXITS.read_text().split()) if EXITS.exists() else set()
        EXITS.unlink(missing_ok=True)
        sys.exit(next((int(code) for code in ("130", "5", "1", "4", "3", "2") if code in said), done.code))


if __name__ == "__main__":
    main()
