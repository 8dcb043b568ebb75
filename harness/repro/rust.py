"""The Rust files of a bundle: Cargo.toml, Cargo.lock and src/main.rs; careful that the lock is the column's own, and the framework the one dependency."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import jinja2
import numpy as np

from gradarbiter.core import Array
from harness.errors import CannotBuild
from harness.pins import Column
from harness.project import Project
from harness.repro import literals
from harness.repro.question import Output, Question
from harness.source import digest

CANDLE = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}
# What a run file calls on an attribute -> the kind it is of, what it gives, and how.
READERS = {
    "as_u64": ("Number", "u64", "*it as u64"),
    "as_i64": ("Number", "i64", "*it as i64"),
    "as_f64": ("Number", "f64", "*it"),
    "as_bool": ("Bool", "bool", "*it"),
    "as_str": ("Text", "&str", "it"),
    "as_array": ("List", "&Vec<Value>", "it"),
}
BLOCK = re.compile(r"\[\[package\]\]\n.*?(?=\n\[\[package\]\]|\Z)", re.DOTALL)


def rust_files(project: Project, question: Question, jinja: jinja2.Environment, context: dict[str, Any]) -> dict[str, str]:
    """The three files.

    Raises:
        CannotBuild: the column has no lock.
    """
    column = question.cell.column
    given = {**context, **_more(question, context)}
    made = {"src/main.rs": _rendered(jinja, column.framework, given, split=False)}
    if literals.lines(made["src/main.rs"]) > literals.MOST_LINES:
        made = {"src/main.rs": _rendered(jinja, column.framework, given, split=True)}
        made["src/compare.rs"] = _rendered(jinja, f"{column.framework}.compare", given, split=True)
        if given["attributes"] is not None:
            made["src/serde_json.rs"] = _rendered(jinja, f"{column.framework}.attributes", given, split=True)
    binary = f"repro-{digest(*made.values())[:8]}"
    return {"Cargo.toml": _manifest(column, binary), "Cargo.lock": _lock(project, column), **made}


def _rendered(jinja: jinja2.Environment, template: str, given: Mapping[str, Any], *, split: bool) -> str:
    """``split``: what each bundle has alike stands in files of its own."""
    text = jinja.get_template(f"{template}.j2").render(**given, split=split)
    return re.sub(r"\n{3,}", "\n\n", text)


def _manifest(column: Column, binary: str) -> str:
    pin = f'"={column.version}"'
    if column.features:
        pin = f"{{ version = {pin}, default-features = false, features = {json.dumps(list(column.features))} }}"
    wanted = "".join(f"{crate} = {pin}\n" for crate in column.crates)
    return (
        '[package]\nname = "repro"\nversion = "0.0.0"\nedition = "2021"\npublish = false\n\n'
        f'[[bin]]\nname = "{binary}"\npath = "src/main.rs"\n\n[dependencies]\n{wanted}\n'
        "[profile.release.package.repro]\nopt-level = 0 # compiles sooner; the framework is optimized\n\n[workspace]\n"
    )


def _lock(project: Project, column: Column) -> str:
    """The column's lock with this crate in the place of the probe: the same version of everything else."""
    try:
        text = (project.locks / column.lock).read_text()
    except FileNotFoundError:
        raise CannotBuild("install", f"no {column.lock}", "the column's lock", "python3 noxfile.py -s lock") from None
    head = text[: text.index("[[package]]")]
    blocks = [block for block in BLOCK.findall(text) if not re.search(r'^name = "probe-', block, re.MULTILINE)]
    wanted = "".join(f' "{crate}",\n' for crate in column.crates)
    blocks.append(f'[[package]]\nname = "repro"\nversion = "0.0.0"\ndependencies = [\n{wanted}]\n')
    blocks.sort(key=_named)
    return head + "\n".join(block.rstrip("\n") + "\n" for block in blocks)


def _named(block: str) -> tuple[str, list[int | str]]:
    name, version = re.findall(r'^(?:name|version) = "([^"]+)"', block, re.MULTILINE)[:2]
    return name, [int(part) if part.isdigit() else part for part in re.split(r"[.+-]", version)]


def _more(question: Question, context: Mapping[str, Any]) -> dict[str, Any]:
    example, column = question.example, question.cell.column
    text = context["body"] + "\n".join(context["imports"])
    floats = {name for name, value in question.tensors.items() if value.dtype.kind == "f"}
    leaves = floats if question.gradient else set()
    tensors = [_tensor(name, value, question.dtype, leaf=name in leaves) for name, value in question.tensors.items()]
    needed = {name for name in READERS if name in text or (name == "as_array" and "][" in text)}
    shown = [_output(o, example is not None) for o in question.outputs]
    return {
        "crates": ", ".join(f"{crate} {column.version}" for crate in column.crates),
        "tensors": tensors,
        "seen": {t["name"]: _seen(question, t) for t in tensors} if example else {},
        "attributes": {k: _value(v) for k, v in example.asked.attributes.items()} if example else None,
        "upstream": _tensor("upstream", example.upstream, question.dtype, leaf=False) if example else None,
        "outputs": shown,
        "partial": any(o.partial for o in question.outputs),
        "readers": [(name, *READERS[name]) for name in READERS if name in needed],
        "indexed": bool(re.search(r"\w\[\d\]\.as_|cut\[", text)),
    }


def _tensor(name: str, value: Array, dtype: str, *, leaf: bool) -> dict[str, Any]:
    floating = value.dtype.kind == "f"
    plain = value.astype(np.float64)
    return {
        "name": name,
        "leaf": leaf,
        "floats": floating,
        "rust": CANDLE.get(dtype, "F64") if floating else "I64",
        "shape_list": list(value.shape),
        "literal": literals.rust_list(plain),
    }


def _seen(question: Question, t: Mapping[str, Any]) -> str:
    """One tensor as the operation sees it."""
    example, name = question.example, t["name"]
    assert example
    shape = list(example.asked.tensors[name].shape)
    buffer = f"{name}.as_tensor()" if t["leaf"] else name
    seen = {
        "transposed": f"{buffer}.transpose(candle_core::D::Minus2, candle_core::D::Minus1)?",
        "strided": f"{buffer}.reshape(&{[*shape, 2]})?.narrow(candle_core::D::Minus1, 0, 1)?.squeeze(candle_core::D::Minus1)?",
        "offset": f"{buffer}.narrow(0, 1, {shape[0] if shape else 1})?",
        "broadcast": f"{buffer}.broadcast_as(&{shape}[..])?",
    }.get(example.layouts[name], f"{buffer}.clone()")
    if example.use == "chain" and t["floats"]:
        return f"{{ let half = {seen}; (&half + &half)? }}"
    return seen


def _value(value: Any) -> str:
    if value is None:
        return "Value::Null"
    if isinstance(value, bool):
        return f"Value::Bool({str(value).lower()})"
    if isinstance(value, int | float):
        return f"Value::Number({literals.rust(float(value))})"
    if isinstance(value, str):
        return f'Value::Text("{value}".to_string())'
    return f"Value::List(vec![{', '.join(_value(v) for v in value)}])"


def _output(output: Output, swept: bool) -> dict[str, Any]:
    want, atol = output.want, np.asarray(output.atol, dtype=np.float64)
    if output.known is not None and output.partial:
        assert not np.isnan(want[output.known]).any()
        want = np.where(output.known, want, np.nan)
    if swept:
        expression = "Some(&y)" if output.name == "y" else f"grads.get(&{output.name[1:]})"
        if output.name.endswith(" afterwards"):
            expression = f"Some(&{output.name.partition(' ')[0]})"
    else:
        expression = f'out.get("{output.name}")'
    return {
        "name": output.name,
        "expression": expression,
        "shape": list(want.shape),
        "want": literals.rust_list(want),
        "rtol": literals.rust(float(output.rtol)),
        "atol": literals.rust_list(atol),
    }
