"""Writes a bundle: facts through templates into a form's fields; careful that what a person has written in human.md is never overwritten."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import jinja2

from harness import record
from harness.bundle import form as forms
from harness.bundle.collect import collect, portable
from harness.bundle.facts import Facts
from harness.bundle.form import LIMIT_BYTES, TEMPLATES, Field, Form

SCHEMA = 1
NOTE = "note"  # the one section of human.md where a form does not ask for a person's words
SECTION = re.compile(r"^## +(?P<name>\S+) *$", re.MULTILINE)
COPIED = ("repro.py", "Cargo.toml", "Cargo.lock")
DOCUMENTS = ("expected_actual.md", "versions.md", "duplicates.md", "policy.md")


def write(facts: Facts, folder: Path, *, require_human: bool | None = None) -> dict[str, Any]:
    """Make or renew the bundle of one cell, and say what is in it; without ``require_human`` the form decides."""
    form = forms.choose(facts.column.framework, facts.record["status"], facts.record["mode"])
    need = form.human if require_human is None else require_human
    folder.mkdir(parents=True, exist_ok=True)
    _copy(facts, folder / "repro")
    facts = dataclasses.replace(facts, environment=collect(facts.project, facts.column, facts.repro.folder))
    (folder / "env.txt").write_text(facts.environment)
    sections = [f.id for f in form.fields if f.human] or [NOTE]
    render = _renderer(facts, form, sections)
    if not (folder / "human.md").exists():
        (folder / "human.md").write_text(render("human.md", None))
    said = human(folder)
    for name in DOCUMENTS:
        (folder / name).write_text(render(name, None))
    ours = {f.id: render(f"{f.fill}.md", f) for f in form.fields}
    answers = {f.id: _field(f, ours[f.id], said, first=f is form.fields[0]) for f in form.fields}
    shutil.rmtree(folder / "form", ignore_errors=True)
    (folder / "form").mkdir()
    for name, text in answers.items():
        (folder / "form" / f"{name}.md").write_text(text)
        if ours[name] and not text:  # what will stand below a person's words
            (folder / "form" / f"{name}.facts.md").write_text(ours[name])
    missing = [name for name in sections if not said.get(name)] if need else []
    address, pasted, why = _address(form, facts, answers, missing)
    (folder / "open.url").unlink(missing_ok=True)
    if address:
        (folder / "open.url").write_text(address + "\n")
    made = {
        "schema": SCHEMA,
        "form": form.name,
        "project": form.project,
        "template": form.template,
        "form_read": form.read.isoformat(),
        "form_commit": form.commit,
        "cell": facts.cell.address,
        "column": facts.column.id,
        "package": facts.package,
        "status": facts.record["status"],
        "asked": facts.record["asked"],
        "first_bad": facts.turned[0],
        "last_good": facts.turned[1],
        "bisected": facts.bisect is not None,
        "repro": {"status": facts.repro.said.get("status", ""), "exit": facts.repro.exit, "lines": facts.repro.said.get("lines", 0)},
        "fields": [{"id": f.id, "kind": f.kind, "required": f.required, "pasted": f.id in pasted} for f in form.fields],
        "url_bytes": len(address.encode()),
        "no_url": why,
        "human": {"required": need, "missing": [name for name in sections if not said.get(name)] if form.human or need else []},
        "duplicates": list(facts.links),
        "files": digests(folder),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    (folder / "bundle.json").write_text(json.dumps(made, indent=1) + "\n")
    return made


def digests(folder: Path) -> dict[str, str]:
    """The sha256 of each file of a bundle but bundle.json, and human.md, which a person goes on with."""
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    return {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in names if n not in ("bundle.json", "human.md")}


def human(folder: Path) -> dict[str, str]:
    """What a person wrote in human.md, by section; comments are no words."""
    text = (folder / "human.md").read_text() if (folder / "human.md").exists() else ""
    parts = SECTION.split(text)
    return {name: re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL).strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _copy(facts: Facts, to: Path) -> None:
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    for name in COPIED:
        if (facts.repro.folder / name).is_file():
            shutil.copyfile(facts.repro.folder / name, to / name)
    if (facts.repro.folder / "src").is_dir():
        shutil.copytree(facts.repro.folder / "src", to / "src")
    said = {k: portable(v, facts.project) if isinstance(v, str) else v for k, v in facts.repro.said.items()}
    (to / "repro.json").write_text(json.dumps(said, indent=1) + "\n")


def _renderer(facts: Facts, form: Form, sections: list[str]) -> Any:
    loader = jinja2.FileSystemLoader(TEMPLATES)
    # Markdown: nothing to escape for HTML.
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)  # noqa: S701
    environment.filters["cell"] = lambda text: str(text).replace("|", r"\|").replace("\n", " ")[:160]
    name = re.sub(r"[_:]", " ", facts.cell.spec.row).removeprefix("grad ")

    def render(template: str, field: Field | None) -> str:
        text = environment.get_template(f"{template}.j2").render(f=facts, form=form, field=field, sections=sections, search=name)
        text = re.sub(r"\n{3,}", "\n\n", portable(text, facts.project)).strip()
        return f"{text}\n" if text else ""

    return render


def _field(field: Field, text: str, said: Mapping[str, str], *, first: bool) -> str:
    """A field's text, a person's words before ours."""
    words = said.get(field.id, "") or (said.get(NOTE, "") if first else "")
    if field.human and not words:
        return ""  # the form wants a person's words there: it stays empty, and a check says so
    return f"{words}\n\n{text}".strip() + "\n" if words else text


def title(form: Form, facts: Facts) -> str:
    """A fact for a title; where only a person may write, what the form itself begins with."""
    if form.human:
        return form.title
    failed = next((line for line in facts.lines if not line.holds), None)
    what = f"{failed.check}: got {failed.got}, want {failed.want}" if failed else facts.record["message"]
    return f"{form.title}{facts.spec.item or facts.spec.id} ({facts.package[0]}): {what}"[:200]


def _address(form: Form, facts: Facts, answers: Mapping[str, str], missing: list[str]) -> tuple[str, list[str], str]:
    """The address that opens the form, the fields that must be pasted by hand, and why there is no address."""
    everything = [f.id for f in form.fields]
    if not form.address:
        return "", everything, "the project's form is not described here"
    if missing:
        return "", everything, f"human.md has no words yet for: {', '.join(missing)}"
    base = {"template": form.template, "title": title(form, facts)}
    if form.kind == "markdown":
        body = "\n".join(f"**{f.heading}**\n\n{_set(f, answers[f.id])}\n" for f in form.fields if answers[f.id])
        whole = _url(form, {**base, "body": body})
        return (whole, [], "") if len(whole.encode()) <= LIMIT_BYTES else (_url(form, base), everything, "")
    able = {f.id: answers[f.id].strip() for f in form.fields if f.prefill and f.kind != "checkboxes" and answers[f.id].strip()}
    while len((whole := _url(form, {**base, **able})).encode()) > LIMIT_BYTES:
        del able[max(able, key=lambda name: len(quote(able[name])))]  # the longest is pasted by hand
    return whole, [name for name in everything if name not in able], ""


def _set(field: Field, text: str) -> str:
    return f"```{field.render}\n{text.strip()}\n```" if field.render and not text.lstrip().startswith("```") else text.strip()


def _url(form: Form, query: Mapping[str, str]) -> str:
    return f"{form.address}?{urlencode({k: v for k, v in query.items() if v}, quote_via=quote)}"


def default_folder(facts: Facts) -> Path:
    return facts.project.latest / "bundles" / re.sub(r"[^\w.-]+", ".", record.address(facts.record))
