"""Where a run happens: the command's exits, Ctrl-C, compilation that is real, several processes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import trainer_run  # noqa: E402
from trainer_run import Text, short  # noqa: E402

from trainer import device, step  # noqa: E402
from trainer import train as loop  # noqa: E402

pytestmark = pytest.mark.trainer
ROOT = Path(__file__).resolve().parent.parent


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


def test_ctrl_c_saves_after_the_step_and_the_handlers_are_put_back(tmp_path, monkeypatch):
    one_step, before = loop.one_step, signal.getsignal(signal.SIGINT)

    def pressed(run):
        if run.step == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return one_step(run)

    monkeypatch.setattr(loop, "one_step", pressed)
    said = []
    run = loop.train(short(out=str(tmp_path)), Text(), say=said.append)
    assert run.interrupted
    assert run.step == 5
    assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["save_000001_step_00000005"]
    assert said[-1] == "interrupted after 5 steps; saved: the same command goes on from there"
    assert signal.getsignal(signal.SIGINT) is before


def test_threads_and_determinism_are_put_back():
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled(), torch.utils.deterministic.fill_uninitialized_memory
    with device.entered(short(threads=before[0] + 1)):
        assert torch.get_num_threads() == before[0] + 1
        assert torch.are_deterministic_algorithms_enabled()
    assert (
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,
    ) == before


@pytest.mark.parametrize("how", ["TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE", "stance"])
def test_a_compile_that_did_nothing_is_an_error(monkeypatch, how):
    import torch._dynamo

    if how == "TORCHDYNAMO_DISABLE":
        monkeypatch.setenv(how, "1")
    disabled = how == "TORCH_COMPILE_DISABLE"  # read from the environment at import
    stance = "force_eager" if how == "stance" else "default"
    with (
        torch._dynamo.config.patch(disable=disabled),
        torch.compiler.set_stance(stance),
        pytest.raises(device.NotCompiled, match="would be eager"),
    ):
        loop.train(short(compile=True), Text(), say=lambda _: None)


def test_one_variant_too_many_and_a_graph_break_are_errors():
    import torch._dynamo

    torch._dynamo.reset()
    with torch._dynamo.config.patch(recompile_limit=2, fail_on_recompile_limit_hit=False):
        objective = device.compiled(step.Objective(step.LM(short(vocab_size=61))), backend="eager")
        before = device.graphs()
        for length in (9, 10):
            objective(torch.zeros(1, length, dtype=torch.int64))
        assert device.graphs() == before + 2
        device.assert_compiled(before)
        with pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit):
            objective(torch.zeros(1, 11, dtype=torch.int64))

        class Breaks(torch.nn.Module):
            def forward(self, x):
                torch._dynamo.graph_break()
                return x

        with pytest.raises(torch._dynamo.exc.Unsupported):
            device.compiled(Breaks(), backend="eager")(torch.ones(1))


@pytest.mark.slow
def test_compiled_the_losses_are_near_the_eager_ones():
    eager = loop.train(short(dropout=0.0), Text(), say=lambda _: None)
    compiled = loop.train(short(dropout=0.0, compile=True), Text(), say=lambda _: None)
    # float32 sums in another order; twelve steps of Muon amplify a rounding of 6e-8 a few hundredfold
    assert compiled.losses == pytest.approx(eager.losses, rel=1e-4)
    assert compiled.losses != eager.losses  # and it is another program: were it equal to the bit, nothing was compiled


def torchrun(processes, result, *argv):
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc_per_node={processes}",
        trainer_run.__file__,
        result,
        *argv,
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(list(map(str, command)), cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == (1 if "--stop" in argv else 0), run.stderr  # torchrun's own: 1, whatever a process leaves with
    return json.loads(result.read_text()) if result.exists() else {}


def floats(run, what="losses"):
    return [float.fromhex(text) for text in run[what]]


# Rounding differs, 6e-8. AdamW divides it by gradients near zero; Newton-Schulz in float32 multiplies it by up to 3.4445^5 = 485 in the directions of the
# smallest singular values, 3e-5 of an update that is lr = 0.02 of the weights: 5e-6 after eight steps. Measured: 5e-8 either way.
PARITY = {"adamw": 1e-5, "muon": 1e-5}


@pytest.mark.parametrize("optimizer", ["adamw", pytest.param("muon", marks=pytest.mark.slow)])
def test_two_processes_do_what_one_does_with_twice_the_accumulation(tmp_path, optimizer):
    rel = PARITY[optimizer]
    argv = ["--optimizer", optimizer, "--dropout", "0.0", "--steps", 8, "--out"]
    one = trainer_run.result(loop.train(short(optimizer=optimizer, dropout=0.0, steps=8, accumulate=4), Text(), say=lambda _: None))
    two = torchrun(2, tmp_path / "two.json", *argv, tmp_path / "two", "--accumulate", 2)
    assert floats(two)[0] == pytest.approx(floats(one)[0], rel=1e-6)
    assert floats(two, "norms")[0] == pytest.approx(floats(one, "norms")[0], rel=1e-6)
    for what in ("losses", "norms"):
        assert floats(two, what) == pytest.approx(floats(one, what), rel=rel)
    # the comparison can fail: the same processes on half the data of a step are another run
    half = trainer_run.result(loop.train(short(optimizer=optimizer, dropout=0.0, steps=8, accumulate=2), Text(), say=lambda _: None))
    assert floats(half) != pytest.approx(floats(one), rel=100 * rel)
    lines = (tmp_path / "two" / "log.jsonl").read_text().splitlines()
    assert sum('"event": "step"' in line for line in lines) == 8  # written by one process


@pytest.mark.slow
def test_two_processes_resume_to_the_bit_with_their_own_generators(tmp_path):
    argv = ["--dropout", "0.2", "--steps", 10, "--out"]
    straight = torchrun(2, tmp_path / "a.json", *argv, tmp_path / "a")
    torchrun(2, tmp_path / "b.json", *argv, tmp_path / "b", "--stop", 4)
    assert [p.name for p in (tmp_path / "b" / "checkpoints").iterdir()] == ["save_000001_step_00000004"]
    continued = torchrun(2, tmp_path / "c.json", *argv, tmp_path / "b")
    assert continued["from"] == 4
    assert continued["losses"] == straight["losses"][4:]
    assert all(continued[what] == straight[what] for what in ("weights", "optimizer"))
