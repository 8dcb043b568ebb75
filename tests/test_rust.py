"""The crate of a Rust column: with a fake cargo, what is written and what falls; with the real one, the protocol of its binary."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from harness import pins, rust, source
from harness.errors import CannotBuild
from harness.pins import Column
from harness.project import ROOT, Project

FAKES = Path(__file__).parent / "fakes" / "rust"
CANDLE = Column(framework="candle", version="0.11.1", language="rust", crates=("candle-core", "candle-nn"))
BURN = Column(framework="burn", version="0.21.0", language="rust", crates=("burn",), features=("std", "ndarray"))


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    for tool in ("cargo", "rustc"):
        (tmp_path / "bin" / tool).write_text(f"#!{sys.executable}\n" + (FAKES / "cargo.py").read_text())
        (tmp_path / "bin" / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    shutil.copytree(ROOT / "harness" / "frameworks", tmp_path / "harness" / "frameworks", ignore=shutil.ignore_patterns("*.py"))
    (tmp_path / "harness" / "locks").mkdir()
    (tmp_path / "harness" / "locks" / CANDLE.lock).write_text("version = 4\n")
    return Project(tmp_path)


def run_file(project, text, *functions, case="case", variant=""):
    path = project.root / "cases" / case / f"run_candle{variant and '.' + variant}.rs"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return rust.RustFile(case=case, variant=variant, path=path, functions=functions or ("run",))


def calls(project):
    return (project.environments / "rust" / CANDLE.id / "calls").read_text().splitlines()


def test_every_function_has_a_line_of_its_own(project):
    files = [run_file(project, "pub fn run() {}"), run_file(project, "pub fn a() {}\npub fn b() {}", "a", "b", variant="com-posed")]
    built = rust.build(project, CANDLE, files)
    assert built.dropped == {}
    assert built.crates == {"candle-core": "0.11.1", "candle-nn": "0.11.1"}
    lines = (project.environments / "rust" / "candle-0.11.1" / "src" / "main.rs").read_text().splitlines()
    assert f'#[path = "{files[1].path}"] mod case1_com_posed;' in lines
    assert [line.strip() for line in lines if "run!(" in line] == [
        '("case//run", run!(case0::run)),',
        '("case/com-posed/a", run!(case1_com_posed::a)),',
        '("case/com-posed/b", run!(case1_com_posed::b)),',
    ]
    assert calls(project) == ["build --release --locked --message-format=json"]


def test_the_manifest_pins_exactly_and_turns_defaults_off_where_features_are_named():
    assert '\ncandle-core = { version = "=0.11.1" }\ncandle-nn = { version = "=0.11.1" }\n' in rust._manifest(CANDLE, "probe", {})
    assert '\nburn = { version = "=0.21.0", default-features = false, features = ["std", "ndarray"] }\n' in rust._manifest(
        BURN, "probe", {}
    )
    local = rust._manifest(dataclasses.replace(BURN, local="/b"), "probe", {"burn": Path("/b/crates/burn")})
    assert '\nburn = { path = "/b/crates/burn", default-features' in local
    assert '\nname = "probe-burn-local"\n' in local


def test_a_broken_function_costs_itself_and_what_stands_on_it(project):
    text = "use x::y;\npub fn good() {}\npub fn bad() { candle_core::BROKEN }\n/// doc\npub fn also() { bad() }\n"
    built = rust.build(
        project, CANDLE, [run_file(project, text, "good", "bad", "also"), run_file(project, "pub fn run() {}", case="other")]
    )
    assert set(built.dropped) == {"case//bad", "case//also"}
    assert all(d.absent for d in built.dropped.values())
    assert built.dropped["case//bad"].evidence == "error: BROKEN --> cases/case/run_candle.rs"
    said = json.loads(subprocess.check_output([built.binary, "list"]))
    assert said["cells"] == ["case//good", "other//run"]


def test_a_broken_import_costs_the_file(project):
    built = rust.build(project, CANDLE, [run_file(project, "use a::BROKEN;\npub fn a() {}\npub fn b() {}", "a", "b")])
    assert {key: d.absent for key, d in built.dropped.items()} == {"case//a": False, "case//b": False}


def test_an_error_in_no_run_file_ends_the_column(project):
    with pytest.raises(CannotBuild) as raised:
        rust.build(project, CANDLE, [run_file(project, "pub fn run() { BROKEN } // NOWHERE")])
    assert raised.value.cause == "build"
    assert "error: BROKEN" in raised.value.log


def test_what_was_left_out_is_remembered_until_a_text_changes(project):
    files = [run_file(project, "pub fn good() {}\npub fn bad() { BROKEN }", "good", "bad")]
    first = rust.build(project, CANDLE, files)
    again = rust.build(project, CANDLE, files)
    assert again.dropped == first.dropped
    assert len(calls(project)) == 3, "two rounds, then one"
    date = files[0].path.stat().st_mtime
    files[0].path.write_text("pub fn good() {}\npub fn bad() { better }")
    os.utime(files[0].path, (date, date))
    assert rust.build(project, CANDLE, files).dropped == {}


def test_a_text_with_an_old_date_changes_main_rs_so_that_cargo_builds(project):
    files = [run_file(project, "pub fn run() { 1 }")]
    main = project.environments / "rust" / "candle-0.11.1" / "src" / "main.rs"
    rust.build(project, CANDLE, files)
    before, date = main.read_text(), main.stat().st_mtime_ns
    rust.build(project, CANDLE, files)
    assert main.stat().st_mtime_ns == date, "nothing changed: not written"
    files[0].path.write_text("pub fn run() { 2 }")
    rust.build(project, CANDLE, files)
    assert main.read_text() != before


def test_a_binary_of_other_cells_is_refused(project):
    with pytest.raises(CannotBuild, match="holds other cells") as raised:
        rust.build(project, CANDLE, [run_file(project, "pub fn run() {}", case="STALE")])
    assert raised.value.cause == "harness"


def test_a_missing_lock_says_how_to_make_it(project):
    (project.locks / CANDLE.lock).unlink()
    with pytest.raises(CannotBuild, match=r"no candle-0\.11\.1\.Cargo\.lock") as raised:
        rust.build(project, CANDLE, [])
    assert raised.value.cause == "install"
    assert "-s lock" in raised.value.do


def test_a_missing_linker_is_the_toolchains_cause(project):
    with pytest.raises(CannotBuild, match="apt install gcc") as raised:
        rust.build(project, CANDLE, [run_file(project, "", case="NO LINKER")])
    assert raised.value.cause == "toolchain"


@pytest.mark.parametrize("column", [c for c in pins.read(Project().pins) if c.language == "rust"], ids=lambda c: c.id)
def test_every_rust_column_has_a_lock_of_its_version_from_the_public_registry(column):
    text = (Project().locks / column.lock).read_text()
    for crate in column.crates:
        assert f'name = "{crate}"\nversion = "{column.version}"\n' in text
    sources = {line for line in text.splitlines() if line.startswith("source =")}
    assert sources == {'source = "registry+https://github.com/rust-lang/crates.io-index"'}


# ------------------------------------------------------------------------------------------------------------ the real cargo

needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo on PATH")


def real_project():
    """A project of its own on the columns' target folder. Always the same one: each would leave a binary there."""
    root = ROOT / ".nox" / "test_rust"
    (root / ".nox").mkdir(parents=True, exist_ok=True)
    (ROOT / ".nox" / "target").mkdir(exist_ok=True)
    for link, to in ((root / "harness", ROOT / "harness"), (root / ".nox" / "target", ROOT / ".nox" / "target")):
        if not link.exists():
            link.symlink_to(to)
    return Project(root)


def fake(name, variant="", functions=("run",)):
    return rust.RustFile(case=name, variant=variant, path=FAKES / f"{name}.rs", functions=functions)


@pytest.fixture(scope="module")
def candle():
    broken = [fake(f"broken_{how}", variant="v") for how in ("syntax", "import", "signature", "types", "borrow")]
    items = fake("items_candle", functions=tuple(source.functions(FAKES / "items_candle.rs")))
    return rust.build(real_project(), CANDLE, [fake("healthy_candle"), items, *broken])


@pytest.fixture(scope="module")
def burn():
    (column,) = pins.select(pins.read(Project().pins), ["burn-0.21.0"])
    return rust.build(real_project(), column, [fake("healthy_burn"), fake("exact_burn")])


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


@needs_cargo
@pytest.mark.real
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


@needs_cargo
@pytest.mark.real
def test_candle_answers(candle, tmp_path):
    inputs = rms_inputs(np.float32)
    said, out, _ = ask(candle, tmp_path, "healthy_candle//run", "float32", inputs)
    assert said["end"] == "answer"
    assert said["facts"] | {"threads": 1} == {"candle-core": "0.11.1", "candle-nn": "0.11.1", "threads": 1}
    assert 0 <= said["run_cpu_s"] < 1
    np.testing.assert_allclose(out["y"], rms_norm(**inputs), rtol=1e-5)  # float32 rounding of one square root
    assert "dx" not in out, "the defect of candle that this cell is about: no gradient, and none is made up"


@needs_cargo
@pytest.mark.real
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


@needs_cargo
@pytest.mark.real
def test_inputs_of_another_dtype_than_asked_are_our_error(candle, tmp_path):
    said, _, _ = ask(candle, tmp_path, "items_candle//exp", "float32", {"x": np.ones(2)})
    assert (said["kind"], said["stage"], said["message"]) == ("harness", "load", "x is f64, asked was float32")


@needs_cargo
@pytest.mark.real
def test_views_and_whole_numbers_arrive_as_they_are(candle, tmp_path):
    inputs = {"x": np.arange(6, dtype=np.float64).reshape(2, 3), "ids": np.array([2**40, -1])}
    said, out, _ = ask(candle, tmp_path, "items_candle//views", "float64", inputs)
    assert said["end"] == "answer"
    np.testing.assert_array_equal(out["transposed"], inputs["x"].T)
    np.testing.assert_array_equal(out["whole"], inputs["ids"])
    assert out["whole"].dtype == np.int64


@needs_cargo
@pytest.mark.real
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


@needs_cargo
@pytest.mark.real
def test_burn_answers(burn, tmp_path):
    inputs = rms_inputs(np.float32)
    said, out, _ = ask(burn, tmp_path, "healthy_burn//run", "float32", inputs)
    assert said["end"] == "answer", said
    assert said["facts"] == {"burn": "0.21.0", "backend": "autodiff<ndarray>"}
    assert set(out) == {"y", "dx", "dw"}
    np.testing.assert_allclose(out["y"], rms_norm(**inputs), rtol=1e-5)  # float32 rounding of one square root


@needs_cargo
@pytest.mark.real
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_burn_gets_and_gives_the_asked_dtype_to_the_last_bit(burn, tmp_path, dtype):
    inputs = {"x": np.linspace(-1, 1, 6, dtype=dtype).reshape(2, 3) / 3, "ids": np.array([2**40, -1])}
    said, out, _ = ask(burn, tmp_path, "exact_burn//run", dtype, inputs)
    assert said["end"] == "answer", said
    for name, want in {"square": inputs["x"] * inputs["x"], "transposed": inputs["x"].T, "whole": inputs["ids"]}.items():
        assert out[name].dtype == want.dtype
        np.testing.assert_array_equal(out[name], want)


@needs_cargo
@pytest.mark.real
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_burn_itself_refuses_a_dtype_its_backend_lacks(burn, tmp_path, dtype):
    said, _, log = ask(burn, tmp_path, "healthy_burn//run", dtype, rms_inputs(np.float32))
    assert (said["end"], said["kind"], said["stage"], said["type"]) == ("raised", "framework", "run", "panic")
    assert "burn-ndarray-0.21.0" in said["message"]
    assert "panicked at" in log
