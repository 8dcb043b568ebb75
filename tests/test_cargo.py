"""Cargo's environment, and the causes its failures are given, on what cargo 1.95 and rustup printed when each was provoked."""

import subprocess

import pytest

from harness import cargo
from harness.errors import BadInput, CannotBuild

PRINTED = {
    "linker": ("toolchain", "error: linker `cc` not found\n  |\n  = note: No such file or directory (os error 2)"),
    "cc": ("toolchain", 'error occurred in cc-rs: failed to find tool "cc": No such file or directory (os error 2)'),
    "rustup": (
        "toolchain",
        "error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly, and no default is configured.",
    ),
    "named": ("toolchain", "error: toolchain '1.2.3-x86_64-unknown-linux-gnu' is not installed"),
    "old": ("toolchain", "error: rustc 1.70.0 is not supported by the following package:\n  foo@1.0.0 requires rustc 1.85"),
    "disk": ("install", "error: failed to write `/x`: No space left on device (os error 28)"),
    "lock": ("install", "error: cannot update the lock file Cargo.lock because --locked was passed to prevent this"),
    "offline": ("install", "error: no matching package named `serde_json` found\nlocation searched: crates.io index"),
    "network": (
        "install",
        "error: failed to get `serde_json` as a dependency of package `fl v0.0.0`\n\nCaused by:\n  download of config.json failed",
    ),
    "git": (
        "install",
        "warning: spurious network error (3 tries remaining)\nerror: failed to get `cubecl-common` as a dependency of `burn-std`",
    ),
    "feature": ("build", "error: failed to select a version for `libc`.\npackage `fl` depends on `libc` with feature `nope`"),
    "other": ("build", "error: could not compile `half` (lib) due to 2 previous errors"),
}


@pytest.mark.parametrize("name", PRINTED)
def test_a_failure_has_its_cause(name):
    cause, stderr = PRINTED[name]
    fault = cargo.fault(subprocess.CompletedProcess(["cargo", "build"], 101, "", "   Compiling x\n" + stderr))
    assert fault.cause == cause
    assert fault.found in stderr
    assert fault.found.startswith("error")
    assert fault.do
    assert fault.log.endswith(stderr)


def test_a_failure_that_says_nothing_still_has_a_text():
    assert cargo.fault(subprocess.CompletedProcess(["cargo", "build"], -9, "", "")).found == "cargo ended with -9"


def test_no_cargo_is_the_toolchains_cause(tmp_path):
    with pytest.raises(CannotBuild, match="no cargo on PATH") as raised:
        cargo.version("cargo", {"PATH": str(tmp_path)})
    assert raised.value.cause == "toolchain"


def test_a_shell_variable_that_could_change_the_build_is_left_out(monkeypatch, tmp_path):
    drop = ("RUSTFLAGS", "RUST_BACKTRACE", "RUSTC_BOOTSTRAP", "RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "CARGO_PROFILE_RELEASE_DEBUG")
    drop += ("CARGO_BUILD_RUSTFLAGS", "CARGO_REGISTRY_TOKEN", "CC", "CARGO_INCREMENTAL")
    keep = ("PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_AUTO_INSTALL", "TMPDIR", "https_proxy", "NO_PROXY", "SSL_CERT_FILE")
    keep += ("CARGO_HTTP_CAINFO", "CARGO_NET_OFFLINE", "CARGO_SOURCE_CRATES_IO_REPLACE_WITH")
    for name in (*drop, *keep):
        monkeypatch.setenv(name, "value")
    monkeypatch.setenv("CARGO_TARGET_DIR", "/elsewhere")
    made = cargo.environment(tmp_path)
    assert not set(drop) & set(made)
    assert set(keep) <= set(made)
    assert made["CARGO_TARGET_DIR"] == str(tmp_path)


def test_a_checkout_without_the_crate_is_the_users_mistake(tmp_path):
    (tmp_path / "target" / "x").mkdir(parents=True)
    (tmp_path / "target" / "x" / "Cargo.toml").write_text('[package]\nname = "candle-core"\n')  # cargo's own copies do not count
    (tmp_path / "Cargo.toml").write_text("[package]\nname = {{name}}\n")  # a template
    with pytest.raises(BadInput, match="no crate candle-core"):
        cargo.checkout(tmp_path, ("candle-core",), {"PATH": "/nowhere"})
