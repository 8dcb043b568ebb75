"""The crate of a Rust column, built by a fake cargo: what is written, what falls and what ends it. The real one is in test_probe_rs.py."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import pins, rust
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
        '("case//run", run!(case0::r#run)),',
        '("case/com-posed/a", run!(case1_com_posed::r#a)),',
        '("case/com-posed/b", run!(case1_com_posed::r#b)),',
    ]
    assert calls(project) == ["build --release --locked --message-format=json"]


def test_the_manifest_pins_exactly_and_turns_defaults_off_where_features_are_named():
    assert '\ncandle-core = { version = "=0.11.1" }\ncandle-nn = { version = "=0.11.1" }\n' in rust._manifest(CANDLE, "probe", {})
    assert '\nburn = { version = "=0.21.0", default-features = false, features = ["std", "ndarray"] }\n' in rust._manifest(
        BURN, "probe", {}
    )
    assert '\n[features]\ndefault = ["std", "ndarray"]\n"std" = []\n"ndarray" = []\n' in rust._manifest(BURN, "probe", {})
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
