"""The page stands alone: one small file, well formed, that fetches nothing, lets nothing through that was printed, and reads without a script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from pathlib import Path

import drawn_page
import pytest
import synthetic
from drawn_page import Page, blobs_of, page_of, squares_of

from harness.report import text
from harness.report.render import TEMPLATES

run, html, page, blobs = drawn_page.run, drawn_page.html, drawn_page.page, drawn_page.blobs


def test_page_is_well_formed_and_every_link_inside_it_arrives(page, blobs):
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    inside = {h[1:] for h in page.attributes("href") if h.startswith("#")}
    filters = {h for h in inside if h.startswith("?q=")}
    drawn = {f"/c/{row}/{column}" for row, found in squares_of(blobs).items() for column in found}
    assert inside - filters - drawn <= set(ids)  # a square of a folded group is drawn by the script
    assert filters
    assert not any(re.search(r"\s", i) for i in ids)


def test_page_fetches_nothing(page, html):
    assert not {t for t, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "form", "base", "audio", "video"}
    assert not page.attributes("src")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML|insertAdjacentHTML|document\.write|eval\(", html)
    policy = next(a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    assert re.fullmatch(
        "default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'", policy
    )
    for tag, body in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        (content,) = re.findall(body, html, flags=re.DOTALL)
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'" in policy
    assert not page.attributes("style")
    outside = [h for h in page.attributes("href") if not h.startswith("#")]

    assert all(h.startswith("https://") for h in outside)


def test_page_without_a_script_says_the_same(html):
    bare = Page(re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL))
    assert bare.words() == Page(html).words()
    hidden = [a for _, a in bare.elements if "hidden" in a]
    assert all("scripted" in a.get("class", "") or a.get("id") == "drawer" for a in hidden)  # what a script shows


HOSTILE = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href='javascript:alert(3)'>"


def test_nothing_a_framework_prints_gets_through(run):
    records = [dict(r) for r in run.records]
    for record in records:
        record |= {"message": HOSTILE, "log": HOSTILE * 3, "cause": "build" if record["status"] == "error" else None}
        record["checks"] = [{**c, "got": HOSTILE, "note": HOSTILE, "check": HOSTILE} for c in record["checks"]]
        record["environment"] = {**record["environment"], "cpu": HOSTILE, "facts": {HOSTILE: HOSTILE}}
    records += [
        {
            **records[0],
            "case": HOSTILE,
            "column": HOSTILE,
            "variant": HOSTILE,
            "dtype": HOSTILE,
            "run": HOSTILE,
            "at": HOSTILE,
            "file": HOSTILE,
        }
    ]
    facts = {**run.facts, "command": HOSTILE, "cpu": HOSTILE}
    dirty = Page(page_of(run, records, title_facts=facts))
    clean = Page(page_of(run))
    assert (
        [a for t, a in dirty.elements if t == "script" and "type" not in a]
        == [{}]
        == [a for t, a in clean.elements if t == "script" and "type" not in a]
    )
    assert {a["type"] for t, a in dirty.elements if t == "script" and a} == {"application/octet-stream"}
    assert "img" not in {t for t, _ in dirty.elements}
    assert not [a for _, attributes in dirty.elements for a in attributes if a.startswith("on")]
    assert not [h for h in dirty.attributes("href") if not h.startswith(("#", "https://"))]
    assert "alert(1)" in dirty.words()  # shown, as text


def test_a_note_links_only_to_the_web():
    assert text.links("see https://a.org/x?y=1. javascript:alert(1)") == [
        ("see ", False),
        ("https://a.org/x?y=1", True),
        (". javascript:alert(1)", False),
    ]


@pytest.mark.parametrize("path", ["../secret.txt", "cases/gone.py", "/etc/hostname"])
def test_a_file_outside_the_project_is_never_read(run, path):
    (run.root.parent / "secret.txt").write_text("the secret")
    carried = json.dumps(blobs_of(page_of(run, [{**run.records[0], "file": path}])))
    assert "the secret" not in carried
    assert "not in the project any more" in carried


def test_four_hundred_cells_are_small_and_fast(tmp_path):
    run = synthetic.make(tmp_path, cells=400)
    start = time.process_time()
    html = page_of(run)
    assert time.process_time() - start < 2
    assert len(html.encode()) < 1_500_000
    assert len(run.records) >= 400


def test_source_files_stay_short():
    folder = Path(TEMPLATES).parent
    assert {
        p.name: n for p in folder.rglob("*") if p.suffix in (".py", ".j2", ".js") and (n := len(p.read_text().splitlines())) > 300
    } == {}
