"""The display lane on fakes: what is slow, what is wrong before it is slow, and the order in which columns are asked."""

import math

import pytest

from harness import pins, record, speed, verdict
from harness.ask import Asker
from harness.errors import BadInput
from harness.matrix import Matrix, all_cells


@pytest.fixture
def timed(fakes):
    return [c for c in all_cells(fakes, pins.read(fakes.pins)) if c.spec.id == "timed"]


@pytest.fixture(scope="module")
def measured(fakes_once):
    asked = []
    cells = [c for c in all_cells(fakes_once, pins.read(fakes_once.pins)) if c.spec.id == "timed" and c.column.version == "1.0"]
    with Asker(fakes_once, run="test") as asker:
        results = {c.id: r for c, r in speed.measure(asker, cells, rounds=2, said=asked.append)}
    return results, [c.variant for c in asked]


def answer(measured, variant):
    return next(r for r in measured[0].values() if r["variant"] == variant)


def test_each_fake_gets_its_status(measured):
    assert {r["variant"]: r["status"] for r in measured[0].values()} == {
        "": "ok",
        "slow_backward": "slow",
        "hungry": "slow",
        "wrong": "silent",
        "dies": "crash",
        "sleeps": "ok",  # CPU time, not wall
        "cold": "ok",  # the first calls are warm-up
        "past_peak": "ok",  # a peak before the call is not the call's
        "second_time": "loud",  # right in the first process, refused in the second
    }
    assert "backward_ratio" in answer(measured, "slow_backward")["message"]
    assert "memory_ratio" in answer(measured, "hungry")["message"]


def test_records_fit_the_schema_and_hold_every_process(measured):
    for r in measured[0].values():
        record.validate(r)
    kept = answer(measured, "")["speed"]
    assert {name: len(seconds) for name, seconds in kept["cpu_s"].items()} == {"forward": 2, "step": 2, "gemm": 2}
    assert answer(measured, "wrong")["speed"] is None, "the speed of a wrong answer is none"


def test_columns_are_interleaved_and_a_failure_is_not_asked_again(measured):
    order = measured[1]
    first, second = order[:9], order[9:]
    assert len(set(first)) == 9
    assert second == [v for v in first if v not in ("dies", "wrong")]


def test_a_failure_in_a_later_round_is_the_answer(measured):
    late = answer(measured, "second_time")
    assert late["message"] == "in round 2 of 2: OSError: the second process of this cell fails"
    assert late["speed"] is None


def test_a_timed_cell_has_one_core_and_a_fixed_allocator(measured):
    facts = answer(measured, "")["environment"]["facts"]
    assert (facts["cores"], facts["malloc"]) == (1, str(2**32))


def test_quantities_in_numbers(timed):
    seconds = {"forward": [1.0], "step": [4.0], "gemm": [0.5]}
    made = {"cpu_s": seconds, "flops": {"forward": 10.0, "step": 30.0, "gemm": 10.0}, "memory_bytes": {"step": 3 * 256 * 256 * 4 * 5}}
    wanted = {"backward_ratio": 3.0, "step_ratio": 4.0, "backward_gemm_ratio": 3.0, "memory_ratio": 5.0, "memory_growth": 5.0}
    assert speed.quantities(timed[0], made) == pytest.approx(wanted)


ANSWER_BYTES = 3 * 256 * 256 * 4


def test_memory_below_the_answers_own_is_no_measurement(timed):
    def reply(added):
        return {"cpu_ns": {"step": [1e9]}, "wall_ns": {"step": [1e9]}, "memory_bytes": {"step": added}}

    seen, unseen = (speed.speed_of(timed[0], [reply(added)]) for added in (ANSWER_BYTES, ANSWER_BYTES // 2))
    assert speed.quantities(timed[0], seen)["memory_ratio"] == 1.0
    assert "step" not in unseen["memory_bytes"]
    assert math.isnan(speed.quantities(timed[0], unseen)["memory_ratio"])


def test_what_no_memory_was_seen_of_neither_holds_nor_fails(asker, timed, monkeypatch):
    monkeypatch.setattr(speed, "SEEN", 1e9)
    for _, r in speed.measure(asker, [c for c in timed if not c.variant][:1], rounds=1):
        record.validate(r)
        assert "memory_ratio" not in {c["check"] for c in r["checks"]}
        assert (r["status"], r["message"][:30]) == ("ok", "memory was not measured: less ")


def test_the_reference_framework_of_the_run_is_used(asker, timed, monkeypatch):
    monkeypatch.setattr(speed, "REFERENCE", "fake")
    healthy = [c for c in timed if not c.variant]
    for _, r in speed.measure(asker, healthy, rounds=1):
        ratio = next(c for c in r["checks"] if c["check"] == "backward_ratio")
        assert ratio["want"] != "at most 20", "5 x the reference's own, not the absolute bound"


def test_a_case_asks_all_its_columns_together(fakes, timed, monkeypatch):
    groups = []
    monkeypatch.setattr(speed, "measure", lambda asker, cells, said: groups.append([c.column.id for c in cells]) or iter(()))
    opened = Matrix.open(fakes, [c for c in timed if not c.variant], fresh=True)
    with pytest.raises(KeyError):
        opened.answer_timed(timed[0].id)
    opened.close(finished=False)
    assert groups == [["fake-1.0", "fake-2.0"]]


def test_timed_cells_are_spawned(measured):
    assert not answer(measured, "")["environment"]["forked"]


def test_a_limit_on_what_was_not_measured_is_no_pass(timed):
    with pytest.raises(BadInput, match="a limit on 'backward_ratio'"):
        verdict.judge_speed(timed[0].spec, {"memory_ratio": 1.0}, None)


def test_a_ratio_is_taken_to_the_reference_of_the_same_run(timed):
    mine = {"backward_ratio": 12.0, "memory_ratio": 1.0}
    alone = verdict.judge_speed(timed[0].spec, mine, None)
    beside = verdict.judge_speed(timed[0].spec, mine, {"backward_ratio": 2.0})
    assert [f.holds for f in alone] == [True, True]
    assert [f.holds for f in beside] == [False, True]
    assert "5 x the reference framework's 2" in beside[0].note


def test_a_slow_reference_excuses_nobody(timed):
    slow = {"backward_ratio": 50.0, "memory_ratio": 1.0}
    assert [f.holds for f in verdict.judge_speed(timed[0].spec, slow, slow)] == [False, True], "not even itself"


def test_what_was_not_timed_is_our_error_and_ends_nothing(fakes, asker, timed):
    file = fakes.cases / "timed" / "run_fake.py"
    file.write_text(file.read_text().replace("def forward(", "def _forward("))
    found = {c.column.id: r for c, r in speed.measure(asker, [c for c in timed if not c.variant], rounds=1)}
    assert {(r["status"], r["cause"]) for r in found.values()} == {("error", "harness")}
