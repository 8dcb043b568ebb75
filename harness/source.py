"""The text that can change a cell's number, cut out of Python and Rust files by syntax tree; careful that a neighbour's edit changes nothing."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import resolve_name
from itertools import accumulate
from pathlib import Path
from typing import Any

from harness.errors import BadInput


@lru_cache
def functions(path: Path) -> dict[str, str]:
    """The public top-level functions of a run file -> the source of each with everything of the file it stands on, comments left out.

    Raises:
        BadInput: the file does not parse as Python.
    """
    return _python(path) if path.suffix == ".py" else _rust(path)


def _python(path: Path) -> dict[str, str]:
    try:
        tree = ast.parse(path.read_text())
    except SyntaxError as bad:
        raise BadInput(f"{path}:{bad.lineno}: {bad.msg}", "a run file that parses", "correct that line") from None
    known, always = _top_level(tree)
    return {
        n.name: "\n".join([*always, *(_plain(part) for part in _reach(n.name, known))])
        for n in tree.body
        if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")
    }


def _top_level(tree: ast.Module) -> tuple[dict[str, ast.stmt], list[str]]:
    """Every name a module binds -> the statement that binds it; and what every function stands on: imports, and statements run for their effect."""
    known: dict[str, ast.stmt] = {}
    always: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            known[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            always.append(ast.unparse(node))
        elif isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):  # a docstring changes no number; jax.config.update(...) does
                always.append(ast.unparse(node))
        else:
            known |= {n.id: node for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return known, always


def _reach(name: str, known: dict[str, ast.stmt]) -> list[ast.stmt]:
    """The statements that ``name`` stands on, in the order of the file."""
    seen, queue = {name}, [name]
    while queue:
        for node in ast.walk(known[queue.pop()]):
            if isinstance(node, ast.Name) and node.id in known and node.id not in seen:
                seen.add(node.id)
                queue.append(node.id)
    return list({id(known[n]): known[n] for n in known if n in seen}.values())


def _plain(node: ast.stmt) -> str:
    """Source without comments, docstrings and layout."""
    node = ast.parse(ast.unparse(node)).body[0]
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(inner) is not None and len(inner.body) > 1:
            inner.body = inner.body[1:]
    return ast.unparse(node)


def _rust(path: Path) -> dict[str, str]:
    """Each public function with the file's private items; rustfmt'd layout and comments do not count."""
    import tree_sitter_rust
    from tree_sitter import Language, Node, Parser

    tree = Parser(Language(tree_sitter_rust.language())).parse(path.read_bytes())

    def tokens(node: Node) -> list[str]:
        if node.type in ("line_comment", "block_comment"):
            return []
        if not node.children or node.type == "string_literal":
            return [(node.text or b"").decode()]
        return [t for child in node.children for t in tokens(child)]

    public: dict[str, str] = {}
    shared: list[str] = []
    for node in tree.root_node.children:
        name = node.child_by_field_name("name")
        is_public = any(c.type == "visibility_modifier" for c in node.children)
        if node.type == "function_item" and is_public and name is not None:
            public[(name.text or b"").decode().removeprefix("r#")] = " ".join(tokens(node))
        else:
            shared += tokens(node)
    return {name: " ".join(shared) + "\n" + text for name, text in public.items()}


@lru_cache
def reached(code: str, package: Path, name: str) -> str:
    """Every module of ``package`` (imported as ``name``) that runs where ``code`` has run its imports; comments and docstrings left out."""
    modules = {".".join((name, *file.relative_to(package).with_suffix("").parts)): file for file in package.rglob("*.py")}
    modules = {module.removesuffix(".__init__"): file for module, file in modules.items()}
    texts: dict[str, str] = {}
    queue = list(_imports(code, name))
    while queue:
        module = queue.pop()
        if module in modules and module not in texts:
            tree = ast.parse(modules[module].read_text())
            texts[module] = "\n".join(_plain(n) for n in tree.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)))
            queue += _imports(texts[module], module if modules[module].name == "__init__.py" else module.rpartition(".")[0])
    return "".join(f"\n# {module}\n{texts[module]}" for module in sorted(texts))


def _imports(code: str, inside: str) -> Iterator[str]:
    """The dotted names that ``code``, a module of the package ``inside``, imports, and the packages they are in."""
    for node in ast.walk(ast.parse(code)):
        dotted: list[str] = []
        if isinstance(node, ast.Import):
            dotted = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), inside)
            dotted = [f"{base}.{a.name}" for a in node.names]  # what is imported from a package may be a module of it
        for name in dotted:
            yield from accumulate(name.split("."), "{}.{}".format)


def of(function: Callable[..., Any]) -> str:
    """The source of a case's function with the module-level names it stands on, comments and docstrings left out.

    Raises:
        BadInput: a lambda, a partial or a builtin: its text cannot be told from its neighbours'.
    """
    name, file = (
        getattr(function, "__name__", repr(function)),
        inspect.getsourcefile(inspect.unwrap(function)) if inspect.isfunction(function) else None,
    )
    sources = _with_private(Path(file)) if file else {}
    if name not in sources:
        raise BadInput(f"a case uses {name} ({function!r})", "a plain function of case.py, by name", "write it as a def")
    return sources[name]


def entry(path: Path, item: str) -> str:
    """The text of one item of a table of operations, with the module-level names it stands on.

    Raises:
        BadInput: the table does not have it written out.
    """
    if item not in _entries(path):
        raise BadInput(f"{path.parent.name}/case.py: no {item!r} written out in the table of CASE", f'"{item}": Op(...)', "write it there")
    return _entries(path)[item]


@lru_cache
def _entries(path: Path) -> dict[str, str]:
    """By name, of a file that is parsed once for all its items and columns."""
    known = _with_private(path)
    texts: dict[str, str] = {}
    tables = [n for case in ast.parse(path.read_text()).body if _is_case(case) for n in ast.walk(case) if isinstance(n, ast.Dict)]
    for key, value in [pair for table in tables for pair in zip(table.keys, table.values, strict=True)]:
        if isinstance(key, ast.Constant) and key.value not in texts:
            names = sorted({n.id for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in known})
            texts[str(key.value)] = "\n".join([ast.unparse(value), *(known[name] for name in names)])
    return texts


@lru_cache
def _with_private(path: Path) -> dict[str, str]:
    tree = ast.parse(path.read_text())
    tree.body = [n for n in tree.body if not _is_case(n)]
    known, always = _top_level(tree)
    return {name: "\n".join([*always, *(_plain(part) for part in _reach(name, known))]) for name in known}


def _is_case(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "CASE" for t in node.targets)


def digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]
