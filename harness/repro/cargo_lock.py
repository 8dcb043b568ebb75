"""A bundle's Cargo.lock: the column's own without what the framework does not reach; careful that no version in it is another."""

from __future__ import annotations

import re
from collections import Counter

from harness.errors import CannotBuild
from harness.pins import Column
from harness.project import Project

BLOCK = re.compile(r"\[\[package\]\]\n.*?(?=\n\[\[package\]\]|\Z)", re.DOTALL)
QUOTED = re.compile(r'^ "([^"]+)",$', re.MULTILINE)  # one of a package's dependencies
Known = tuple[str, str]  # name and version


def lock(project: Project, column: Column) -> str:
    """The column's lock with the bundle's crate in the place of the probe, and no package that only the probe asked for.

    Raises:
        CannotBuild: the column has no lock.
    """
    try:
        text = (project.locks / column.lock).read_text()
    except FileNotFoundError:
        raise CannotBuild("install", f"no {column.lock}", "the column's lock", "python3 noxfile.py -s lock") from None
    return pruned(text, column.crates)


def pruned(text: str, crates: tuple[str, ...]) -> str:
    """Of a lock what ``crates`` reach; cargo refuses one that holds more (``--locked``), or that names a version where a name is enough."""
    blocks = {_known(block): block.rstrip("\n") + "\n" for block in BLOCK.findall(text)}
    versions: dict[str, list[Known]] = {}
    for known in blocks:
        versions.setdefault(known[0], []).append(known)

    def named(dependency: str) -> Known:
        """One dependency as it stands in a lock: `name`, `name version` or `name version (source)`."""
        name, *version = dependency.split(" ")
        return (name, version[0]) if version else versions[name][0]

    needs = {known: [named(dependency) for dependency in QUOTED.findall(block)] for known, block in blocks.items()}
    queue = [versions[crate][0] for crate in crates]
    kept = set(queue)
    while queue:
        more = [known for known in needs[queue.pop()] if known not in kept]
        kept.update(more)
        queue += more
    left = Counter(name for name, _ in kept)

    def short(match: re.Match[str]) -> str:
        name = named(match[1])[0]
        return match[0] if left[name] > 1 or " " not in match[1] else f' "{name}",'

    wanted = "".join(f' "{crate}",\n' for crate in sorted(crates))
    made = {known: QUOTED.sub(short, blocks[known]) for known in kept}
    made["repro", "0.0.0"] = f'[[package]]\nname = "repro"\nversion = "0.0.0"\ndependencies = [\n{wanted}]\n'
    return text[: text.index("[[package]]")] + "\n".join(made[known] for known in sorted(made, key=_order))


def _known(block: str) -> Known:
    name, version = re.findall(r'^(?:name|version) = "([^"]+)"', block, re.MULTILINE)[:2]
    return name, version


def _order(known: Known) -> tuple[str, list[tuple[int, str]]]:
    """As cargo sorts: by name, and 0.9 before 0.10."""
    return known[0], [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[.+-]", known[1])]
