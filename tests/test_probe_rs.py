"""The binary of a Rust column, really built: what does not compile, and the protocol of what does."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from harness import environment, pins, rust, source
from harness.project import ROOT, Project

FAKES = Path(__file__).parent / "fakes" / "rust"

pytestmark = [pytest.mark.real, pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo on PATH")]


def real_project():
    """A project of its own on the columns' target folder. Always the same one: each would leave a binary there."""
    root = ROOT / ".nox" / "test_rust"
    (root / ".nox").mkdir(parents=True, exist_ok=True)
    (ROOT / ".nox" / "target").mkdir(exist_ok=True)
    for link, to in ((root / "harness", ROOT / "harness"), (root / ".nox" / "target", ROOT / ".nox" / "target")):
        if not link.exists():
            link.symlink_to(to)
    return Project(root)


def pinned(column):
    return pins.select(pins.read(Project().pins), [column])[0]


def fake(name, variant="", functions=("run",)):
    return rust.RustFile(case=name, variant=variant, path=FAKES / f"{name}.rs", functions=functions)


@pytest.fixture(scope="module")
def candle():
    broken = [fake(f"broken_{how}", variant="v") for how in ("syntax", "import", "signature", "types", "borrow")]
    items = fake("items_candle", functions=tuple(source.functions(FAKES / "items_candle.rs")))
    return rust.build(real_project(), pinned("candle-0.11.1"), [fake("healthy_candle"), items, *broken])


@pytest.fixture(scope="module")
def burn():
    return rust.build(real_project(), pinned("burn-0.21.0"), [fake("healthy_burn"), fake("exact_burn")])


def ask(built, folder, cell, dtype, inputs, plan=None):
    """The probe's reply, its outputs and what it printed."""
    save_file(inputs, folder / "in")
    reader, writer = os.pipe()
    argv = [built.binary, "ask", cell, dtype, folder / "in", folder / "out", str(writer), json.dumps(plan)]
    done = subprocess.run(argv, pass_fds=[writer], capture_output=True, text=True, check=False, env={"RUST_BACKTRACE": "1"})
    os.close(writer)
    with os.fdopen(reader) as replies:
        said = replies.read()
    assert done.returncode == 0, done.stderr
    assert said.count("\n") == 1
    return json.loads(said), load_file(folder / "out") if (folder / "out").exists() else {}, done.stderr


def rms_inputs(dtype):
    rng = np.random.default_rng(0)
    return {name: rng.integers(1, 9, size=shape).astype(dtype) / 4 for name, shape in (("x", (3, 8)), ("w", (8,)), ("dy", (3, 8)))}


def rms_norm(x, w, dy):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * w


def test_broken_candle_files_cost_only_their_cells(candle):
    assert {key: (d.absent, d.code) for key, d in candle.dropped.items()} == {
        "broken_syntax/v/run": (False, ""),
        "broken_import/v/run": (True, "E0432"),
        "broken_signature/v/run": (False, "E0308"),
        "broken_types/v/run": (False, "E0277"),
        "broken_borrow/v/run": (False, "E0382"),
        "items_candle//forward": (True, "E0425"),
        "items_candle//step": (True, "E0425"),
        "items_candle//sqr": (True, "E0433"),
        "items_candle//slip": (False, "E0425"),
        "items_candle//method": (True, "E0599"),
    }
    assert not any(str(ROOT) in d.evidence or "/registry/" in d.evidence for d in candle.dropped.values())


def test_candle_answers(candle, tmp_path):
    inputs = rms_inputs(np.float32)
    said, out, _ = ask(candle, tmp_path, "healthy_candle//run", "float32", inputs)
    assert said["end"] == "answer"
    assert said["facts"] | {"threads": 1} == {"candle-core": "0.11.1", "candle-nn": "0.11.1", "threads": 1}
    assert 0 <= said["run_cpu_s"] < 1
    np.testing.assert_allclose(out["y"], rms_norm(**inputs), rtol=1e-5)  # float32 rounding of one square root
    assert "dx" not in out, "the defect of candle that this cell is about: no gradient, and none is made up"


@pytest.mark.parametrize(
    ("cell", "kind", "stage", "type_", "message"),
    [
        ("items_candle//refuses", "framework", "run", "Error", "shape mismatch in matmul, lhs: [2, 3], rhs: [2, 3]"),
        ("items_candle//panics", "framework", "run", "panic", "called `Result::unwrap()` on an `Err` value"),
        ("items_candle//wrong_key", "harness", "run", "panic", "no entry found for key"),
        ("no//cell", "harness", "load", "Error", "no no//cell in this binary"),
    ],
)
def test_a_refusal_is_data(candle, tmp_path, cell, kind, stage, type_, message):
    said, out, log = ask(candle, tmp_path, cell, "float32", {"x": np.ones((2, 3), np.float32)})
    text = said.pop("message")
    assert said == {"end": "raised", "kind": kind, "stage": stage, "type": type_}
    assert text.startswith(message)
    assert len(text) <= 500
    assert str(ROOT) not in text
    assert "stack backtrace" not in text + log
    assert not out
    if type_ == "panic":
        assert "panicked at" in log


def test_inputs_of_another_dtype_than_asked_are_our_error(candle, tmp_path):
    said, _, _ = ask(candle, tmp_path, "items_candle//exp", "float32", {"x": np.ones(2)})
    assert (said["kind"], said["stage"], said["message"]) == ("harness", "load", "x is f64, asked was float32")


def test_views_and_whole_numbers_arrive_as_they_are(candle, tmp_path):
    inputs = {"x": np.arange(6, dtype=np.float64).reshape(2, 3), "ids": np.array([2**40, -1])}
    said, out, _ = ask(candle, tmp_path, "items_candle//views", "float64", inputs)
    assert said["end"] == "answer"
    np.testing.assert_array_equal(out["transposed"], inputs["x"].T)
    np.testing.assert_array_equal(out["whole"], inputs["ids"])
    assert out["whole"].dtype == np.int64


def test_a_timed_cell_times_what_exists_and_keeps_the_asked_answer(candle, tmp_path):
    big = {name: np.ones((512, 512), np.float32) for name in "ab"}
    save_file(big, tmp_path / "gemm")
    plan = {"functions": ["exp", "step", "gemm"], "inputs": {"gemm": str(tmp_path / "gemm")}, "warm_up_s": 0.02, "calls": 3}
    said, out, _ = ask(candle, tmp_path, "items_candle//exp", "float32", {"x": np.zeros(4, np.float32)}, plan)
    assert said["end"] == "answer"
    assert {name: len(said["cpu_ns"][name]) for name in said["cpu_ns"]} == {"exp": 3, "gemm": 3}, "step does not compile here"
    assert set(said["wall_ns"]) == set(said["memory_bytes"]) == {"exp", "gemm"}
    assert min(said["cpu_ns"]["gemm"]) > max(said["cpu_ns"]["exp"])
    assert said["memory_bytes"]["gemm"] >= 512 * 512 * 4, "the product itself"
    assert said["run_s"] >= 0.04
    np.testing.assert_array_equal(out["y"], np.ones(4, np.float32))


def test_burn_answers(burn, tmp_path):
    inputs = rms_inputs(np.float32)
    said, out, _ = ask(burn, tmp_path, "healthy_burn//run", "float32", inputs)
    assert said["end"] == "answer", said
    assert said["facts"] == {"burn": "0.21.0", "backend": "autodiff<ndarray>"}
    assert set(out) == {"y", "dx", "dw"}
    np.testing.assert_allclose(out["y"], rms_norm(**inputs), rtol=1e-5)  # float32 rounding of one square root


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_burn_gets_and_gives_the_asked_dtype_to_the_last_bit(burn, tmp_path, dtype):
    inputs = {"x": np.linspace(-1, 1, 6, dtype=dtype).reshape(2, 3) / 3, "ids": np.array([2**40, -1])}
    said, out, _ = ask(burn, tmp_path, "exact_burn//run", dtype, inputs)
    assert said["end"] == "answer", said
    for name, want in {"square": inputs["x"] * inputs["x"], "transposed": inputs["x"].T, "whole": inputs["ids"]}.items():
        assert out[name].dtype == want.dtype
        np.testing.assert_array_equal(out[name], want)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_burn_itself_refuses_a_dtype_its_backend_lacks(burn, tmp_path, dtype):
    said, _, log = ask(burn, tmp_path, "healthy_burn//run", dtype, rms_inputs(np.float32))
    assert (said["end"], said["kind"], said["stage"], said["type"]) == ("raised", "framework", "run", "panic")
    assert "burn-ndarray-0.21.0" in said["message"]
    assert "panicked at" in log


def test_without_a_vulkan_device_a_wgpu_column_says_so(tmp_path):
    columns = [c for c in pins.read(Project().pins) if "wgpu" in c.features]
    built = next((e for c in columns if not (e := environment.read(Project(), c)).cause), None)
    if built is None:
        pytest.skip("no wgpu column is built: minutes")
    save_file({"x": np.ones((2, 3), np.float32)}, tmp_path / "in")
    reader, writer = os.pipe()
    argv = [built.binary, "ask", "rms_norm_backward//run", "float32", tmp_path / "in", tmp_path / "out", str(writer), "null"]
    no_driver = {"VK_DRIVER_FILES": "/none.json", "VK_ICD_FILENAMES": "/none.json"}
    subprocess.run(argv, pass_fds=[writer], capture_output=True, check=True, env=no_driver, timeout=60)
    os.close(writer)
    with os.fdopen(reader) as replies:
        said = json.load(replies)
    assert (said["end"], said["kind"], said["stage"]) == ("raised", "device", "load")
    assert said["message"].startswith("no Vulkan device; wanted: one")
    assert "apt install mesa-vulkan-drivers libvulkan1" in said["message"]
