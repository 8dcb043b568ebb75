"""Burn's repros, as they are written: the function as it stands, beside it all that it calls, and another failure refused. None is built here."""

import dataclasses
import re
import tomllib

import numpy as np
import pytest

from harness import cell as expanded
from harness import contract, pins
from harness.project import Project
from harness.repro import accept, burn, cargo_lock, cut, literals, question, stamp
from harness.sweep.op import Asked, Example

COLUMNS = ("burn-0.20.1", "burn-0.21.0", "burn-0.23.0-pre.1")
# Operation -> its tensors, its attributes, and how it fails in a record: the kind, where, what is there and what would be right.
ASKED = {
    "grad_reduce:amax": ({"x": [[1.0, np.nan], [2.0, 3.0]]}, {"axes": None, "keepdims": False}, "hides NaN", "y at []", 3.0, "nan"),
    "grad_elementwise:maximum": ({"a": [[np.nan, 1.0]], "b": [2.0, 3.0]}, {}, "hides NaN", "y at [0, 0]", 2.0, "nan"),
    "grad_elementwise:elu": ({"x": [100.0, -1.0]}, {"alpha": 1.0}, "makes NaN", "dx at [0]", "nan", 1.0),
    "grad_norm_loss:cross_entropy_ignore": (
        {"x": [[1.0, 2.0], [0.5, 1.5]], "ids": [0, 1]},
        {"reduction": "mean", "ignore": 0},
        *("value", "y at []", 5.0, 0.3132617),
    ),
    "grad_shape:roll": ({"x": [[1.0, 2.0], [3.0, 4.0]]}, {"axes": [0, 1], "shifts": [1, 1]}, "value", "y at [0, 1]", 9.0, 3.0),
    "grad_adam:adam": (
        {"p": [1.0, 2.0], "g": [[1.0, 2.0], [0.5, 1.0]]},
        {"lr": 0.0625, "beta1": 0.875, "beta2": 0.999, "eps": 1e-8},
        *("value", "y at [1]", 9.0, 1.9),
    ),
}


@pytest.fixture(scope="module")
def project():
    return Project()


@pytest.fixture(scope="module")
def cells(project):
    columns = pins.select(pins.read(project.pins), list(COLUMNS))
    cases = sorted({name.partition(":")[0] for name in [*ASKED, "gradient_flow"]})
    specs = [spec for case in cases for spec in contract.load(project.cases / case)]
    return {
        (f"{c.spec.id}:{c.spec.item}", c.column.id): c
        for c in expanded.expand(specs, columns, {c.framework for c in pins.read(project.pins)})
    }


def asked(cells, name, column, *, layouts=None, use="once"):
    """The question of an example, and a record made for it."""
    tensors, attributes, kind, what, got, want = ASKED[name]
    cell = cells[name, column]
    arrays = {n: np.asarray(v) for n, v in tensors.items()}
    example = Example(
        asked=Asked(tensors=arrays, attributes=attributes),
        dtype="float32",
        layouts=dict.fromkeys(arrays, "contiguous") | (layouts or {}),
        use=use,
        upstream=np.ones(np.shape(cell.spec.op.forward(**arrays, **attributes))),
    )
    check = {"check": kind, "note": f"{what}; float32", "got": got, "want": want, "holds": False}
    record = {"asked": "x", "status": "silent", "message": "", "checks": [check]}
    return question.of_example(cell, record, check, example)


@pytest.mark.parametrize(
    ("name", "column"),
    [*((name, "burn-0.21.0") for name in ASKED), *(("grad_adam:adam", column) for column in COLUMNS if column != "burn-0.21.0")],
)
def test_a_bundle_holds_the_function_and_all_that_it_calls(project, cells, name, column):
    made = stamp.files(project, asked(cells, name, column))
    main, glue = made["src/main.rs"], made["src/glue.rs"]
    cell = cells[name, column]
    function = cut.cut(cell.file.path, [cell.function])
    assert function.body in main
    assert all(line in main for line in function.imports.splitlines() if "crate::" not in line)
    assert literals.lines(main) <= literals.MOST_LINES
    for imported in re.findall(r"\w+", " ".join(re.findall(r"use crate::([^;]*);", function.imports))):
        if imported not in ("glue", "swept"):
            assert re.search(rf"(fn|struct|type|macro_rules!) {imported}\b", glue), imported
    for method in re.findall(r"\bt\.(\w+)(?:::<\w+>)?\(", function.body):
        assert method == "any" or f"pub fn {method}" in glue, method
    for reader in re.findall(r"\.(as_\w+)\(\)", function.body + glue.partition("mod serde_json")[0]):
        assert f"pub fn {reader}" in glue, reader
    wanted = tomllib.loads(made["Cargo.toml"])["dependencies"]
    assert {crate: pin["version"] for crate, pin in wanted.items()} == {"burn": f"={cell.column.version}"}
    assert set(made) == {"Cargo.toml", "Cargo.lock", "src/main.rs", "src/glue.rs", "src/compare.rs"}


def test_the_glue_has_the_ranks_of_the_example_alone(project, cells):
    glue = stamp.files(project, asked(cells, "grad_reduce:amax", "burn-0.21.0"))["src/glue.rs"]
    assert "let $x = $t.float::<2>($name)" in glue
    assert "match" not in glue.partition("macro_rules! each_rank")[2].partition("}\n}")[0]
    assert not re.search(r"Tensor<B, [345]>", glue)


def test_a_rank_that_is_worked_out_may_be_any():
    tensors = [{"name": "x", "rank": 2, "floats": True}, {"name": "w", "rank": 1, "floats": True}]
    assert burn._at_ranks("at_rank!(t.rank(), D => t.float::<D>(", tensors) == [2]
    assert burn._at_ranks('at_rank!(t.dims("w").len(), D => 1)', tensors) == [1]
    assert burn._at_ranks("at_rank!(t.rank(), D => at_rank!(shape.len(), E => 1))", tensors) == [1, 2, 3, 4, 5]
    assert burn._any_ranks('each_rank!(t.any("w"), w => w)', tensors) == [1]


@pytest.mark.parametrize(
    ("layout", "seen"),
    [
        ("transposed", "x.clone().swap_dims(0, 1)"),
        ("strided", "x.clone().select(1, burn::tensor::Tensor::<B, 1, burn::tensor::Int>::from_ints([0, 2], &device))"),
        ("offset", "x.clone().narrow(0, 1, 2)"),
        ("broadcast", "x.clone().expand([2, 2])"),
    ],
)
def test_a_view_is_made_as_the_probe_makes_it(project, cells, layout, seen):
    made = stamp.files(project, asked(cells, "grad_shape:roll", "burn-0.21.0", layouts={"x": layout}))
    assert f'("x", glue::float({seen}))' in made["src/main.rs"]


def test_a_sum_of_two_answers_and_a_chain_are_asked(project, cells):
    assert ".twice()" in stamp.files(project, asked(cells, "grad_shape:roll", "burn-0.21.0", use="twice"))["src/main.rs"]
    chain = stamp.files(project, asked(cells, "grad_shape:roll", "burn-0.21.0", use="chain"))["src/main.rs"]
    assert "glue::float(x.clone() + x.clone())" in chain
    assert "[0.5, 1.0, 1.5, 2.0]" in chain  # the half of it


def test_only_the_recorded_failure_is_a_repro(cells):
    elu = asked(cells, "grad_elementwise:elu", "burn-0.21.0")
    right = "y: right, 0 of 2 numbers are off\n"
    assert accept.refused(elu, 1, right + "dx[0]: got NaN, want 1.0, allowed error 1e-6\ndx: WRONG, 1 of 2 numbers are off\n") == ""
    assert "in the record" in accept.refused(
        elu, 1, right + "dx[0]: got 3.0, want 1.0, allowed error 1e-6\ndx: WRONG, 1 of 2 numbers are off\n"
    )
    assert "in the record" in accept.refused(elu, 1, right + "dx: WRONG, got nothing, want [2]\n")
    assert accept.refused(elu, 0, right) == "the defect is not there"
    assert accept.refused(elu, 2, "raised: panic: no Vulkan device").startswith("it could not run")


def test_an_ordinary_case_asks_its_own_backend(project, cells):
    cell = next(c for (name, column), c in cells.items() if name == "gradient_flow:tiled_heads" and column == "burn-0.21.0")
    check = {"check": "dk close", "holds": False, "got": 1.0, "want": 9.0, "note": "worst at dk[1, 1, 2, 0]"}
    record = {"asked": "x", "status": "silent", "message": "", "checks": [check]}
    made = stamp.files(project, question.of_case(cell, record))
    assert "tiled_heads::<burn::backend::Autodiff<burn::backend::NdArray<f32>>>(" in made["src/main.rs"]
    assert set(made) == {"Cargo.toml", "Cargo.lock", "src/main.rs", "src/compare.rs"}
    float64 = stamp.files(project, question.of_case(dataclasses.replace(cell, dtype="float64"), record))
    assert "NdArray<f64>" in float64["src/main.rs"]


def test_a_whole_number_is_written_as_it_is(project, cells):
    entropy = asked(cells, "grad_norm_loss:cross_entropy_ignore", "burn-0.21.0")
    ends = dataclasses.replace(entropy, tensors={**entropy.tensors, "ids": np.array([2**63 - 1, -(2**63)])})
    assert "compare::whole(&[9223372036854775807, -9223372036854775808], &[2])" in stamp.files(project, ends)["src/main.rs"]


LOCK = """version = 4

[[package]]
name = "frame"
version = "1.0.0"
dependencies = [
 "part 0.10.0",
]

[[package]]
name = "only-the-probe"
version = "0.1.0"
dependencies = [
 "part 0.9.0",
]

[[package]]
name = "part"
version = "0.9.0"

[[package]]
name = "part"
version = "0.10.0"
checksum = "aa"

[[package]]
name = "probe-frame-1-0-0"
version = "0.0.0"
dependencies = [
 "frame",
 "only-the-probe",
]
"""


def test_a_lock_holds_what_the_framework_reaches_and_no_more():
    made = tomllib.loads(cargo_lock.pruned(LOCK, ("frame",)))
    assert made["package"] == [
        {"name": "frame", "version": "1.0.0", "dependencies": ["part"]},  # one version is left: its number would be refused
        {"name": "part", "version": "0.10.0", "checksum": "aa"},
        {"name": "repro", "version": "0.0.0", "dependencies": ["frame"]},
    ]


def test_a_version_is_named_where_two_are_left():
    both = LOCK.replace(' "part 0.10.0",\n', ' "part 0.10.0",\n "part 0.9.0",\n', 1)
    made = tomllib.loads(cargo_lock.pruned(both, ("frame",)))
    assert made["package"][0]["dependencies"] == ["part 0.10.0", "part 0.9.0"]
    assert [p["version"] for p in made["package"] if p["name"] == "part"] == ["0.9.0", "0.10.0"]


@pytest.mark.parametrize("column", COLUMNS)
def test_the_lock_of_a_column_keeps_its_versions(project, column):
    (pinned,) = pins.select(pins.read(project.pins), [column])
    whole = {(p["name"], p["version"]): p.get("checksum") for p in tomllib.loads((project.locks / pinned.lock).read_text())["package"]}
    made = {(p["name"], p["version"]): p.get("checksum") for p in tomllib.loads(cargo_lock.lock(project, pinned))["package"]}
    assert made.pop(("repro", "0.0.0"), None) is None
    assert made.items() <= whole.items()
    assert not any(name.startswith("probe-") for name, _ in made)
    assert ("burn", pinned.version) in made
