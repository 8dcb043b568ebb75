"""Holds a bundle against its project's form; careful that it reads the folder as it is now, not what was meant to be written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.bundle import form as forms
from harness.bundle import write
from harness.bundle.collect import ABSOLUTE
from harness.bundle.form import LIMIT_BYTES, Field, Form
from harness.errors import BadInput

SCHEMA_FILE = Path(__file__).with_name("bundle.schema.json")
REPRODUCED = "reproduced"  # repro.json's word for a repro that failed as its record says


def problems(folder: Path, *, unwritten: bool = True) -> list[str]:
    """What is wrong with a bundle; none where it can be filed. Without ``unwritten`` it is no fault that a person has not written yet what only he may.

    Raises:
        BadInput: there is no bundle.
    """
    try:
        made = json.loads((folder / "bundle.json").read_text())
    except (OSError, ValueError) as bad:
        raise BadInput(f"no bundle in {folder}: {bad}", "a folder with a bundle.json", "python -m harness bundle CELL COLUMN") from None
    if wrong := list(_schema(made)):
        return wrong
    try:
        form = forms.named(made["form"])
    except BadInput as unknown:
        return [f"bundle.json: {unknown.found}; wanted: {unknown.wanted}"]
    found = [p for field in form.fields for p in _field(folder, field, unwritten=unwritten)]
    return [*found, *_address(folder, form, made), *_human(folder, form, made), *_repro(folder), *_files(folder, made)]


def _schema(made: dict[str, Any]) -> Iterator[str]:
    import jsonschema

    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    for error in validator.iter_errors(made):
        yield f"bundle.json: {'.'.join(map(str, error.absolute_path)) or 'bundle'}: {error.message}"


def _field(folder: Path, field: Field, *, unwritten: bool) -> Iterator[str]:
    path = folder / "form" / f"{field.id}.md"
    text = path.read_text().strip() if path.is_file() else ""
    if field.required and not text and (unwritten or not field.human):
        todo = f"write its section of human.md, then make the bundle again: {field.id}" if field.human else "fill it in"
        yield f"form/{field.id}.md: required and empty; do: {todo}"
    chosen = [line.strip() for line in text.splitlines() if line.strip()]
    if field.kind == "dropdown":
        for value in chosen:
            if value not in field.options:
                yield f"form/{field.id}.md: {value!r} is no choice of the form; wanted: {', '.join(field.options)}"
        if len(chosen) > 1 and not field.multiple:
            yield f"form/{field.id}.md: {len(chosen)} choices; wanted: one"
    if field.kind == "checkboxes":
        for line in chosen:
            if line.removeprefix("- [x] ").removeprefix("- [ ] ") not in field.options:
                yield f"form/{field.id}.md: {line!r} is no box of the form"
    if field.kind == "input" and len(chosen) > 1:
        yield f"form/{field.id}.md: {len(chosen)} lines; wanted: one, it is a line of the form"


def _address(folder: Path, form: Form, made: dict[str, Any]) -> Iterator[str]:
    path = folder / "open.url"
    if not path.is_file():
        if not made["no_url"]:
            yield "open.url is missing; wanted: the address, or the reason in bundle.json"
        return
    address = path.read_text().strip()
    if len(address.encode()) > LIMIT_BYTES:
        yield f"open.url: {len(address.encode())} bytes; wanted: at most {LIMIT_BYTES}"
    if not form.address or not address.startswith(f"{form.address}?template={form.template}"):
        yield f"open.url does not open {form.template} of {form.project or 'any project'}"


def _human(folder: Path, form: Form, made: dict[str, Any]) -> Iterator[str]:
    said = write.human(folder)
    missing = [f.id for f in form.fields if f.human and not said.get(f.id)]
    if missing and made["human"]["required"] and (folder / "open.url").is_file():
        yield f"open.url is there, and human.md has no words for {', '.join(missing)}"


def _repro(folder: Path) -> Iterator[str]:
    repro = folder / "repro"
    wanted = [["repro.py"], ["Cargo.toml", "Cargo.lock", "src/main.rs"]]
    if not any(all((repro / name).is_file() for name in names) for names in wanted):
        yield "repro/: no reproduction; wanted: repro.py, or Cargo.toml, Cargo.lock and src/main.rs"
    try:
        said = json.loads((repro / "repro.json").read_text())
    except (OSError, ValueError):
        yield "repro/repro.json is missing or no JSON; wanted: what the repro said when it was run"
        return
    if said.get("status") != REPRODUCED:
        yield f"repro/repro.json: status {said.get('status')!r}; wanted: {REPRODUCED!r}"
    code = said.get("code")
    if code in (None, 0):
        yield f"repro/repro.json: exit status {code}; wanted: one that says the defect is there"


def _files(folder: Path, made: dict[str, Any]) -> Iterator[str]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            if found := ABSOLUTE.search(line):
                yield f"{name}:{number}: an absolute path, {found[0]}"
                break
    now = write.digests(folder)
    for name in sorted(set(made["files"]) - set(now)):
        yield f"{name} is gone"
    for name in sorted(n for n in made["files"].keys() & now.keys() if n.startswith("repro/") and made["files"][n] != now[n]):
        yield f"{name} is not what was run"
