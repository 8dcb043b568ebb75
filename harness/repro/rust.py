"""The Rust files of a bundle: Cargo.toml, Cargo.lock and src/main.rs; careful that the lock is the column's own, and the framework the one dependency."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import jinja2
import numpy as np

from harness.errors import BadInput
from harness.pins import Column
from harness.project import Project
from harness.repro import attributes, burn, candle, cargo_lock, literals
from harness.repro.question import Output, Question
from harness.source import digest

TOLD = {"candle": candle.told, "burn": burn.told}  # what the templates of a framework are given beside what all are


def rust_files(project: Project, question: Question, jinja: jinja2.Environment, context: dict[str, Any]) -> dict[str, str]:
    """The three files, and beside main.rs what would make it too long to read.

    Raises:
        BadInput: there is no template for the framework.
        CannotBuild: the column has no lock.
    """
    column = question.cell.column
    if column.folder not in TOLD:
        raise BadInput(f"no template for {column.folder}", f"one of {', '.join(TOLD)}", f"write harness/repro/templates/{column.folder}.j2")
    given = {**context, **_more(question, context)}
    glue = question.example is not None and f"{column.folder}.glue.j2" in jinja.list_templates()
    made = {"src/main.rs": _rendered(jinja, column.folder, given, split=glue)}
    if glue or literals.lines(made["src/main.rs"]) > literals.MOST_LINES:
        made = {"src/main.rs": _rendered(jinja, column.folder, given, split=True)}
        made["src/compare.rs"] = _rendered(jinja, f"{column.folder}.compare", given, split=True)
        if glue:
            made["src/glue.rs"] = _rendered(jinja, f"{column.folder}.glue", given, split=True)
        elif given["attributes"] is not None:
            made["src/serde_json.rs"] = _rendered(jinja, "rust.attributes", {**given, "apart": True}, split=True)
    binary = f"repro-{digest(*made.values())[:8]}"
    return {"Cargo.toml": _manifest(column, binary), "Cargo.lock": cargo_lock.lock(project, column), **made}


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


def _more(question: Question, context: Mapping[str, Any]) -> dict[str, Any]:
    example, column = question.example, question.cell.column
    text = "\n".join([*context["imports"], context["body"]])
    told = TOLD[column.folder](question, text)
    expressions: dict[str, str] = told.pop("expressions")
    text += told.pop("reads")  # attributes are read by what stands in for the probe, too
    return {
        **told,
        **attributes.of(text, example.asked.attributes if example else None),
        "apart": False,
        "crates": ", ".join(f"{crate} {column.version}" for crate in column.crates),
        "outputs": [{**_output(o), "expression": expressions[o.name]} for o in question.outputs],
        "partial": any(o.partial for o in question.outputs),
    }


def _output(output: Output) -> dict[str, Any]:
    want, atol = output.want, np.asarray(output.atol, dtype=np.float64)
    if output.known is not None and output.partial:
        assert not np.isnan(want[output.known]).any()
        want = np.where(output.known, want, np.nan)
    return {
        "name": output.name,
        "shape": list(want.shape),
        "want": literals.rust_list(want),
        "rtol": literals.rust(float(output.rtol)),
        "atol": literals.rust_list(atol),
    }
