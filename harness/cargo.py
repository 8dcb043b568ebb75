"""Runs cargo in a fixed environment and names what it lacks; careful that no variable of the person's shell changes what is built."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

from harness import rustc
from harness.errors import BadInput, CannotBuild, Cause

# Where tools and crates are found and how the network is reached. What is not here could change what is built (RUSTFLAGS, RUSTC_WRAPPER,
# CARGO_PROFILE_*) or rebuild every dependency (RUSTC_BOOTSTRAP, measured).
KEPT = re.compile(
    r"PATH|HOME|TMPDIR|RUSTUP_\w+|CARGO_HOME|CARGO_(HTTP|NET|SOURCE|REGISTRIES)_\w+|CARGO_BUILD_JOBS|SSL_CERT_(FILE|DIR)"
    r"|(http|https|all|no|HTTP|HTTPS|ALL|NO)_(proxy|PROXY)"
)
LOG_TAIL = 6_000  # characters

NETWORK = (
    r"failed to (download|get `|fetch|query replaced source)|[Cc]ould(n't| not) resolve|network failure|spurious network|--offline was specified"
    r"|offline mode|[Uu]nable to update (registry|\S+index)|download of \S+ failed|no matching package|SSL (certificate|connect)"
)

# The first that matches: (what cargo, rustc or rustup print, cause, wanted, do this).
FAULTS: tuple[tuple[str, Cause, str, str], ...] = (
    (
        r"linker `[^`]*` not found|failed to find tool|[Ii]s `?cc`? installed|cannot find \S*crt1\.o",
        "toolchain",
        "a C compiler: rustc links with it",
        "install a C compiler (Debian: apt install gcc)",
    ),
    (
        r"rustup could not choose|no default (toolchain|is configured)|toolchain '[^']*' is not installed",
        "toolchain",
        "a Rust toolchain",
        "rustup default stable",
    ),
    (
        r"is not supported by the following package|requires rustc \d|cannot be built because it requires",
        "toolchain",
        "the Rust that a dependency asks for",
        "rustup update stable",
    ),
    (r"No space left on device", "install", "free disk space", "free some space, or: python3 noxfile.py -s clean"),
    (
        r"cannot update the lock file|lock file \S+ needs to be updated",
        "install",
        "a lock that fits harness/pins.toml",
        "python3 noxfile.py -s lock",
    ),
    (
        NETWORK,
        "install",
        "the crates of the lock, from the registry or cargo's cache",
        "check the network (or set CARGO_HTTP_CAINFO, CARGO_NET_OFFLINE, a proxy), then build again",
    ),
)


def environment(target: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    return {**kept, "LC_ALL": "C", "CARGO_TERM_COLOR": "never", "CARGO_TARGET_DIR": str(target)}


def run(argv: list[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, errors="replace", check=False)


def version(tool: str, env: dict[str, str]) -> str:
    """What ``tool --version`` says.

    Raises:
        CannotBuild: it is not installed, or rustup has no toolchain for it.
    """
    if shutil.which(tool, path=env.get("PATH", "")) is None:
        raise CannotBuild(
            "toolchain", f"no {tool} on PATH", "a Rust toolchain", "install Rust (https://rustup.rs), and check: cargo --version"
        )
    done = run([tool, "--version"], Path("/"), env)
    if done.returncode:
        raise fault(done)
    return done.stdout.strip()


def fault(done: subprocess.CompletedProcess[str]) -> CannotBuild:
    """Why cargo failed, where it is not a run file's fault."""
    log = done.stderr + rustc.rendered(done.stdout)
    first = (
        next((line.strip() for line in log.splitlines() if line.lstrip().startswith("error")), "")
        or f"{done.args[0]} ended with {done.returncode}"
    )
    for pattern, cause, wanted, do in FAULTS:
        if hit := re.search(rf"^.*({pattern}).*$", log, re.MULTILINE):
            found = first if hit[0].startswith("warning") else hit[0].strip()  # cargo warns while it tries the network again
            return CannotBuild(cause, found, wanted, do, log[-LOG_TAIL:])
    return CannotBuild(
        "build", first, "a build that succeeds", "read the end of the log; a pin may need another Rust or another feature", log[-LOG_TAIL:]
    )


def checkout(root: Path, crates: tuple[str, ...], env: dict[str, str]) -> dict[str, tuple[Path, str]]:
    """Folder and version of each crate in a maintainer's checkout.

    Raises:
        BadInput: one is not there.
        CannotBuild: cargo does not read it.
    """
    names = {folder: name for folder, name in _packages(root) if name in crates}
    found: dict[str, tuple[Path, str]] = {}
    for crate in crates:
        folders = sorted((f for f, name in names.items() if name == crate), key=lambda f: len(f.parts))
        if not folders:
            raise BadInput(f"no crate {crate} below {root}", f"a checkout that holds {', '.join(crates)}", "name the checkout's top folder")
        done = run(["cargo", "metadata", "--no-deps", "--format-version", "1"], folders[0], env)  # its version may be its workspace's
        if done.returncode:
            raise fault(done)
        found[crate] = folders[0], next(p["version"] for p in json.loads(done.stdout)["packages"] if p["name"] == crate)
    return found


def _packages(root: Path) -> Iterator[tuple[Path, str]]:
    for folder, below, files in os.walk(root):
        below[:] = [name for name in below if name != "target" and not name.startswith(".")]
        if "Cargo.toml" in files:
            try:
                name = tomllib.loads((Path(folder) / "Cargo.toml").read_text()).get("package", {}).get("name")
            except (tomllib.TOMLDecodeError, UnicodeDecodeError):
                continue  # a template or a test's broken manifest
            yield Path(folder), str(name)
