import json

import pytest

from harness.errors import BadInput
from harness.report import blindspot
from harness.report.render import _environment


def kept(**changes):
    fault = {
        "fault": "rope_axis",
        "layer": "model",
        "does": "turns <heads>",
        "caught": True,
        "check": "position_sensitivity",
        "parameter": "outputs",
        "step": 0,
        "says": "no positions",
        "band": 0,
        "outside": 0.02,
        "told": False,
        "same": False,
        "last": [3.0, 2.9],
        "curve": [6.0, 4.0, None, 3.0],
    }
    run = {"first": 2.8, "last": 0.013, "moved": 0.0, "losses": [2.8, 0.5, 0.013]}
    return {
        "rule": {"smoothing": 0.9, "sigmas": 3.0, "share": 0.1, "healthy": 20, "steps": 200},
        "totals": {
            "faults": 1,
            "curve_told": 0,
            "same_to_the_bit": 0,
            "caught": 1,
            "healthy_accused": 0,
            "curve_accused": 1,
            "healthy": 20,
        },
        "bands": [{"situation": "", "options": {}, "mean": [6.0, 4.0, 3.5, 3.0], "sd": [0.1, 0.1, 0.1, 0.1]}],
        "faults": [fault],
        "candle": {"version": "candle 0.11.1", "steps": 200, "fused": run, "composed": {**run, "moved": 1.5}},
        **changes,
    }


def written(root, found):
    (root / "results").mkdir()
    blindspot.file(root).write_text(found if isinstance(found, str) else json.dumps(found))
    return root


def drawn(root):
    return _environment().get_template("blindspot.j2").render(blind=blindspot.view(root))


def test_a_project_that_never_ran_it_shows_nothing(tmp_path):
    assert blindspot.totals(tmp_path) is None
    assert "blindspot" not in drawn(tmp_path)


def test_totals_are_the_files(tmp_path):
    assert blindspot.totals(written(tmp_path, kept())) == kept()["totals"]


def test_a_loss_that_is_not_finite_is_a_gap_in_the_line(tmp_path):
    (row,) = blindspot.view(written(tmp_path, kept())).rows
    assert row.curve.count("M") == 2


def test_the_picture_is_on_the_healthy_scale(tmp_path):
    (row,) = blindspot.view(written(tmp_path, kept())).rows
    first = float(row.curve.split(",")[1].split("L")[0])
    assert first == pytest.approx(blindspot.HEIGHT * (1 - 6 / (1.15 * 6)), abs=0.1)


def test_the_page_says_what_told_and_escapes(tmp_path):
    page = drawn(written(tmp_path, kept()))
    assert "did not tell" in page
    assert "turns &lt;heads&gt;" in page
    assert "position_sensitivity" in page
    assert "candle 0.11.1" in page


def test_without_cargo_there_is_no_candle_and_the_rest_stands(tmp_path):
    page = drawn(written(tmp_path, kept(candle=None)))
    assert "figcaption" not in page
    assert "rope_axis" in page


@pytest.mark.parametrize("found", ["{", {"rule": {}}])
def test_a_broken_file_says_what_to_do(tmp_path, found):
    with pytest.raises(BadInput, match="blindspot"):
        blindspot.view(written(tmp_path, found))
