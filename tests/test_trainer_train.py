"""The loop: the command's exits, Ctrl-C, checkpoints when they are due, a run that was killed, a disk that is full."""

import contextlib
import dataclasses
import errno
import os
import re
import signal
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from trainer_run import Text, result, short  # noqa: E402

from trainer import data, device, log, step, store  # noqa: E402
from trainer import train as loop  # noqa: E402

pytestmark = pytest.mark.trainer


def train(tmp_path, **changes):
    return loop.train(short(out=str(tmp_path), **changes), Text(), say=lambda _: None)


def saved(tmp_path):
    return sorted(path.name for path in (tmp_path / "checkpoints").iterdir())


def at_step(monkeypatch, number, happens):
    """Something happens before the step is done."""
    one_step = loop.one_step

    def stepping(run):
        if run.step == number:
            happens(run)
        return one_step(run)

    monkeypatch.setattr(loop, "one_step", stepping)


def test_cuda_without_a_gpu_is_an_error(capsys):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    assert loop.main(["--preset", "paper", "--out", ""]) == 4
    assert capsys.readouterr().err.startswith("error: no GPU")


def test_a_wrong_command_is_refused_without_a_traceback(capsys):
    assert loop.main(["--stepz", "3"]) == 2
    assert capsys.readouterr().err.startswith("found:   --stepz")


def test_help(capsys):
    assert loop.main(["--help"]) == 0
    assert "--muon_lr" in capsys.readouterr().out


def test_the_bar_counts_the_steps_and_says_where_the_run_is(capsys):
    loop.train(short(progress=True), Text(), say=lambda _: None)
    out, err = capsys.readouterr()
    assert out == ""
    assert "12/12" in err
    assert re.search(r"loss \d\.\d{3}", err)
    assert "tokens/s" in err


def press(number=signal.SIGINT):
    return lambda _run: os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_after_the_step_and_the_handlers_are_put_back(tmp_path, monkeypatch, number):
    before = signal.getsignal(number)
    at_step(monkeypatch, 4, press(number))
    said = []
    run = loop.train(short(out=str(tmp_path)), Text(), say=said.append)
    assert run.interrupted
    assert run.step == 5
    assert saved(tmp_path) == ["save_000001_step_00000005"]
    assert said[-1] == "interrupted after 5 steps; saved: the same command goes on from there"
    assert signal.getsignal(number) is before


def test_a_second_ctrl_c_does_not_wait(tmp_path, monkeypatch):
    at_step(monkeypatch, 4, lambda run: [press()(run), press()(run)])
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


def test_the_exits_of_the_command(folder, tmp_path, monkeypatch, capsys):
    argv = ["--data", str(folder), "--progress", "false", "--steps", "4", "--out"]
    assert loop.main([*argv, str(tmp_path / "done")]) == 0
    with monkeypatch.context() as patch:
        at_step(patch, 2, press())
        assert loop.main([*argv, str(tmp_path / "stopped")]) == 130
    assert loop.main([*argv, str(tmp_path / "stopped")]) == 0
    with monkeypatch.context() as patch:
        patch.setattr(step, "why_skip", lambda *_: "this test says so")
        assert loop.main([*argv, str(tmp_path / "gave up"), "--max_skips", "2"]) == 1
    assert "2 steps in a row skipped" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert loop.main([*argv, str(tmp_path / "file" / "below")]) == 1
    said = capsys.readouterr().err
    assert "Not a directory" in said
    assert "do this:" in said
    assert loop.main(["--data", str(tmp_path), "--out", ""]) == 2


def test_checkpoints_are_written_when_due_and_so_many_are_kept(tmp_path):
    train(tmp_path, save_every=5, keep=2)
    assert saved(tmp_path) == ["save_000002_step_00000010", "save_000003_step_00000012"]
    again = train(tmp_path / "never", save_every=0)
    assert saved(tmp_path / "never") == ["save_000001_step_00000012"]
    assert again.step == 12


def test_a_killed_run_goes_on_from_its_last_checkpoint_without_a_gap_or_a_double(tmp_path, monkeypatch):
    straight = train(tmp_path / "straight")

    def kill(_run):
        raise SystemError("as a kill: nothing is saved")

    with monkeypatch.context() as patch:
        at_step(patch, 7, kill)
        with pytest.raises(SystemError):
            train(tmp_path / "killed", save_every=4)
    assert saved(tmp_path / "killed") == ["save_000001_step_00000004"]
    continued = train(tmp_path / "killed", save_every=4)
    assert result(continued)["from"] == 4
    assert all(result(continued)[what] == result(straight)[what] for what in ("weights", "optimizer"))
    assert continued.tokens_seen == straight.tokens_seen == 12 * 2 * 2 * 24
    lines = [[line for line in log.read(tmp_path / name / "log.jsonl") if line["event"] == "step"] for name in ("straight", "killed")]
    for line in (line for of in lines for line in of):
        for figure in [key for key in line if key == "seconds" or "tokens_per_s" in key or "dollars" in key]:
            del line[figure]
    assert lines[0] == lines[1]


def test_nothing_is_saved_on_schedule_after_a_skipped_step(tmp_path, monkeypatch):
    """Weights that became NaN make every later step a skipped one: saving those would push the last good checkpoint out."""

    def spoil(run):
        with torch.no_grad():
            run.model.norm.weight[0] = torch.nan

    at_step(monkeypatch, 5, spoil)
    with pytest.raises(loop.GaveUp):
        train(tmp_path, save_every=1, keep=1, max_skips=3)
    assert saved(tmp_path) == ["save_000005_step_00000005"]


def test_a_full_disk_keeps_the_previous_checkpoint_and_is_said(tmp_path, monkeypatch, folder, capsys):
    sync = os.fsync

    def full(descriptor):
        if store.folders(tmp_path / "checkpoints") and Path(f"/proc/self/fd/{descriptor}").readlink().name.startswith("optimizer"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    argv = ["--data", str(folder), "--out", str(tmp_path), "--steps", "6", "--save_every", "2", "--progress", "false"]
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert loop.main(argv) == 1
    said = capsys.readouterr().err
    assert "No space left on device (a checkpoint of " in said
    assert "do this: make room" in said
    assert saved(tmp_path) == ["save_000001_step_00000002"]  # and what was written of the next one is gone
    assert loop.main(argv) == 0
    assert "going on from save_000001_step_00000002" in capsys.readouterr().err
    assert saved(tmp_path)[-1] == "save_000003_step_00000006"


def test_only_the_first_process_speaks_and_writes_the_log(tmp_path, monkeypatch, capsys):
    entered = device.entered

    @contextlib.contextmanager
    def second(config):
        with entered(config) as place:
            yield dataclasses.replace(place, rank=1)

    monkeypatch.setattr(device, "entered", second)
    run = loop.train(short(out=str(tmp_path), steps=2, progress=True), Text(), say=pytest.fail)
    assert (run.place.rank, run.step) == (1, 2)
    assert not (tmp_path / "log.jsonl").exists()
    assert capsys.readouterr() == ("", "")


def test_processes_that_would_begin_at_different_steps_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(device.Place, "alike", lambda _self, value: value == 0)
    train(tmp_path, steps=3)
    with pytest.raises(ValueError, match="process 0 would begin at step 3, others elsewhere"):
        train(tmp_path, steps=3)
