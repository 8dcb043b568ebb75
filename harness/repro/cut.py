"""The one function of a run file and what it stands on, cut out by syntax tree as it is written; careful that no byte of it is another."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness import rustc
from harness.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Parts of a run file, each as it stands there."""

    imports: str
    body: str
    whole: bool  # nothing of the file was left out


def cut(path: Path, functions: Iterable[str]) -> Cut:
    """The functions of those names, the top-level items they reach, and the imports these use.

    Raises:
        BadInput: the file does not parse, or has no such function.
    """
    names = list(functions)
    return _python(path, names) if path.suffix == ".py" else _rust(path, names)


def _missing(path: Path, name: str) -> BadInput:
    return BadInput(f"{path}: no function {name}", "the function of the cell", "python -m harness list")


def _python(path: Path, names: list[str]) -> Cut:
    text = path.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    binds = {id(node): _bound(node) for node in tree.body}
    known = {name: node for node in tree.body if not _is_import(node) for name in binds[id(node)]}
    for name in names:
        if name not in known:
            raise _missing(path, name)
    used, queue = set(names), list(names)
    while queue:
        for node in ast.walk(known[queue.pop()]):
            if isinstance(node, ast.Name) and node.id not in used:
                used.add(node.id)
                if node.id in known:
                    queue.append(node.id)
    kept = [node for node in tree.body if binds[id(node)] & used or _is_effect(node)]
    imports = [node for node in kept if _is_import(node)]
    body = [node for node in kept if not _is_import(node)]
    return Cut(
        imports="\n".join(_segment(lines, node) for node in imports),
        body="\n\n\n".join(_segment(lines, node) for node in body),
        whole=len(kept) == sum(not _is_docstring(node) for node in tree.body),
    )


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_effect(node: ast.stmt) -> bool:
    """A statement that is run for what it does, such as jax.config.update(...)."""
    return isinstance(node, ast.Expr) and not _is_docstring(node)


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _segment(lines: list[str], node: ast.stmt) -> str:
    """The lines of a statement with the comments right above it."""
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(d.lineno for d in decorators)]) - 1
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return "\n".join(lines[start : node.end_lineno])


def _rust(path: Path, names: list[str]) -> Cut:
    source = path.read_bytes()
    parts = rustc.parts(source)
    known = {part.name: part for part in parts if part.name}
    for name in names:
        if name not in known:
            raise _missing(path, name)
    used, queue = set(names), list(names)
    while queue:
        reached = frozenset().union(*(part.words for part in parts if part.name == queue[-1]))
        queue.pop()
        queue += [word for word in reached if word in known and word not in used]
        used |= reached
    uses = [part for part in parts if not part.name]  # a trait's name stands nowhere: none of them can be left out
    body = [part for part in parts if part.name in used]
    return Cut(
        imports="\n".join(source[p.start : p.end].decode() for p in uses),
        body="\n\n".join(source[p.start : p.end].decode() for p in body),
        whole=len(uses) + len(body) == len(parts),
    )
