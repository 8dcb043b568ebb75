"""Makes the cells tests: `pytest cases --columns candle-0.11.1 -k rms_norm`."""

from harness.plugin import (  # noqa: F401
    matrix,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
    pytest_report_teststatus,
)
