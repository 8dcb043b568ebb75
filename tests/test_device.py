"""What a refusal is: its own words; of a missing device nobody's (`error: device`); of a name that the framework does not have, an absence."""

from collections import OrderedDict
from pathlib import Path
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


@pytest.mark.parametrize(
    "message",
    [
        """in user code:

    File "run_tensorflow.py", line 9, in exp2  *
        return ops.exp2(x)

    RuntimeError: no kernel of float16
""",
        """Graph execution error:

Detected at node Pow
no kernel of float16
\t [[{{node Pow}}]] [Op:__inference_call_7]""",
        """In simulate execution:

    File "run_paddle.py", line 9, in exp2
        return paddle.exp2(x)
Origin Exception is:
 Traceback (most recent call last):

RuntimeError: no kernel of float16""",
        "no kernel of float16",
    ],
)
def test_a_traceback_within_the_words_is_not_what_is_said(message):
    said = child.refusal(RuntimeError(message), {"stage": "run", "file": "run_fake.py"}, SimpleNamespace())
    assert (said["type"], said["message"]) == ("RuntimeError", "no kernel of float16")


def lacking(of):
    try:
        return of.no_such_name
    except AttributeError as raised:
        return child.refusal(raised, {"stage": "run", "file": __file__}, SimpleNamespace())


@pytest.mark.parametrize(
    ("of", "status"),
    [(Path(), "absent"), (Path, "absent"), (child, "absent"), (OrderedDict(), "absent"), (None, "loud"), ([], "loud"), ("", "loud")],
)
def test_what_the_framework_does_not_offer_is_absent_and_what_python_does_not_is_loud(of, status):
    decided = verdict.judge_end(lacking(of), load_specs(Project())[0], 1.0)
    assert (decided.status, "no_such_name" in decided.message) == (status, True)
