"""Which form a bundle is for, and what the tracker behind it says already; a form that cannot be filled in does not load."""

import pytest

from harness import pins
from harness.bisect import question
from harness.bundle import form
from harness.errors import BadInput
from harness.project import Project


def test_every_pinned_framework_has_a_form_for_every_failure():
    for column in pins.read(Project().pins):
        for status in ("silent", "crash", "hang", "unstable", "slow", "loud", "differs"):
            for mode in ("eager", "compiled"):
                assert form.choose(column.framework, status, mode).fields
    assert form.choose("candle", "silent", "eager").template == "incorrect_output.yml"
    assert form.choose("candle", "crash", "eager").template == "bug_report.yml"
    assert form.choose("torch", "silent", "compiled").template == "pt2-bug-report.yml"
    assert form.choose("jax", "silent", "eager").kind == "generic"
    with pytest.raises(BadInput, match="is ok"):
        form.choose("torch", "ok", "eager")


def table(**more):
    field = {"id": "a", "kind": "textarea", "fill": "description", "heading": "A"}
    return {
        "project": "a/b",
        "template": "t",
        "kind": "form",
        "read": "2026-11-30",
        "frameworks": [],
        "statuses": ["silent"],
        "fields": [{**field, **more}],
    }


@pytest.mark.parametrize(
    ("more", "said"),
    [({"fill": "poem"}, "no template poem"), ({"kind": "dropdown"}, "no options"), ({"color": "red"}, "color")],
)
def test_a_form_that_cannot_be_filled_in_does_not_load(more, said):
    assert form.parse("x", table()).fields[0].id == "a"
    with pytest.raises(BadInput, match=said):
        form.parse("x", table(**more))


def test_what_the_tracker_says_of_a_sweeps_operation():
    column = next(c for c in pins.read(Project().pins) if c.framework == "mlx")
    cells = question.read(Project(), "grad_index:embedding_outside").cells(Project(), column)
    assert "undefined" in cells[0].spec.tracker("mlx")
    cells = question.read(Project(), "grad_index:embedding").cells(Project(), column)
    assert cells[0].spec.tracker("mlx").startswith("related: ")
