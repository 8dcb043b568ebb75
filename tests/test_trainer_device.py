"""Where a run happens: the command's exits, Ctrl-C, compilation that is real, several processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import trainer_ranks  # noqa: E402
import trainer_run  # noqa: E402
from trainer_run import Text, short  # noqa: E402

from trainer import device, step  # noqa: E402
from trainer import train as loop  # noqa: E402

pytestmark = pytest.mark.trainer
ROOT = Path(__file__).resolve().parent.parent


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


ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "error::FutureWarning:trainer"}


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """Scenario -> what each of two processes says."""
    folder = tmp_path_factory.mktemp("ranks")
    # Who starts the processes holds their stores, as torchrun does: no port is chosen that another could take meanwhile.
    stores = [torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False) for _ in trainer_ranks.SCENARIOS]
    command = [sys.executable, trainer_ranks.__file__, str(folder), *(str(store.port) for store in stores)]
    shared = {**ENVIRONMENT, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_USE_AGENT_STORE": "True"}
    started = [subprocess.Popen(command, cwd=ROOT, env={**shared, "RANK": rank}, stderr=subprocess.PIPE, text=True) for rank in ("0", "1")]
    for run in started:
        _, stderr = run.communicate(timeout=600)
        assert run.returncode == 0, stderr
    names = [scenario.__name__ for scenario in trainer_ranks.SCENARIOS]
    return folder, {name: [json.loads((folder / f"{name}-{rank}.json").read_text()) for rank in (0, 1)] for name in names}


def floats(run, what="losses"):
    return [float.fromhex(text) for text in run[what]]


def test_two_processes_do_what_one_does_with_twice_the_accumulation(ranks):
    """On rows of many lengths, so that a mean of the processes' means would be another number."""
    folder, found = ranks
    two = found["parity"][0]

    def alone(accumulate):
        chosen = short(dropout=0.0, optimizer="adamw", steps=8, accumulate=accumulate)
        return trainer_run.result(loop.train(chosen, trainer_run.Ragged(), say=lambda _: None))

    wanted = alone(4)
    for what in ("losses", "norms"):
        assert floats(two, what)[0] == pytest.approx(floats(wanted, what)[0], rel=1e-6)
        assert floats(two, what) == pytest.approx(floats(wanted, what), rel=PARITY["adamw"])
    # the comparison can fail: the same processes on half the data of a step are another run
    assert floats(alone(2)) != pytest.approx(floats(wanted), rel=100 * PARITY["adamw"])
    assert found["parity"][1] == two  # to the bit: else the weights of the processes drift apart
    lines = (folder / "parity" / "log.jsonl").read_text().splitlines()
    assert sum('"event": "step"' in line for line in lines) == 8  # written by one process


def test_a_gradient_that_is_not_finite_in_one_process_is_skipped_by_both(ranks):
    for run in ranks[1]["skip"]:
        assert [bool(reason) for reason in run["skipped"]] == [False, False, False, True, False, False]
        assert "layers.0.ffn.up.weight" in run["skipped"][3]
        assert run["weights"] == ranks[1]["skip"][0]["weights"]


def test_one_interrupted_process_stops_both_after_the_same_step(ranks):
    assert ranks[1]["interrupt"] == [{"step": 3, "interrupted": True}] * 2
    assert [p.name for p in (ranks[0] / "interrupt" / "checkpoints").iterdir()] == ["save_000001_step_00000003"]


def test_processes_with_different_checkpoints_are_refused(ranks):
    for rank, said in enumerate(ranks[1]["apart"]):
        assert f"process {rank} would begin at step {2 - 2 * rank}, others elsewhere" in said["refused"]


def torchrun(processes, result, *argv, **environment):
    flags = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
    command = [sys.executable, *flags, trainer_run.__file__, result, *argv]
    run = subprocess.run(
        list(map(str, command)), cwd=ROOT, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, timeout=600, check=False
    )
    if environment:
        return run
    assert run.returncode == (1 if "--stop" in argv else 0), run.stderr  # torchrun's own: 1, whatever a process leaves with
    return json.loads(result.read_text()) if result.exists() else {}


# Rounding differs, 6e-8. AdamW divides it by gradients near zero; Newton-Schulz in float32 multiplies it by up to 3.4445^5 = 485 in the directions of the
# smallest singular values, 3e-5 of an update that is lr = 0.02 of the weights: 5e-6 after eight steps. Measured: 5e-8 either way.
PARITY = {"adamw": 1e-5, "muon": 1e-5}


@pytest.mark.slow
def test_under_torchrun_muon_does_what_one_process_does_with_twice_the_accumulation(tmp_path):
    argv = ["--dropout", "0.0", "--steps", 8, "--out", tmp_path / "two", "--accumulate", 2]
    two = torchrun(2, tmp_path / "two.json", *argv)
    wanted = trainer_run.result(loop.train(short(dropout=0.0, steps=8, accumulate=4), Text(), say=lambda _: None))
    for what in ("losses", "norms"):
        assert floats(two, what)[0] == pytest.approx(floats(wanted, what)[0], rel=1e-6)
        assert floats(two, what) == pytest.approx(floats(wanted, what), rel=PARITY["muon"])


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


@pytest.mark.slow
def test_two_processes_compile_and_a_fall_back_to_eager_is_an_error_there_too(tmp_path):
    argv = ["--dropout", "0.0", "--steps", 3, "--compile", "true", "--out", tmp_path / "run"]
    compiled = torchrun(2, tmp_path / "compiled.json", *argv)
    wanted = trainer_run.result(loop.train(short(dropout=0.0, steps=3, accumulate=4), Text(), say=lambda _: None))
    assert floats(compiled) == pytest.approx(floats(wanted), rel=1e-5)
    fell_back = torchrun(2, tmp_path / "eager.json", *argv[:-1], tmp_path / "other", TORCHDYNAMO_DISABLE="1")
    assert fell_back.returncode == 1
    assert "the run would be eager" in fell_back.stderr


@pytest.mark.slow
def test_ctrl_c_to_torchrun_saves(tmp_path):
    """torchrun passes it on, once, and waits."""
    flags = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    argv = [trainer_run.__file__, tmp_path / "r.json", "--steps", 100_000, "--out", tmp_path / "run", "--save_every", 5]
    run = subprocess.Popen([sys.executable, *flags, *map(str, argv)], cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    checkpoints, end = tmp_path / "run" / "checkpoints", time.monotonic() + 300
    while not (checkpoints.is_dir() and any(checkpoints.glob("save_*"))):
        assert run.poll() is None
        assert time.monotonic() < end
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=300)
    assert run.returncode != 0
    assert "saved: the same command goes on from there" in stderr
    at = int(stderr.split("interrupted after ")[1].split()[0])
    assert max(path.name for path in checkpoints.iterdir()).endswith(f"step_{at:08d}")
