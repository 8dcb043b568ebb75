"""The columns, read from pins.toml; careful with version order. Standard library and `packaging` only: noxfile.py reads it too."""

from __future__ import annotations

import dataclasses
import fnmatch
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from packaging.version import InvalidVersion, Version

from harness.errors import BadInput

Language = Literal["python", "rust"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One pinned environment: ``framework-version[-backend][-device]``."""

    framework: str
    version: str
    backend: str = ""  # which of its framework's, where that is not the usual one
    language: Language
    python: str = ""
    requires: tuple[str, ...] = ()
    crates: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    disk_gb: float = 0.0
    patience: float = 1  # times a case's time limit
    compiles: bool = False  # whether its adapter has a compiled mode
    adapter: str = ""  # the framework whose adapter serves it, where it is not its own
    source: str = ""  # where the framework is a folder of ours, not a package of a registry: that folder
    examples: tuple[int, int] = (60, 4)  # of an operation of a sweep: eager, and compiled, where each is a compiler's run
    unasked: tuple[str, ...] = ()  # dtypes that no cell asks of it: it may have them, and we have no build of it that does
    eager: tuple[str, ...] = ()  # an operation whose function holds one of these texts is not asked in compiled mode
    swept: bool = True  # whether its operations are swept
    dtypes: tuple[str, ...] = ()  # the float types its tensors have, for a sweep; none: all
    failures: tuple[str, ...] = ()  # what it can have at all: only cases of these classes are asked; none: every case
    tags: tuple[str, ...] = ()
    local: str = ""  # the checkout or wheel it was built from, where a maintainer asked for one

    @property
    def id(self) -> str:
        return f"{self.framework}-local" if self.local else self._pinned

    @property
    def _pinned(self) -> str:
        return "-".join(filter(None, (self.framework, self.version, self.backend)))

    @property
    def folder(self) -> str:
        """Where under harness/frameworks/ its adapter or glue is."""
        return self.adapter or self.framework

    @property
    def lock(self) -> str:
        """The lock's file name; a local column stands on the lock of the pinned version it replaces."""
        return self._pinned + (".txt" if self.language == "python" else ".Cargo.lock")


def release_key(version: str) -> tuple[Version, str]:
    """Order versions by release tuple, pre-releases before their release, for PyPI and crates.io spellings alike.

    Raises:
        BadInput: neither reads it.
    """
    try:
        # crates.io writes 0.23.0-pre.1 where PyPI writes 0.23.0rc1: both sort before 0.23.0.
        return Version(re.sub(r"-(?:pre|alpha|beta)\.?", "rc", version)), version
    except InvalidVersion:
        raise BadInput(
            f"version {version!r}", "a release such as 0.11.1 or 0.23.0-pre.1", "correct the line in harness/pins.toml"
        ) from None


def is_pre(version: str) -> bool:
    return release_key(version)[0].is_prerelease


def not_before(version: str, first: str) -> bool:
    """Whether ``version`` is ``first`` or later. A pre-release of ``first`` already has its interface: 0.23.0-pre.1 is not before 0.23."""
    return release_key(version)[0].release + (0,) * 8 >= release_key(first)[0].release + (0,) * 8


def read(pins: Path) -> list[Column]:
    """Every column of a pins file, frameworks in the order of the file, versions oldest first.

    Raises:
        BadInput: the file is missing or does not follow the form at its top.
    """
    try:
        tables = tomllib.loads(pins.read_text())
    except FileNotFoundError:
        raise BadInput(f"no {pins}", "a pins file", "name a project folder that has harness/pins.toml") from None
    except tomllib.TOMLDecodeError as bad:
        raise BadInput(f"{pins}: {bad}", "TOML", "correct that line") from None
    columns: list[Column] = []
    for framework, table in tables.items():
        columns += _versions(pins, framework, table)
    return columns


def _package(place: Path, framework: str) -> str:
    """The folder of a Python package: ``place`` itself, or the one in it that has the framework's name.

    Raises:
        BadInput: there is none.
    """
    for folder in (place / framework, place):
        if (folder / "__init__.py").is_file():
            return str(folder.resolve())
    raise BadInput(f"no package {framework} in {place}", f"a checkout with {framework}/__init__.py, or that folder", "correct the path")


def _versions(pins: Path, framework: str, table: dict[str, Any]) -> list[Column]:
    versions = table.get("versions")
    if not isinstance(versions, dict) or not versions or table.get("language") not in ("python", "rust"):
        raise BadInput(
            f"{pins}: [{framework}]", 'language = "python" or "rust", and a table of versions', "see the form at the top of the file"
        )
    stable = [line for line in versions if " " not in line and not is_pre(line)]
    newest = max(stable, key=release_key) if stable else None
    columns = []
    for line in sorted(versions, key=lambda line: (release_key(line.partition(" ")[0]), line)):
        version, _, backend = line.partition(" ")
        options = {**{k: v for k, v in table.items() if k != "versions"}, **versions[line]}
        tags = (framework, *options.pop("tags", ()), *(["newest"] if line == newest else []), *(["pre"] if is_pre(version) else []))
        lists: dict[str, Any] = {
            k: tuple(s.format(version=version) for s in options.pop(k, ()))
            for k in ("requires", "crates", "features", "failures", "dtypes", "unasked", "eager")
        }
        if "examples" in options:
            options["examples"] = tuple(options["examples"])
        if "source" in options:
            options["source"] = _package(pins.resolve().parent.parent / options["source"], framework)
        try:
            columns.append(Column(framework=framework, version=version, backend=backend, tags=tags, **lists, **options))
        except TypeError as bad:
            raise BadInput(f"{pins}: [{framework}] {line}: {bad}", "the keys listed at the top of the file", "correct that line") from None
    return columns


def select(columns: list[Column], patterns: list[str]) -> list[Column]:
    """The columns whose id matches a shell pattern, or whose tags hold it.

    Raises:
        BadInput: a pattern matches nothing.
    """
    if not patterns:
        return columns
    chosen: list[Column] = []
    for pattern in patterns:
        hits = [c for c in columns if fnmatch.fnmatchcase(c.id, pattern) or pattern in c.tags]
        if not hits:
            known = ", ".join(c.id for c in columns)
            raise BadInput(
                f"no column {pattern!r}",
                f"one of: {known}",
                "name one of these, or add the version to harness/pins.toml and run: nox -s lock",
            )
        chosen += [c for c in hits if c not in chosen]
    return [c for c in columns if c in chosen]


def local_column(columns: list[Column], text: str) -> Column:
    """The column of ``FRAMEWORK=PATH``: the newest pinned version of the framework, built from a maintainer's own checkout or wheel.

    Raises:
        BadInput: no such framework, or nothing at that path.
    """
    framework, _, path = text.partition("=")
    mine = [c for c in columns if c.framework == framework]
    if not mine or not path:
        known = ", ".join(sorted({c.framework for c in columns}))
        raise BadInput(f"--local {text}", f"FRAMEWORK=PATH with one of {known}", "for example: --local candle=../candle")
    if not Path(path).exists():
        raise BadInput(f"--local {text}: nothing there", "a checkout or a wheel", "correct the path")
    newest = ([c for c in mine if "newest" in c.tags] or mine)[-1]
    source = _package(Path(path), framework) if newest.source else ""
    return dataclasses.replace(newest, local=str(Path(path).resolve()), source=source, tags=(framework, "local"))


def unpinned(pins: Path, framework: str, version: str, backend: str = "") -> Column:
    """The column of any released version: with the options of the nearest pinned version that is not later, or of the oldest one.

    Raises:
        BadInput: the framework has no pin with that backend, or is a folder of this repository.
    """
    tables = tomllib.loads(pins.read_text())
    table = tables.get(framework, {"source": ""})
    lines = {line.partition(" ")[0]: options for line, options in table.get("versions", {}).items() if line.partition(" ")[2] == backend}
    if "source" in table or not lines:
        known = ", ".join(sorted(name for name, t in tables.items() if "source" not in t))
        found = f"{framework} {backend}".strip()
        raise BadInput(
            f"framework {found!r}", f"a released framework with a pin: {known}", "name one of these, and a backend that is pinned"
        )
    earlier = [v for v in lines if release_key(v) <= release_key(version)]
    nearest = max(earlier, key=release_key) if earlier else min(lines, key=release_key)
    options = {k: v for k, v in lines[nearest].items() if k != "tags"}
    (column,) = _versions(pins, framework, {**table, "versions": {f"{version} {backend}".strip(): options}})
    return dataclasses.replace(column, tags=(framework, "bisect"))
