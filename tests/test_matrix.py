"""What a run's exit status is made of."""

import pytest

from harness.errors import Exit
from harness.matrix import Tally


def answer(status, cause=""):
    return {"status": status, "cause": cause, "checks": [], "message": "", "column": "fake-1.0"}


@pytest.mark.parametrize(
    ("now", "before", "exit_status"),
    [
        (answer("error", "device"), answer("error", "device"), Exit.CLEAN),
        (answer("error", "device"), answer("ok"), Exit.NOT_ASKED),
        (answer("error", "device"), None, Exit.NOT_ASKED),
        (answer("error", "install"), answer("error", "install"), Exit.NOT_ASKED),
        (answer("error", "harness"), answer("error", "device"), Exit.OURS),
    ],
)
def test_a_device_that_was_missing_before_is_no_news(now, before, exit_status):
    tally = Tally()
    tally.add(now, before)
    assert tally.exit() == exit_status
