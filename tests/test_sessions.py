"""What the nox sessions share: a missing interpreter becomes error records, and of many exit statuses the worst is told."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness import doctor, pins, sessions
from harness.pins import Column


@pytest.fixture(autouse=True)
def own_environment(monkeypatch, tmp_path):
    """`prepare` changes variables, and exit statuses are kept in a file."""
    monkeypatch.setenv("UV", "uv")
    monkeypatch.setenv("PYENV_VERSION", "")
    monkeypatch.setattr(sessions, "EXITS", tmp_path / "exits")


@pytest.fixture
def asked(monkeypatch):
    """The arguments of every call of the harness, which is not run."""
    calls = []
    monkeypatch.setattr(sessions, "harness", lambda session, *arguments, ok: calls.append(arguments))
    return calls


def column(**more):
    return Column(**{"framework": "fake", "version": "1.0", "language": "python", "python": "3.99"} | more)


def test_an_interpreter_is_there_or_not():
    assert sessions.has_python(column(python="{}.{}".format(*sys.version_info)))
    assert not sessions.has_python(column())
    assert not sessions.has_python(column(language="rust", python=""))


def test_without_uv_only_the_running_interpreter_is_there(monkeypatch):
    monkeypatch.setattr(sessions, "UV", "/no/such/uv")
    assert not sessions.has_python(column())


def test_every_pyenv_version_is_selected_the_running_one_first(monkeypatch, tmp_path):
    running = ".".join(map(str, sys.version_info[:3]))
    for version in ("2.7.18", "3.10.13", running, "3.99.0"):
        (tmp_path / "versions" / version / "bin").mkdir(parents=True)
        (tmp_path / "versions" / version / "bin" / "python").touch()
    (tmp_path / "versions" / "3.98.0").mkdir()  # an installation that was not finished
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    sessions.prepare()
    selected = sessions.os.environ["PYENV_VERSION"].split(":")
    assert selected[0] == running
    assert sorted(selected) == sorted(["3.10.13", running, "3.99.0"])


def test_a_column_is_built_in_its_environment_or_told_missing(asked):
    sessions.build(None, column(), "venv", torch_backend="cpu")
    sessions.build(None, column(), None)
    sessions.build(None, column(local="/checkout"), "venv")
    sessions.build(None, column(language="rust"), None)
    assert asked == [
        ("build", "fake-1.0", "--venv", "venv", "--torch-backend", "cpu"),
        ("build", "fake-1.0", "--missing"),
        ("build", "fake", "--local", "/checkout", "--venv", "venv"),
        ("build", "fake-1.0"),
    ]


@pytest.mark.parametrize(
    ("codes", "told"), [((0, 3, 1), 1), ((4, 0, 5), 5), ((3, 4), 4), ((2,), 2), ((130, 5), 130), ((0, 0), "nox's"), ((), "nox's")]
)
def test_the_worst_exit_status_is_told(codes, told):
    for code in codes:
        sessions.said(code)
    assert sessions.worst("nox's") == told
    assert not sessions.EXITS.exists()


def test_a_harness_that_fails_ends_its_session(monkeypatch):
    def failed(text):
        raise RuntimeError(text)

    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: SimpleNamespace(poll=lambda: 0, returncode=5))
    with pytest.raises(RuntimeError, match="python -m harness run --columns ended with 5"):
        sessions.harness(SimpleNamespace(error=failed), "run", "--columns", "fake-1.0")
    assert sessions.worst(0) == 5


def test_doctor_tells_a_missing_interpreter(fakes):
    fakes.pins.write_text(fakes.pins.read_text().replace('"2.0" = {}', '"2.0" = { python = "3.99" }\n"3.0" = { python = "3.99" }'))
    lines = {what: (state, detail) for what, state, detail in doctor.examine(fakes)}
    assert lines["Python 3.99"][0] == "missing"
    for words in (
        "found:   no Python 3.99 for fake-2.0",
        "wanted:  Python 3.99",
        "do this: install it (pyenv install 3.99",
        "and for 1 more",
    ):
        assert words in lines["Python 3.99"][1]
    assert {c.python for c in pins.read(fakes.pins)} == {"3.11", "3.99"}


@pytest.mark.parametrize("name", ["", "chromium", "google-chrome"])
def test_the_browser_is_the_machines_own_or_none(monkeypatch, tmp_path, name):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    if name:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    assert sessions.chromium() == (str(tmp_path / name) if name else "")
    monkeypatch.setenv("CHROMIUM", "/opt/own")
    assert sessions.chromium() == "/opt/own"
