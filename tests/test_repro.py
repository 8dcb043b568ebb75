"""Repros: a planted defect is shown and its healthy twin is not, and what fails in another way than the record says is refused."""

import dataclasses
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from harness import pins
from harness.ask import Asker
from harness.errors import BadInput
from harness.matrix import all_cells
from harness.project import ROOT
from harness.repro import accept, batch, candle, cut, literals, one, question, shrink, stamp
from harness.repro.question import Failing, Output
from harness.sweep.op import Asked, Example, Op

PINS = '[fake]\nlanguage = "python"\npython = "3.11"\nadapter = "numpy"\nrequires = ["numpy=={version}"]\n[fake.versions]\n"1.0" = {}\n'


@pytest.fixture(scope="module")
def project(fakes_once):
    """The fakes with numpy's adapter, so that a bundle of theirs is a script that numpy alone runs."""
    fakes_once.pins.write_text(PINS)
    shutil.copytree(ROOT / "harness" / "frameworks" / "numpy", fakes_once.frameworks / "numpy", dirs_exist_ok=True)
    return fakes_once


@pytest.fixture(scope="module")
def asked(project):
    """Variant -> its cell and its record."""
    cells = {c.variant: c for c in all_cells(project, pins.read(project.pins)) if c.spec.id == "scale"}
    with Asker(project, run="test") as asker:
        return {
            name: (cells[name], asker.ask(cells[name])) for name in ("", "lost_gradient", "swapped_axis", "nan", "wrong_shape", "refuses")
        }


@pytest.mark.parametrize(
    ("variant", "line"),
    [
        ("lost_gradient", "dw: WRONG, got nothing"),
        ("swapped_axis", "dx: WRONG"),
        ("nan", "dx[0, 0, 0]: got nan"),
        ("wrong_shape", "dw: WRONG, got 12 numbers"),
    ],
)
def test_a_planted_defect_is_shown(project, asked, variant, line):
    made = one.make(project, *asked[variant], warm=True)
    assert (made.status, made.code, made.reason) == ("reproduced", 1, "")
    assert line in made.output
    assert made.lines <= literals.MOST_LINES
    said = json.loads((one.home(project) / made.slug / "repro.json").read_text())
    assert said["asked"] == asked[variant][1]["asked"]


def test_its_healthy_twin_is_not(project, asked, tmp_path):
    cell, record = asked["lost_gradient"]
    healthy = dataclasses.replace(cell, file=asked[""][0].file)
    made = one.make(project, healthy, record, out=tmp_path / "healthy", warm=True)
    assert (made.status, made.code, made.reason) == ("not-reproduced", 0, "the defect is not there")


def test_a_broken_environment_is_no_verdict(project, asked, tmp_path):
    one.make(project, *asked["lost_gradient"], out=tmp_path / "made", warm=True)
    script = tmp_path / "made" / "repro.py"
    script.write_text(script.read_text().replace("import numpy as np", "import no_such_framework"))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no_such_framework" in done.stderr


@pytest.mark.parametrize(("recorded", "other"), [("lost_gradient", "swapped_axis"), ("swapped_axis", "nan"), ("nan", "lost_gradient")])
def test_another_failure_than_the_recorded_one_is_refused(project, asked, recorded, other, tmp_path):
    record = asked[recorded][1]
    made = one.make(project, asked[other][0], record, out=tmp_path / "other", warm=True)
    assert (made.status, made.code) == ("not-reproduced", 1)
    assert made.reason


def test_another_wrong_number_is_refused(project, asked, tmp_path):
    cell, record = asked["swapped_axis"]
    checks = [{**c, "got": c["got"] + 1.0} if not c["holds"] else c for c in record["checks"]]
    made = one.make(project, cell, {**record, "checks": checks}, out=tmp_path / "other", warm=True)
    assert made.status == "not-reproduced"
    assert "in the record" in made.reason


def test_what_raises_is_shown_where_it_raises(project, asked):
    made = one.make(project, *asked["refuses"], warm=True)
    assert made.valid, made.reason
    assert "raised: ValueError" in made.output


def test_a_cell_is_named_as_the_page_names_it(project, asked):
    from harness import record

    record.write_folder(project.latest, [r for _, r in asked.values()])
    cell, found = one.find(project, "scale/nan@float32", "fake-1.0")
    assert (cell.variant, found["status"]) == ("nan", "silent")
    with pytest.raises(BadInput, match="no record of scale/nothing"):
        one.find(project, "scale/nothing", "fake-1.0")


def test_a_batch_goes_on_where_it_was_stopped(project, asked, monkeypatch):
    from harness import record

    record.write_folder(project.latest, [asked["lost_gradient"][1]])
    shutil.rmtree(one.home(project), ignore_errors=True)
    first = batch.run(project, columns=["fake-1.0"], keyword="", warm=True)
    assert [(each["valid"], each["bundle"]) for each in first] == [(True, batch.FITS)]
    assert batch.listed(project) == first
    monkeypatch.setattr(one, "make", None)  # it must not be asked for
    assert batch.run(project, columns=["fake-1.0"], keyword="scale and not other", warm=True) == first
    assert batch.run(project, columns=["fake-1.0"], keyword="other", warm=True) == []
    batch.write(project, [*batch.listed(project), {**first[0], "slug": "silent-no-more"}])
    assert batch.run(project, columns=["fake-1.0"], keyword="", warm=True) == batch.listed(project) == first
    monkeypatch.setattr(batch.check, "problems", lambda folder, **_: ["form/describe.md: required and empty"])
    (unfit,) = batch.run(project, columns=["fake-1.0"], keyword="", warm=True)
    assert (unfit["status"], unfit["valid"], unfit["bundle"]) == ("reproduced", False, "form/describe.md: required and empty")


def test_a_function_is_cut_out_as_it_is_written(tmp_path):
    file = tmp_path / "run_torch.py"
    file.write_text(
        'import torch\nimport math\n\nSCALE = 2  # why\n\n\n# said above it\ndef _half(x):\n    """Said in it."""\n    return x / SCALE  # and here\n\n\n'
        "def asked(x):\n    return _half(torch.sum(x))\n\n\ndef other(x):\n    return math.sqrt(x)\n"
    )
    made = cut.cut(file, ["asked"])
    assert made.imports == "import torch"
    assert made.body.startswith("SCALE = 2  # why")
    assert '# said above it\ndef _half(x):\n    """Said in it."""\n    return x / SCALE  # and here' in made.body
    assert "other" not in made.body
    assert not made.whole
    with pytest.raises(BadInput, match="no function nobody"):
        cut.cut(file, ["nobody"])


def test_a_rust_function_is_cut_out_as_it_is_written(tmp_path):
    file = tmp_path / "run_candle.rs"
    kept = "/// Said of it.\nfn half(x: f64) -> f64 {\n    x / 2.0 // and here\n}\n\npub fn asked(x: f64) -> f64 {\n    half(x)\n}"
    file.write_text(f"use candle_core::Tensor;\n\n{kept}\n\npub fn other() {{}}\n")
    made = cut.cut(file, ["asked"])
    assert made.imports == "use candle_core::Tensor;"
    assert made.body == kept


def test_numbers_are_written_so_that_they_are_read_back():
    values = [[0.1, float("nan")], [float("-inf"), 1e-300]]
    read = eval(literals.python(values), {"nan": float("nan"), "inf": float("inf")})
    np.testing.assert_array_equal(read, values)
    assert literals.rust_list(np.array([1.0, np.nan, -np.inf])) == "1.0, f64::NAN, -f64::INFINITY"
    assert literals.rust_list(np.full(700, 2.0)) == "2.0; 700"
    assert literals.lines("a = 1\n\nx = [1.0, 2.0, 3.0, 4.0]\n") == 1


def test_one_allowed_error_is_written_where_no_defect_hides_in_it():
    output = Output(name="y", want=np.array([1.0, 1000.123456789]), rtol=0.0, atol=np.array([1e-6, 1e-3]))
    large = question.readable(output, Failing(name="y", kind="value", got=2.0, want=1.0))
    small = question.readable(output, Failing(name="y", kind="value", got=1.0001, want=1.0))
    assert large.atol == 1e-3
    assert large.want.tolist() == [1.0, 1000.123457]
    assert np.asarray(small.atol).tolist() == [1e-6, 1e-3]
    hair = question.readable(
        dataclasses.replace(output, atol=np.array([0.0194, 0.0194])), Failing(name="y", kind="value", got=1.0195, want=1.0)
    )
    assert np.asarray(hair.atol).tolist() == [0.0194, 0.0194]  # 0.02 would hide it


SHARE = Op(forward=lambda x: x.max(), takes=lambda d: Asked(tensors={"x": d.floats(2)}))


def swept(asked, note, **check):
    """A cell of an operation and its record, as far as a question needs them."""
    cell = dataclasses.replace(asked[""][0], spec=dataclasses.replace(asked[""][0].spec, op=SHARE))
    return cell, {**asked[""][1], "status": "silent"}, {"check": "gradient", "note": note, "got": 2.0, "want": 1.0, **check}


def test_of_a_tie_the_sum_is_asked(project, asked):
    """Which of two equal numbers gets the gradient of their maximum is not said; that it is one gradient is."""
    example = Example(
        asked=Asked(tensors={"x": np.array([0.5, 0.5])}), dtype="float64", layouts={"x": "contiguous"}, use="once", upstream=np.array(1.0)
    )
    made = question.of_example(*swept(asked, "dx at its sum; float64"), example)
    total = next(o for o in made.outputs if o.name == "sum of dx")
    assert float(total.want) == 1.0
    assert 0 < float(total.atol) < 1e-3
    assert made.failing[0].name == "sum of dx"
    text = stamp.python(made)
    assert 'wrong("sum of dx", dx, 1.0' in text
    assert 'if name.startswith("sum of ")' in text


def test_a_name_is_imported_once():
    """A template brings what the run file may import too: by itself, with others, or under a name that is not there yet."""
    told = ["import os", "from tinygrad import Tensor, dtypes", "from tinygrad import Tensor", "", "from tinygrad import Tensor, nn"]
    told += ["import os", "from tinygrad.nn import Tensor"]
    kept = ["import os", "from tinygrad import Tensor, dtypes", "from tinygrad import Tensor, nn", "from tinygrad.nn import Tensor"]
    assert stamp.jinja().filters["distinct"]("\n".join(told)) == kept


def test_with_one_thread_it_is_said(asked):
    example = Example(
        asked=Asked(tensors={"x": np.zeros((0, 2))}), dtype="float64", layouts={"x": "contiguous"}, use="once", upstream=np.zeros((0, 2))
    )
    cell, record, check = swept(asked, "y at [0]; float64", check="value")
    cell = dataclasses.replace(cell, spec=dataclasses.replace(cell.spec, op=dataclasses.replace(SHARE, forward=lambda x: x)))
    made = question.of_example(cell, record, check, example)
    assert "OMP_NUM_THREADS" not in stamp.python(made)
    text = stamp.python(dataclasses.replace(made, one_thread=True))
    assert 'os.environ["OMP_NUM_THREADS"] = "1"' in text
    assert "np.full((0, 2), 0.0" in text  # lists would lose the 2


@pytest.mark.parametrize("watched", [False, True])
def test_an_operation_of_candle_that_takes_a_gradient_itself_is_given_variables(asked, watched):
    """Its store keeps no other's: of grad_second's conv1d the value fails, and no gradient is asked of it."""
    example = Example(
        asked=Asked(tensors={"x": np.array([0.5, 0.25])}), dtype="float64", layouts={"x": "contiguous"}, use="once", upstream=np.array(1.0)
    )
    made = question.of_example(*swept(asked, "y at [0]; float64", check="value"), example)
    told = candle.told(dataclasses.replace(made, watched=watched), "")
    assert not made.gradient
    assert [t["leaf"] for t in told["tensors"]] == [watched]


def test_inputs_are_cut_as_long_as_they_fail():
    """A sum that is wrong from 100 terms on: 104 of 832 are left, an eighth of both axes of that size."""
    start = {"x": np.ones((832, 2)), "w": np.ones(832), "ids": np.arange(832)}
    left = {}

    def fails(made):
        if made["w"].size >= 100:
            left.update(made)
            return True
        return False

    shrink.least(start, fails, enough=0)
    assert {name: value.shape for name, value in left.items()} == {"x": (104, 1), "w": (104,), "ids": (104,)}
    assert left["ids"].max() == 103
    shrink.least(start, lambda made: pytest.fail("it is small enough"), enough=10**6)


def test_what_a_run_prints_is_read():
    made = accept.shown(
        "torch 2.15.0\ny[0, 1]: got nan, want 1.0, allowed error 1e-06\ny: WRONG, 1 of 2 numbers are off\ndx: right, 0 of 2 numbers are off\n"
    )
    assert made["y"].wrong
    assert np.isnan(made["y"].numbers["[0, 1]"])
    assert not made["dx"].wrong
    assert accept.near(1.0, 1.005)
    assert not accept.near(1.0, float("nan"))


def test_a_bundle_says_what_it_is(project, asked):
    (text,) = stamp.files(project, question.of_case(*asked["lost_gradient"])).values()
    assert 'dependencies = ["numpy==1.0"]' in text
    assert "Claim: A scaled tensor has a gradient for its input and for its weight." in text
    assert (asked["lost_gradient"][0].file.path).read_text().strip() in text
