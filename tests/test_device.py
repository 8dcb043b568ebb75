"""A device that is missing is nobody's refusal: the adapter's words for it make an `error: device`, and only those."""

from types import SimpleNamespace

import pytest

from harness import child, verdict
from harness.cell import load_specs
from harness.project import Project


@pytest.mark.parametrize(
    ("message", "kind", "status", "cause"),
    [("Found no driver on this system", "device", "error", "device"), ("cannot reshape", "framework", "loud", None)],
)
def test_a_missing_device_is_no_refusal(message, kind, status, cause):
    adapter = SimpleNamespace(DEVICE_ERRORS=("Found no driver",))
    said = child.refusal(RuntimeError(message), {"stage": "run", "file": "run_fake.py"}, adapter)
    decided = verdict.judge_end(said, load_specs(Project())[0], 1.0)
    assert (said["kind"], decided.status, decided.cause) == (kind, status, cause)
