"""The Atom feed of new silent cells; careful that an entry keeps its id, so that no reader shows it twice."""

from __future__ import annotations

import uuid
from xml.etree import ElementTree as ET

from harness import record
from harness.export import clean
from harness.export.gather import Selection
from harness.record import Record

ATOM = "http://www.w3.org/2005/Atom"
# Ours: made once, so that ids are the same on every machine.
NAMESPACE = uuid.UUID("5d2f0c1e-8a39-4b57-9a55-2f6f3f5b7c10")


def write(selection: Selection) -> str:
    """RFC 4287, newest first; every silent cell where there is no baseline to compare with."""
    ET.register_namespace("", ATOM)
    feed = ET.Element(_tag("feed"))
    new = [r for r in selection.records if r["status"] == "silent" and selection.is_new(r)]
    new.sort(key=lambda r: str(r["at"]), reverse=True)
    _add(feed, "id", uuid.uuid5(NAMESPACE, "new silent cells").urn)
    _add(feed, "title", "silentbench: new silent failures")
    _add(feed, "subtitle", f"{len(new)} of {len(selection.records)} cells of {selection.what}")
    _add(feed, "updated", max(str(r["at"]) for r in (new or selection.records)))
    _add(ET.SubElement(feed, _tag("author")), "name", "silentbench")
    for found in new:
        _entry(feed, selection, found)
    ET.indent(feed)
    return ET.tostring(feed, encoding="unicode", xml_declaration=True) + "\n"


def _entry(feed: ET.Element, selection: Selection, found: Record) -> None:
    entry = ET.SubElement(feed, _tag("entry"))
    _add(entry, "id", identity(found))
    _add(entry, "title", clean.line(f"{record.address(found)} is silent", 200))
    _add(entry, "updated", str(found["at"]))
    ET.SubElement(entry, _tag("category"), term=selection.failure(found))
    ET.SubElement(entry, _tag("category"), term=clean.text(found["column"]))
    told = [selection.claim(found), str(found["message"]), selection.tracker(found), record.command(found)]
    _add(entry, "content", "\n\n".join(clean.line(part, 1_000) for part in told if part)).set("type", "text")


def identity(found: Record) -> str:
    """The same for one question in one version of it, whichever run answered."""
    return uuid.uuid5(NAMESPACE, "\n".join([*record.key(found), str(found["asked"])])).urn


def _add(parent: ET.Element, name: str, value: str) -> ET.Element:
    child = ET.SubElement(parent, _tag(name))
    child.text = clean.text(value)
    return child


def _tag(name: str) -> str:
    return f"{{{ATOM}}}{name}"
