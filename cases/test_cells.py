"""The only two tests: what a cell answers, and how fast it is; a test fails for what its baseline does not know."""

import pytest

from harness.plugin import device_clock, hold


def test_correct(matrix, cell):
    hold(matrix.answer(cell), matrix)


@pytest.mark.benchmark(timer=device_clock)
def test_speed(matrix, cell, request):
    record = matrix.answer_timed(cell)
    steps = ((record["speed"] or {}).get("cpu_s") or {}).get("step", [])
    if steps:
        # pytest-benchmark does the statistics and keeps them; the seconds are the worker's, one of each fresh process.
        benchmark = request.getfixturevalue("benchmark")
        left = iter(steps)
        benchmark.extra_info.update(column=record["column"], case=record["case"], speed=record["speed"])
        benchmark.pedantic(lambda: device_clock.advance(next(left)), rounds=len(steps), iterations=1, warmup_rounds=0)
    hold(record, matrix)
