"""The oracles, proven: every mutant of every row is objected to or explained, no healthy twin is accused; and the proof itself can fail."""

import dataclasses

import pytest

from harness import contract, mutants, pins
from harness.case import Tol, close
from harness.cell import load_specs
from harness.matrix import all_cells
from harness.project import Project

SPECS = load_specs(Project())


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.row)
def test_every_mutant_is_killed_or_explained(spec):
    assert contract.problem(spec) == ""
    outcomes = list(mutants.kill_all(spec))
    survivors = [f"{o.mutant}@{o.dtype}" for o in outcomes if not o.killed and not o.explained]
    assert survivors == []
    assert len(outcomes) >= (1 if spec.op else 5)  # an operation may have one output of one axis, or be about a refusal alone


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.row)
def test_no_healthy_twin_is_accused(spec):
    assert mutants.accused(spec) == []


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.row)
def test_every_explanation_is_needed(spec):
    import fnmatch

    survivors = [o.mutant if spec.op else f"{o.mutant}@{o.dtype}" for o in mutants.kill_all(spec) if not o.killed]
    explained = spec.op.explained if spec.op else spec.explained
    unused = [pattern for pattern in explained if not any(fnmatch.fnmatchcase(s, pattern) for s in survivors)]
    own = set(explained) - set(spec.case.explained)
    assert [p for p in unused if p in own] == []


def fake_spec(fakes):
    cells = all_cells(fakes, pins.read(fakes.pins))
    return next(c.spec for c in cells if c.spec.id == "scale")


def test_the_kinds_of_mutants(fakes):
    made = {o.mutant for o in mutants.kill_all(fake_spec(fakes))}
    assert {
        "dx dropped",
        "dx one element off by 3x its tolerance",
        "dx sign",
        "dx factor 2",
        "dx accumulated once instead of twice",
        "dx transposed buffer read as contiguous",
        "dx first row reused",
        "input x transposed, read as contiguous",
        "first batch row reused",
        "broadcast sum missing",
        "bfloat16 accumulator",
    } <= made


def test_a_blind_check_lets_mutants_live(fakes):
    blind = dataclasses.replace(fake_spec(fakes), tol={"float32": Tol(rtol=1e9, atol=1e9, why="a planted fault")})
    survivors = {o.mutant for o in mutants.kill_all(blind) if not o.killed}
    assert "dx sign" in survivors
    assert "dx dropped" not in survivors


def test_a_check_that_looks_at_one_output_lets_the_others_mutants_live(fakes):
    spec = dataclasses.replace(fake_spec(fakes), checks=(close("y"), close("dx", tol={"float32": Tol(rtol=9.0, atol=9.0, why="planted")})))
    survivors = {o.mutant for o in mutants.kill_all(spec) if not o.killed}
    assert "dx factor 2" in survivors
    assert "dw factor 2" not in survivors, "an output nobody named is held to the case's own tolerance"


def test_too_tight_a_tolerance_accuses_a_twin(fakes):
    tight = dataclasses.replace(fake_spec(fakes), tol={"bfloat16": Tol(rtol=1e-9, atol=0.0, why="a planted fault")})
    assert mutants.accused(tight) != []


def test_off_by_three_is_three_times_the_tolerance(fakes):
    spec = fake_spec(fakes)
    right = mutants.healthy(spec, "float32")
    wrong = dict(mutants.mutants(spec, "float32", right))["dx one element off by 3x its tolerance"]
    moved = (wrong["dx"] - right["dx"]).ravel()
    (place,) = moved.nonzero()[0]
    assert moved[place] == pytest.approx(3 * (1e-6 + 1e-6 * abs(spec.want["dx"].ravel()[place])), rel=1e-6)


def test_an_explanation_explains_only_what_it_names(fakes):
    blind = {"float32": Tol(rtol=1e9, atol=1e9, why="a planted fault")}
    spec = dataclasses.replace(fake_spec(fakes), tol=blind, explained={"dx sign@float32": "planted"})
    explained = {o.mutant for o in mutants.kill_all(spec) if o.explained}
    assert explained == {"dx sign"}
