"""The page of the synthetic run, drawn once a file of tests, and read: its elements, its words, and the blobs that its script unpacks."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import pytest
import synthetic

from harness.report.render import render

VOID = {"meta", "input", "br", "path", "use", "wbr", "img", "link", "base"}


class Page(HTMLParser):
    """Elements with their attributes and text; refuses tags that do not nest."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> at line {self.getpos()[0]} closes something else"

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.text.append(data)

    def attributes(self, name):
        return [a[name] for _, a in self.elements if name in a]

    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return synthetic.make(tmp_path_factory.mktemp("project"))


def page_of(run, records=None, **options):
    given = {"baseline": run.baseline, "specs": run.specs, "title_facts": run.facts, **options}
    return render(run.records if records is None else records, given.pop("baseline"), given.pop("specs"), root=run.root, **given)


@pytest.fixture(scope="module")
def html(run):
    return page_of(run)


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def blobs_of(html):
    found = re.findall(r'<script type="application/octet-stream" id="blob-([a-z0-9-]+)">([A-Za-z0-9+/=]*)</script>', html)
    return {name: json.loads(gzip.decompress(base64.b64decode(content))) for name, content in found}


def squares_of(blobs):
    """Row -> column -> its records."""
    return {row: found for name, b in blobs.items() if name.startswith("records-") for row, found in b.items()}


@pytest.fixture(scope="module")
def blobs(html):
    return blobs_of(html)


def one(run, **wanted):
    return next(dict(r) for r in run.records if all(r[k] == v for k, v in wanted.items()))
