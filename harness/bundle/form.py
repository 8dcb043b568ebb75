"""The issue forms of upstream projects, as forms/*.toml describes them; careful that a description of ours that is wrong never loads."""

from __future__ import annotations

import datetime as dt
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from harness.errors import BadInput
from harness.verdict import STATUSES

FOLDER = Path(__file__).with_name("forms")
TEMPLATES = Path(__file__).with_name("templates")
Kind = Literal["form", "markdown", "generic"]
LIMIT_BYTES = 8191  # of an address that the site takes


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a form. ``fill`` is the template of ours that answers it; of a dropdown, ``options`` are what is legal."""

    id: str
    kind: Literal["textarea", "input", "dropdown", "checkboxes"]
    fill: str
    required: bool = False
    prefill: bool = True  # false: the form gives it no id, so an address cannot carry it
    human: bool = False  # needs words of a person
    heading: str = ""
    render: str = ""  # the form sets what is pasted as code of this language: no fence of ours
    options: tuple[str, ...] = ()
    multiple: bool = False


@dataclass(frozen=True, kw_only=True)
class Form:
    """One issue form, read on a day at a commit of its project."""

    name: str
    project: str
    frameworks: tuple[str, ...]
    template: str
    kind: Kind
    read: dt.date
    fields: tuple[Field, ...]
    statuses: tuple[str, ...]
    modes: tuple[str, ...] = ("eager", "compiled")
    commit: str = ""
    title: str = ""
    labels: tuple[str, ...] = ()
    human: bool = False
    policy: tuple[str, ...] = field(default=())

    @property
    def address(self) -> str:
        return f"https://github.com/{self.project}/issues/new" if self.project else ""


@cache
def forms() -> tuple[Form, ...]:
    """Every form, by file name.

    Raises:
        BadInput: a description has an unknown key, kind, status or template, or a dropdown without options.
    """
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.toml")))


def _read(path: Path) -> Form:
    return parse(path.stem, tomllib.loads(path.read_text()))


def parse(name: str, table: dict[str, Any]) -> Form:
    """A form from its table.

    Raises:
        BadInput: it is not one.
    """
    lists = ("frameworks", "statuses", "modes", "labels", "policy")
    try:
        fields = tuple(Field(**{**one, "options": tuple(one.get("options", ()))}) for one in table["fields"])
        given: dict[str, Any] = {k: tuple(v) if k in lists else v for k, v in table.items() if k != "fields"}
        form = Form(**{"name": name, "fields": fields, **given})
    except (TypeError, KeyError) as bad:
        raise BadInput(f"forms/{name}.toml: {bad}", "the keys of Form and Field in harness/bundle/form.py", "correct it") from bad
    wrong = [f"status {s}" for s in form.statuses if s not in STATUSES]
    wrong += [f"{f.id}: no template {f.fill}.md.j2" for f in fields if not (TEMPLATES / f"{f.fill}.md.j2").is_file()]
    wrong += [f"{f.id}: no options" for f in fields if f.kind in ("dropdown", "checkboxes") and not f.options]
    wrong += [f"{f.id}: no heading" for f in fields if form.kind != "form" and not f.heading]
    wrong += [f"{f.id} twice" for f in fields if [x.id for x in fields].count(f.id) > 1]
    if wrong:
        raise BadInput(f"forms/{name}.toml: {'; '.join(wrong)}", "a form that can be filled in", "correct it")
    return form


def choose(framework: str, status: str, mode: str) -> Form:
    """The form of a framework's project for this kind of answer; the generic one where it is not described.

    Raises:
        BadInput: a status that no issue is about.
    """
    able = [f for f in forms() if status in f.statuses and mode in f.modes]
    own = [f for f in able if framework in f.frameworks]
    if own:
        return own[0]
    generic = next((f for f in able if f.kind == "generic"), None)
    if generic is None:
        raise BadInput(f"a cell that is {status}", "one that fails", "python -m harness show")
    return generic


def named(name: str) -> Form:
    """A form by the name of its file.

    Raises:
        BadInput: there is none.
    """
    found = next((f for f in forms() if f.name == name), None)
    if found is None:
        raise BadInput(f"form {name!r}", f"one of {', '.join(f.name for f in forms())}", "make the bundle again")
    return found
