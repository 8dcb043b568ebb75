"""exact_resume catches every resume fault of the trainer in process, the same by command in any language, and accuses no run that goes on to the bit."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gradarbiter import __main__ as cli
from gradarbiter.resume_processes import exact_resume_of_command, losses, tensors, words
from gradarbiter.runs.exact_resume import exact_resume

pytestmark = pytest.mark.arbiter
ROOT = Path(__file__).parent.parent


def quiet(*args, **options):
    return exact_resume(*args, say=lambda _: None, **options)


def kinds(result):
    return {f.kind for f in result.accusations}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from trainer import data

    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


class TrainerRun:
    def __init__(self, twin, place, resume):
        from trainer import checkpoint

        self.run, self.checkpoint = twin.begin(place), checkpoint
        if resume is not None:
            r = self.run
            at = checkpoint.resume(resume, r.model, r.optimizers, r.config, r.data, say=lambda _: None)
            r.step, r.tokens_seen = at.step, at.tokens_seen

    def step(self):
        from trainer import step

        return step.one_step(self.run).loss

    def save(self, folder):
        r = self.run
        at = self.checkpoint.Position(step=r.step, tokens_seen=r.tokens_seen)
        self.checkpoint.save(folder, at, r.model, r.optimizers, r.config, r.data)

    def state(self):
        r = self.run
        both = {**self.checkpoint.weights(r.model), **self.checkpoint.optimizer_state(r.model, r.optimizers)}
        return {name: tensor.numpy().copy() for name, tensor in both.items()}


def of_trainer(folder, *, flips=0, **options):
    from trainer import device
    from trainer.faults.twin import Twin

    twin = Twin(folder=folder, options={"steps": 9, "warmup": 2, **options})
    with device.entered(twin.config) as place:
        return quiet(lambda resume: TrainerRun(twin, place, resume), flips=flips)


@pytest.mark.parametrize("options", [{}, {"dropout": 0.3}, {"optimizer": "adamw"}, {"dtype": "bfloat16"}], ids=str)
def test_healthy_trainer(folder, options):
    result = of_trainer(folder, flips=8, **options)
    assert result.status == "ok", result


FAULTS = {  # fault -> the tensor that is named, if its state is wrong before any step
    "resume_without_optimizer": "muon/layers.0.attention.query.weight/momentum_buffer",
    "resume_step_counter_reset": "adamw/embedding.weight/step",
    "resume_states_misordered": "muon/layers.0.ffn.gate.weight/momentum_buffer",
    "resume_partial_weights": "layers.0.attention_norm.weight",
    "resume_weights_rounded": "embedding.weight",
    "resume_without_scheduler": None,
    "resume_without_data_position": None,
    "resume_off_by_one": None,
    "resume_without_generators": None,
    "checkpoint_unverified": None,
}


@pytest.mark.parametrize("name", FAULTS)
def test_trainer_fault(folder, name):
    from trainer import faults

    damaged = name == "checkpoint_unverified"
    with faults.plant(name):
        result = of_trainer(folder, flips=8 if damaged else 0, **faults.CATALOGUE[name].options)
    assert result.status == "fail", result
    assert kinds(result) == ({"damage read"} if damaged else {"not restored", "another loss"} if FAULTS[name] else {"another loss"})
    if FAULTS[name]:
        assert FAULTS[name] in [f.parameter for f in result.accusations]


def test_every_resume_fault_is_in_the_table():
    from trainer import faults

    assert {f.name for f in faults.CATALOGUE.values() if f.layer == "resume"} == FAULTS.keys()


def test_a_first_loss_proves_nothing(folder):
    from trainer import faults

    with faults.plant("resume_without_optimizer"):
        result = of_trainer(folder)
    found = next(f for f in result.accusations if f.kind == "another loss")
    assert found.parameter == "step 4"
    assert "the first loss after the resume is right to the bit" in found.text
    assert "is missing" in next(f for f in result.accusations if f.kind == "not restored").text


def test_what_happened_to_a_tensor_is_said(folder):
    from trainer import faults

    said = {}
    for name in ("resume_states_misordered", "resume_weights_rounded", "resume_step_counter_reset"):
        with faults.plant(name):
            said[name] = next(f.text for f in of_trainer(folder).accusations if f.kind == "not restored")
    assert "holds what muon/layers.0.ffn.up.weight/momentum_buffer had" in said["resume_states_misordered"]
    assert "was rounded to bfloat16" in said["resume_weights_rounded"]
    assert "is all zero" in said["resume_step_counter_reset"]


class Toy:
    """Momentum on one number, with numbers drawn from a generator."""

    def __init__(self, resume, defect=""):
        self.at, self.w, self.v, self.defect = 0, np.ones(3), np.zeros(3), defect
        self.random = np.random.default_rng(None if defect == "unseeded" else 0)
        if resume is not None and defect != "starts again":
            kept = json.loads((resume / "state.json").read_text())
            self.at, self.w, self.v = kept["at"], np.array(kept["w"]), np.array(kept["v"])
            self.random.bit_generator.state = kept["random"]

    def step(self):
        self.v = 0.9 * self.v + self.w + 0.01 * self.random.normal(size=3)
        self.w = self.w - 0.1 * self.v
        self.at += 1
        return float((self.w**2).sum())

    def save(self, folder):
        if self.defect == "save disturbs":
            self.random.normal()
        kept = {"at": self.at, "w": self.w.tolist(), "v": self.v.tolist(), "random": self.random.bit_generator.state}
        (folder / "state.json").write_text(json.dumps(kept))

    def state(self):
        return {"w": self.w.copy(), "v": self.v.copy()}


def test_a_save_that_disturbs_is_told_from_a_run_that_does_not_repeat_itself():
    assert quiet(Toy).status == "ok"
    assert kinds(quiet(lambda resume: Toy(resume, "save disturbs"))) == {"save disturbs"}
    unseeded = quiet(lambda resume: Toy(resume, "unseeded"))
    assert unseeded.status == "not asked"
    assert "not deterministic" in unseeded.reason


def test_a_run_that_begins_again_is_said_to():
    result = quiet(lambda resume: Toy(resume, "starts again"))
    assert "they are those from step 0 on" in next(f.text for f in result.accusations if f.kind == "another loss")


def test_text_that_is_not_verified_takes_another_digit():
    assert kinds(quiet(Toy, flips=3)) == {"damage read"}


def test_fewer_than_five_steps_are_refused():
    with pytest.raises(ValueError, match=r"found: .*\nwanted: .*\ndo this: "):
        quiet(Toy, after=4)


@pytest.fixture
def command():
    def of(defect="", *, stop=True):
        words = [sys.executable, str(ROOT / "tests" / "resume_run.py"), "--steps {steps} --save {save} [--resume {resume}] --log {log}"]
        return " ".join([*words, *(["[--stop {stop}]"] if stop else []), *([f"--defect '{defect}'"] if defect else [])])

    return of


def by_command(command, **options):
    return exact_resume_of_command(command, say=lambda _: None, **options)


def test_by_command(command):
    assert by_command(command()).status == "ok"
    result = by_command(command("no momentum"))
    assert kinds(result) == {"another loss", "another state"}
    assert next(f for f in result.accusations if f.kind == "another loss").parameter == "step 3"
    assert {f.parameter for f in result.accusations if f.kind == "another state"} == {"model.safetensors/v"}
    assert kinds(by_command(command("starts again"))) == {"not resumed"}


def test_by_command_what_cannot_be_asked(command):
    assert "not deterministic" in by_command(command("noise")).reason
    schedule = by_command(command(stop=False))
    assert "its schedule depends on the number of steps" in schedule.reason
    failing = by_command(f"{sys.executable} -c 'import sys; sys.exit(\"no such thing\")' {{steps}} {{save}} {{log}}")
    assert "no such thing" in failing.reason
    with pytest.raises(ValueError, match=r"wanted: +\{save\} \{log\}"):
        by_command("train {steps}")


def test_by_command_a_flipped_bit(command):
    assert kinds(by_command(command(), flips=4)) == {"damage read"}
    assert kinds(by_command(command("verified"), flips=4)) == set()


def test_parts_of_a_template_without_a_value_are_left_out():
    template = "run --out {save} [--resume {resume} --again] '{json: 1}'"
    assert words(template, {"save": "/a b", "resume": ""}) == ["run", "--out", "/a b", "{json: 1}"]
    assert words(template, {"save": "s", "resume": "r"}) == ["run", "--out", "s", "--resume", "r", "--again", "{json: 1}"]


def test_a_log_is_read_as_bits(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"event": "start"}\n{"step": 0, "loss": 0.5}\n{"step": 1, "loss_hex": "0x1p-1"}\n{"event": "held_out", "step": 1, "loss": 3}\n{"st'
    )
    assert losses(path) == {0: "0x1.0000000000000p-1", 1: "0x1p-1"}
    assert losses(tmp_path / "none") == {}


def test_tensors_are_compared_by_content(tmp_path):
    from safetensors.numpy import save_file

    one, other = np.arange(4, dtype=np.float32), np.ones((2, 2))
    for name, tensors_ in (("a", {"x": one, "y": other}), ("b", {"y": other, "x": one}), ("c", {"x": one.reshape(2, 2), "y": other})):
        (tmp_path / name).mkdir()
        save_file(tensors_, tmp_path / name / "m.safetensors", metadata={"made": name})
    a, b, c = (tensors(tmp_path / name) for name in "abc")
    assert a == b
    assert a["m.safetensors/x"] != c["m.safetensors/x"]


@pytest.mark.slow
def test_the_trainer_by_command(tmp_path, folder):
    """It goes on from what it finds in its folder, and ends early when it is interrupted (status 130)."""
    keys = "--save_every 0 --batch 2 --length 16 --width 32 --warmup 2"
    run = f"{sys.executable} {ROOT}/tests/trainer_run.py {tmp_path}/result.json --steps {{steps}} [--stop {{stop}}] --out {{save}} {keys}"
    result = by_command(run, log="log.jsonl", flips=4)
    assert result.status == "ok", result


def test_the_command(capsys, monkeypatch, command):
    monkeypatch.setitem(sys.modules, "asked_module", sys.modules[__name__])
    assert cli.main(["exact-resume", "asked_module:make", "--json", "-"]) == 0
    assert cli.main(["exact-resume", "--command", command("no momentum"), "--json", "-"]) == 1
    out = capsys.readouterr()
    assert "training steps" in out.err
    assert "4 processes" in out.err
    assert cli.main(["exact-resume"]) == 2


def make():
    return {"start": Toy}
