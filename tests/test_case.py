"""A case that cannot fail is refused when it is loaded, with what to do."""

import dataclasses

import numpy as np
import pytest

from harness import contract
from harness.cell import load_specs
from harness.contract import validate
from harness.errors import BadInput


@pytest.fixture
def spec(fakes):
    return next(s for s in load_specs(fakes) if s.id == "scale")


def with_reference(spec, function):
    return dataclasses.replace(spec, reference=function)


def test_a_healthy_case_is_taken(spec):
    validate(spec)
    assert contract.problem(spec) == ""


def test_a_zero_gradient_is_vacuous(spec):
    lost = with_reference(spec, lambda x, w, dy: {"y": x * w * dy, "dx": np.zeros(3)})
    with pytest.raises(BadInput, match="a lost gradient would pass"):
        validate(lost)


def test_an_input_that_moves_nothing_is_vacuous(spec):
    with pytest.raises(BadInput, match="input dy changes no output"):
        validate(with_reference(spec, lambda x, w, dy: {"y": x * w}))


def test_an_output_that_is_not_finite_is_refused(spec):
    with pytest.raises(BadInput, match="not finite"):
        validate(with_reference(spec, lambda x, w, dy: {"y": x * w * dy * np.inf}))


def test_an_input_bfloat16_cannot_hold_is_refused(spec):
    with pytest.raises(BadInput, match="bfloat16 cannot hold"):
        validate(dataclasses.replace(spec, inputs=lambda rng: {"x": np.full((2, 3, 4), 0.1), "w": np.ones(4), "dy": np.ones((2, 3, 4))}))


def test_a_reference_that_raises_is_said_with_its_row(spec):
    with pytest.raises(BadInput, match="scale: its reference failed: KeyError"):
        validate(with_reference(spec, lambda x, w, dy: {}["y"]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0\n", "ZeroDivisionError"),
        ("CASES = 1\n", "has no CASE"),
        ("from harness.case import Case\nCASE = Case(claim='', failure='magic', tol={})\n", "failure='magic'"),
        ("from harness.case import Case\nCASE = Case(claim='', failure='axis', tol={})\n", "dtypes none"),
        (
            "from harness.case import Case, Tol\nCASE = Case(claim='', failure='axis', tol={'float8': Tol(rtol=0, atol=0, why='')})\n",
            "float8",
        ),
        (
            "from harness.case import Case, Tol\nCASE = Case(claim='', failure='axis', tol={'float32': Tol(rtol=0, atol=0, why='')})\n",
            "no inputs or no reference",
        ),
        ("from harness.case import Case\nCASE = Case(clam='')\n", "clam"),
    ],
)
def test_a_broken_case_file_is_refused_with_its_name(fakes, text, words):
    folder = fakes.cases / "broken"
    folder.mkdir()
    (folder / "case.py").write_text(text)
    with pytest.raises(BadInput) as refused:
        load_specs(fakes)
    assert words in str(refused.value)
    assert "broken" in str(refused.value)
