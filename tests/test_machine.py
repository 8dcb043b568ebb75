"""Records speak of the project, not of the machine."""

from pathlib import Path

import pytest

from harness.machine import portable


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('File "/srv/x/cases/a/run_torch.py", line 3', 'File "cases/a/run_torch.py", line 3'),
        ('File "/opt/v/lib/python3.11/site-packages/torch/optim/_muon.py", line 90', 'File "torch/optim/_muon.py", line 90'),
        ("at /h/.cargo/registry/src/index-1949cf8c/burn-ndarray-0.21.0/src/tensor.rs:84:5", "at burn-ndarray-0.21.0/src/tensor.rs:84:5"),
        ('File "/usr/lib/python3.11/ctypes/__init__.py", line 519', 'File "ctypes/__init__.py", line 519'),
        (f"at {Path.home()}/models/a", "at ~/models/a"),
        ("a/b and 3/4 stay", "a/b and 3/4 stay"),
    ],
)  # fmt: skip
def test_portable(text, kept):
    assert portable(text, Path("/srv/x")) == kept
