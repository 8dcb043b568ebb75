"""A sweep's cell from end to end, on a framework that is numpy: what crashed, hung, raised or was wrong, and what is asked again."""

import dataclasses
import json

import pytest

from harness import cell as cells
from harness import pins, record, source
from harness.matrix import Matrix, all_cells
from harness.report import ledger

WAYS = '''
import numpy as np


def view(buffer, layout, shape):
    views = {"transposed": lambda: buffer.swapaxes(-1, -2), "strided": lambda: buffer[..., ::2], "offset": lambda: buffer[1:]}
    return views.get(layout, lambda: np.broadcast_to(buffer, shape) if layout == "broadcast" else buffer)()


def gradients(function, floats, upstream):
    """Of what is linear, to the bit: steps of 1."""
    y, made = function(**floats), {}
    for name, buffer in floats.items():
        made[f"d{name}"] = np.zeros(buffer.shape, buffer.dtype)
        for place in np.ndindex(*buffer.shape):
            moved = buffer.copy()
            moved[place] += 1
            made[f"d{name}"][place] = ((function(**{**floats, name: moved}) - y) * upstream).sum()
    return {"y": y, **made}
'''
CASE = """
from harness.sweep.kinds import elementwise
from harness.sweep.op import Asked, Op, Sweep


def scaled(x):
    return 3 * x


def row(d):
    return Asked(tensors={"x": d.floats(d.whole(1, 4), styles=("positive",))})


CASE = Sweep(
    claim="three times a number",
    failure="wrong-gradient",
    limit_s=3,
    items={
        "right": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "wrong": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "dies": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "hangs": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "refuses": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "mutates": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "counts": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "tires": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "lacks": Op(forward=scaled, takes=row, dtypes=("float64",)),
        "ours": Op(forward=scaled, takes=row, dtypes=("float64",)),
    },
)
"""
RUN = """
import os
import time

import numpy as np

asked = 0


def right(x):
    return 3 * x


def wrong(x):
    return 3 * x if x.size < 3 else 2 * x


def dies(x):
    if x.size == 3:
        os.abort()
    return 3 * x


def hangs(x):
    if x.size == 4:
        time.sleep(60)
    return 3 * x


def refuses(x):
    if x.size == 2:
        raise ValueError("not two")
    return 3 * x


def mutates(x):
    y = 3 * x
    x += 1
    return y


def counts(x):
    global asked
    asked += 1
    return 3 * x + (asked > 200)


def tires(x):
    global asked
    asked += 1
    if asked > 160:
        os.abort()
    return 3 * x


def lacks(x):
    return np.no_such_function(x)


def ours(x):
    return no_such_name
"""


@pytest.fixture
def swept(fakes):
    """Item -> its cell on column fake-1.0."""
    family = fakes.cases / "family"
    family.mkdir()
    (family / "case.py").write_text(CASE)
    (family / "run_fake.py").write_text(RUN)
    (fakes.frameworks / "fake" / "sweep.py").write_text(WAYS)
    for cache in (source.functions, source._with_private, source._entries, cells.swept):
        cache.cache_clear()
    found = all_cells(fakes, pins.select(pins.read(fakes.pins), ["fake-1.0"]))
    return {c.spec.item: c for c in found if c.spec.id == "family" and c.mode == "eager"}


def test_what_makes_state_of_its_own_is_not_asked_in_compiled_mode(fakes, swept):
    (column,) = pins.select(pins.read(fakes.pins), ["fake-1.0"])

    def modes(item, **changed):
        found = all_cells(fakes, [dataclasses.replace(column, compiles=True, **changed)])
        return [c.mode for c in found if c.spec.id == "family" and c.spec.item == item]

    assert modes("right") == modes("counts") == ["eager", "compiled"]
    assert modes("counts", eager=("global asked",)) == ["eager"]
    assert modes("right", eager=("global asked",)) == ["eager", "compiled"]
    assert modes("right", swept=False) == []


def failed(answer):
    return [c for c in answer["checks"] if not c["holds"]]


def test_a_right_operation_holds_and_says_how_many_it_answered(swept, asker):
    answer = asker.ask(swept["right"])
    record.validate(answer)
    assert answer["status"] == "ok"
    assert answer["checks"][0]["got"] == answer["checks"][0]["want"] > 20


def test_a_wrong_one_is_silent_with_its_smallest_example(swept, asker):
    answer = asker.ask(swept["wrong"])
    record.validate(answer)
    assert answer["status"] == "silent"
    found = failed(answer)
    assert [c["check"] for c in found] == ["value", "gradient"]
    trigger = json.loads(found[0]["trigger"])
    assert trigger["tensors"]["x"]["shape"] == [3]
    assert trigger["layouts"] == {"x": "contiguous"}
    assert trigger["use"] == "once"


def test_what_kills_the_process_costs_only_its_example(swept, asker):
    answer = asker.ask(swept["dies"])
    assert answer["status"] == "crash"
    (found,) = failed(answer)
    assert "x [3]" in found["note"]
    assert 0 < answer["checks"][0]["got"] < answer["checks"][0]["want"]


def test_a_hang_is_waited_for_a_few_times_only(swept, asker):
    assert asker.ask(swept["hangs"])["status"] == "hang"


def test_a_refusal_is_loud(swept, asker):
    answer = asker.ask(swept["refuses"])
    assert answer["status"] == "loud"
    assert "not two" in answer["message"]


def test_an_argument_that_is_changed(swept, asker):
    assert "mutates" in [c["check"] for c in failed(asker.ask(swept["mutates"]))]


def test_an_answer_that_depends_on_what_was_asked_before(swept, asker):
    assert failed(asker.ask(swept["counts"]))


@pytest.mark.parametrize(("item", "status", "cause"), [("lacks", "absent", None), ("ours", "error", "harness")])
def test_what_is_no_answer(swept, asker, item, status, cause):
    answer = asker.ask(swept[item])
    assert (answer["status"], answer["cause"]) == (status, cause)


def test_a_sweep_goes_on_and_asks_again_only_what_changed(fakes, swept):
    two = [swept["right"], swept["refuses"]]

    def ask(chosen, **how):
        opened = Matrix.open(fakes, chosen, fresh=False, sweep=True)
        for name, value in how.items():
            setattr(opened, name, value)
        answers = [opened.answer(c.id) for c in chosen]
        opened.close(finished=True)
        return answers

    assert ask(two, budget_s=1e-9) == [None, None]
    first = ask(two)
    assert ask(two) == first
    run = fakes.cases / "family" / "run_fake.py"
    run.write_text(run.read_text().replace('"not two"', '"not 2"'))
    source.functions.cache_clear()
    again = ask(two)
    assert again[0] == first[0]
    assert "not 2" in again[1]["message"]


def test_what_dies_with_none_of_its_parts_is_a_crash_too(swept, asker):
    answer = asker.ask(swept["tires"])
    (crash,) = failed(answer)
    assert (answer["status"], crash["check"]) == ("crash", "crash")
    assert "examples in one process; not in two" in answer["message"]
    assert ledger.ONCE.search(crash["got"])  # the ledger knows it by these words
