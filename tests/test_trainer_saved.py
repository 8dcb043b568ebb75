"""What a checkpoint holds, that no damage to it is ever read, and that nothing which could change a bit of what follows passes unjudged."""

import dataclasses
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trainer_run import Text, short  # noqa: E402

from trainer import checkpoint, device, optim, step, store  # noqa: E402
from trainer import train as loop  # noqa: E402

pytestmark = pytest.mark.trainer


def saved_twice(folder):
    run = step.begin(short(steps=4), Text(), device.Place(device=torch.device("cpu"), rank=0, world=1))
    for _ in range(2):
        step.one_step(run)
        loop.save(run, folder)
    return run


def test_any_damaged_region_of_any_file_falls_back_to_the_previous_good_one(tmp_path):
    run = saved_twice(tmp_path)
    newest, _ = store.folders(tmp_path / "checkpoints")
    assert {p.name for p in newest.iterdir()} == {
        "MANIFEST",
        "optimizer.safetensors",
        "rng.safetensors",
        "state.json",
        "weights.safetensors",
    }
    for path in sorted(newest.iterdir()):
        data = path.read_bytes()
        for at in (*range(0, len(data), max(1, len(data) // 12)), len(data) - 1):
            path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
            said = []
            found = checkpoint.resume(tmp_path / "checkpoints", run.model, run.optimizers, run.config, run.data, say=said.append)
            assert found.step == 1, (path.name, at)
            assert said[0].startswith(f"passing over {newest.name}: {path.name} "), (path.name, at)
        path.write_bytes(data)
    assert checkpoint.resume(tmp_path / "checkpoints", run.model, run.optimizers, run.config, run.data, say=lambda _: None).step == 2


def test_safetensors_alone_would_have_loaded_the_damage(tmp_path):
    """Why there is a manifest."""
    from safetensors.torch import load

    run = saved_twice(tmp_path)
    data = bytearray((store.folders(tmp_path / "checkpoints")[0] / "weights.safetensors").read_bytes())
    data[-5] ^= 4
    loaded = load(bytes(data))
    assert any(not torch.equal(loaded[name], p) for name, p in run.model.named_parameters())


def test_no_good_checkpoint_is_an_error_and_not_a_fresh_start(tmp_path):
    run = saved_twice(tmp_path)
    for folder in store.folders(tmp_path / "checkpoints"):
        (folder / "state.json").unlink()
    with pytest.raises(ValueError, match="no good checkpoint"):
        checkpoint.resume(tmp_path / "checkpoints", run.model, run.optimizers, run.config, run.data, say=lambda _: None)


def test_all_of_the_state_is_saved(tmp_path):
    run = saved_twice(tmp_path)
    saved = checkpoint.optimizer_state(run.model, run.optimizers)
    names = {name for name, _ in run.model.named_parameters()}
    muon = set(optim.by_role(run.model, run.config)["muon"])
    assert saved.keys() == {f"muon/{n}/momentum_buffer" for n in muon} | {
        f"adamw/{n}/{k}" for n in names - muon for k in ("step", "exp_avg", "exp_avg_sq")
    }
    assert checkpoint.weights(run.model).keys() == names


def test_every_generator_goes_on(tmp_path):
    """Torch's, NumPy's and Python's: the trainer draws from the first alone, but what is built on it may draw from all."""
    run = saved_twice(tmp_path)

    def drawn():
        return random.random(), float(np.random.rand()), float(torch.rand(()))  # noqa: NPY002  the global one is what is saved

    wanted = drawn()
    assert drawn() != wanted
    at = checkpoint.resume(tmp_path / "checkpoints", run.model, run.optimizers, run.config, run.data, say=lambda _: None)
    assert drawn() == wanted
    assert (at.step, at.tokens_seen) == (2, run.tokens_seen)


def test_checking_that_processes_agree_draws_nothing_and_no_checkpoint_is_a_fresh_start(tmp_path):
    run = saved_twice(tmp_path)
    before = torch.get_rng_state()
    assert device.Place(device=torch.device("cpu"), rank=0, world=1).alike(3)
    assert torch.equal(torch.get_rng_state(), before)
    assert checkpoint.resume(tmp_path / "none", run.model, run.optimizers, run.config, run.data, say=lambda _: None) is None


CHANGED = {
    "head": "tied",
    "optimizer": "adamw",
    "decay": "linear",
    "device": "cuda",
    "dtype": "bfloat16",
    "stream": "bfloat16",
    "resume": "inexact",
}
WHAT_WEIGHTS_MEAN = {"vocab_size", "layers", "width", "heads", "kv_heads", "ffn", "rope_base", "head", "scales"}
PLACES_PRICES_AND_HOW_OFTEN = {
    "preset",
    "data",
    "out",
    "progress",
    "resume",
    "save_every",
    "keep",
    "held_out_every",
    "held_out_batches",
} | {
    "max_skips",
    "peak_tflops",
    "measure_peak",
    "dollars_per_hour",
}
JUDGED_BY_WHAT_WAS_USED = {"threads"}


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(short())])
def test_every_option_is_judged(name):
    """A new option is part of an exact resume until somebody says, here too, that it cannot change a bit."""
    config = short(vocab_size=61)
    value = getattr(config, name)
    changed = CHANGED.get(name, not value if isinstance(value, bool) else value * 2 + 2 if isinstance(value, int | float) else value + "x")
    object.__setattr__(other := dataclasses.replace(config), name, changed)  # past the checks: one option alone may be impossible
    data = checkpoint.Data(tokenizer="t", tokens="d")
    state = {
        "format": 1,
        "config": dataclasses.asdict(config),
        "data": dataclasses.asdict(data),
        "environment": checkpoint.environment(config),
    }

    def asked(resume):
        object.__setattr__(other, "resume", resume if name != "resume" else changed)
        said = []
        checkpoint._refuse_differences(state, other, data, said.append)
        return said

    if name == "device":
        return  # asking the other device for its name needs one
    if name in PLACES_PRICES_AND_HOW_OFTEN | JUDGED_BY_WHAT_WAS_USED:
        assert asked("exact") == []
    elif name in WHAT_WEIGHTS_MEAN:
        for resume in ("exact", "inexact"):
            with pytest.raises(ValueError, match=f"another model: {name} "):
                asked(resume)
    else:
        with pytest.raises(ValueError, match=f"since the checkpoint: {name} "):
            asked("exact")
        assert asked("inexact")[0].startswith(f"not a bitwise resume: {name} ")


@pytest.mark.parametrize("what", ["torch", "python", "numpy", "cuda", "chip", "threads", "processes", "compile", "deterministic"])
def test_every_part_of_the_environment_is_judged(what):
    config, data = short(vocab_size=61), checkpoint.Data(tokenizer="t", tokens="d")
    then = checkpoint.environment(config) | {what: "another"}
    state = {"format": 1, "config": dataclasses.asdict(config), "data": dataclasses.asdict(data), "environment": then}
    with pytest.raises(ValueError, match=f"since the checkpoint: {what} another -> "):
        checkpoint._refuse_differences(state, config, data, lambda _: None)


@pytest.mark.parametrize("change", [{"format": 2}, {"config": {**dataclasses.asdict(short()), "later": 1}}])
def test_a_checkpoint_of_another_version_is_refused(change):
    state = {"format": 1, "config": dataclasses.asdict(short())} | change
    with pytest.raises(ValueError, match=r"a checkpoint of format 2|with unknown options: later"):
        checkpoint.refuse_other_format(state)
