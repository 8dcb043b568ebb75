"""A framework's released versions, as the registry's own clients list them; careful to tell yanked versions and pre-releases apart.

pip lists a distribution (`pip index versions`, run through `uv tool run`); its log names what it left out as yanked. cargo has no command that lists
versions: `cargo info` brings the crate's index entry up to date in cargo's cache, and that file has a JSON line a version, with `yanked`. Kept for a day.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from harness import build, cargo
from harness.errors import BadInput, CannotBuild
from harness.pins import Column, is_pre, release_key

DAY_S = 24 * 3600
YANKED = re.compile(r"Skipping link: yanked for reason: (?P<reason>.*?): \S*/(?P<file>[^/\s#]+?)(?:#\S*)? \(from")


@dataclass(frozen=True, kw_only=True)
class Releases:
    """``versions`` are what a search may ask, oldest first; the rest is named and left out."""

    package: str
    versions: list[str]
    yanked: dict[str, str] = field(default_factory=dict)  # version -> reason
    read_at: float = 0.0
    cached: bool = False

    def between(self, first: str, last: str, *, pre: bool) -> list[str]:
        """The versions from ``first`` to ``last``; pre-releases only with ``pre`` or where one is an end itself.

        Raises:
            BadInput: an end is not a released version, or they are the wrong way round.
        """
        for end in (first, last):
            if end not in self.versions:
                why = f"yanked ({self.yanked[end]})" if end in self.yanked else "not released"
                raise BadInput(f"{self.package} {end}: {why}", f"one of {', '.join(self.versions)}", "correct --from or --to")
        if release_key(first) >= release_key(last):
            raise BadInput(f"--from {first} --to {last}", "an older version and a newer one", "exchange them")
        inside = [v for v in self.versions if release_key(first) <= release_key(v) <= release_key(last)]
        return [v for v in inside if pre or not is_pre(v) or v in (first, last)]


def released(column: Column, folder: Path, *, fresh: bool = False) -> Releases:
    """The releases of the package a column is of; ``folder`` keeps them.

    Raises:
        CannotBuild: the client is missing, or cannot reach its registry.
    """
    package = column.crates[0] if column.language == "rust" else column.requires[0].partition("==")[0]
    kept = folder / "versions" / f"{package}{'-' + column.python if column.python else ''}.json"
    if not fresh and kept.exists() and (last := _read(kept)) and time.time() - last["read_at"] < DAY_S:
        return Releases(**{**last, "cached": True})
    found = _crate(package, folder) if column.language == "rust" else _distribution(package, column.python)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(asdict(found), indent=1) + "\n")
    return found


def _read(kept: Path) -> dict[str, Any]:
    try:
        last = json.loads(kept.read_text())
    except ValueError:
        return {}  # a kill in mid-line: read anew
    return last if isinstance(last, dict) else {}


def _distribution(package: str, python: str) -> Releases:
    options = ["--json", "--pre", "--python-version", python, "--only-binary", ":all:", "-vvv"]
    argv = [build.UV, "tool", "run", "--quiet", "pip", "index", "versions", package, *options]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CannotBuild("toolchain", f"no uv at {build.UV!r}", "uv, which noxfile.py brings", "run python3 noxfile.py once") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise CannotBuild("install", f"pip does not list {package}: {last}", "its released versions", "check the network", done.stderr)
    return distribution(package, done.stdout + done.stderr)


def distribution(package: str, said: str) -> Releases:
    """The releases in what `pip index versions --json -vvv` printed; the listing is the one line that is a JSON object."""
    listing = next(json.loads(line) for line in said.splitlines() if line.startswith('{"name"'))
    versions = sorted(listing["versions"], key=release_key)
    yanked = {version: reason for version, reason in _skipped(said) if version not in versions}
    return Releases(package=package, versions=versions, yanked=yanked, read_at=time.time())


def _skipped(said: str) -> Iterator[tuple[str, str]]:
    for link in YANKED.finditer(said):
        try:
            parse = parse_wheel_filename if link["file"].endswith(".whl") else parse_sdist_filename
            version: Version = parse(link["file"])[1]
        except (InvalidWheelFilename, InvalidSdistFilename):
            continue
        yield str(version), link["reason"].strip()


def _crate(package: str, folder: Path) -> Releases:
    env = cargo.environment(folder / "target")
    cargo.version("cargo", env)
    done = cargo.run(["cargo", "info", package], Path("/"), env)
    if done.returncode:
        raise cargo.fault(done)
    home = Path(env.get("CARGO_HOME", Path(env.get("HOME", "/")) / ".cargo"))
    entries = sorted(home.glob(f"registry/index/*/.cache/{_place(package)}"), key=lambda file: file.stat().st_mtime)
    if not entries:
        raise CannotBuild(
            "install", f"cargo keeps no index entry of {package}", "a sparse registry", "unset the git index in cargo's config"
        )
    return crate(package, entries[-1].read_bytes())


def _place(package: str) -> str:
    """Where a sparse index has a crate: by its first letters."""
    if len(package) < 4:
        return f"{len(package)}/{package if len(package) < 3 else f'{package[0]}/{package}'}"
    return f"{package[:2]}/{package[2:4]}/{package}"


def crate(package: str, entry: bytes) -> Releases:
    """The releases in cargo's cached index entry: zero bytes part a header, and of each version its name and its line of the index."""
    listed = [json.loads(part) for part in entry.split(b"\0") if part.startswith(b"{")]
    if not listed:
        raise CannotBuild(
            "harness", f"cargo's index entry of {package} has another form", "a JSON line a version", "report it, with cargo --version"
        )
    versions = sorted((line["vers"] for line in listed if not line["yanked"]), key=release_key)
    yanked = {line["vers"]: "crates.io keeps no reason" for line in listed if line["yanked"]}
    return Releases(package=package, versions=versions, yanked=yanked, read_at=time.time())
