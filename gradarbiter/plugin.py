"""The pytest plugin: the fixture `arbiter` and the marker `gradarbiter`; careful that a test in which nothing could be asked does not pass.

@pytest.mark.gradarbiter(skip=["mode"])
def test_my_model(arbiter):
    arbiter(model, batch, loss_fn, optimizer, expect=Expect(causal=True))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradarbiter.result import Report


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gradarbiter(only=..., skip=...): which checks the fixture `arbiter` asks in this test")


@pytest.fixture
def arbiter(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """`gradarbiter.check` as an assertion: its arguments, its report; the test fails where a check does, raises, or where none could be asked."""
    marker = request.node.get_closest_marker("gradarbiter")
    chosen = dict(marker.kwargs) if marker else {}
    if (marker and marker.args) or set(chosen) - {"only", "skip"}:
        raise ValueError(
            "found:   other arguments of the marker gradarbiter\nwanted:  only=[...], skip=[...]\ndo this: name checks in these"
        )

    def ask(*arguments: Any, **options: Any) -> Report:
        from gradarbiter import check

        report = check(*arguments, **{**chosen, **options})
        request.node.add_report_section("call", "gradarbiter", str(report))
        if report.exit_status:
            pytest.fail(f"{report}\n(nothing could be asked)" if report.exit_status == 4 else str(report), pytrace=False)
        return report

    return ask
