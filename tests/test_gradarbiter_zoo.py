"""Healthy set-ups are not accused, by any check."""

import arbiter_zoo
import pytest

import gradarbiter

pytestmark = [
    pytest.mark.arbiter,
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),  # torch's own, when it compiles
]


def unhealthy(name, seeds):
    """What is said against it: check, seed, and the accusation or error."""
    said = []
    for seed in seeds:
        report = gradarbiter.check(**arbiter_zoo.ZOO[name](seed))
        said += [(result.check, seed, result.reason) for result in report.results if result.status == "error"]
        said += [(result.check, seed, finding.text) for result in report.results for finding in result.accusations]
        asked = [result.check for result in report.results if result.status == "ok"]
        assert "gradient_flow" in asked or said, report
    return said


@pytest.mark.parametrize("name", arbiter_zoo.ZOO)
def test_no_accusation(name):
    assert unhealthy(name, range(2)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", arbiter_zoo.ZOO)
def test_no_accusation_over_twenty_seeds(name):
    assert unhealthy(name, range(20)) == []


def test_the_zoo_is_large():
    assert len(arbiter_zoo.ZOO) >= 30
