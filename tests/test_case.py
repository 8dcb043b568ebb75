"""A case that cannot fail is refused when it is loaded, with what to do."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness import cell, contract, pins, source
from harness.cell import load_specs
from harness.contract import validate
from harness.errors import BadInput
from harness.matrix import all_cells
from harness.project import Project


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


def columns(fakes):
    return pins.read(fakes.pins)


@pytest.mark.parametrize("name", ["run_fake.py.bak", "run_Fake.py", "run_fake.a.b.py", "run_fake@x.py"])
def test_a_misnamed_run_file_is_refused(fakes, name):
    (fakes.cases / "scale" / name).write_text("")
    with pytest.raises(BadInput, match=r"run_FRAMEWORK\[.VARIANT\]"):
        all_cells(fakes, columns(fakes))


def test_a_run_file_of_an_unknown_framework_is_refused(fakes):
    (fakes.cases / "scale" / "run_tensorflow.py").write_text("def run(x, w, dy):\n    return {}\n")
    with pytest.raises(BadInput, match="framework 'tensorflow'"):
        all_cells(fakes, columns(fakes))


def test_a_function_that_is_no_item_is_refused(fakes):
    file = fakes.cases / "many" / "run_fake.py"
    file.write_text(file.read_text() + "\n\ndef row99(x):\n    return {}\n")
    source.functions.cache_clear()
    with pytest.raises(BadInput, match="function row99"):
        all_cells(fakes, columns(fakes))


def test_a_file_serves_its_version_and_later(fakes):
    (fakes.cases / "scale" / "run_fake@2.0.py").write_text("def run(x, w, dy):\n    return {}\n")
    served = {c.column.version: c.file.path.name for c in all_cells(fakes, columns(fakes)) if c.spec.id == "scale" and not c.variant}
    assert served == {"1.0": "run_fake.py", "2.0": "run_fake@2.0.py"}


def test_a_case_without_a_run_file_is_untested_and_said(fakes, asker):
    (fakes.cases / "scale" / "run_fake.py").unlink()
    shutil.copytree(fakes.cases / "scale", fakes.cases / "empty", ignore=shutil.ignore_patterns("run_*"))
    one = next(c for c in all_cells(fakes, columns(fakes)) if c.spec.id == "empty")
    assert (one.file, asker.ask(one)["status"]) == (None, "untested")


def asked(fakes):
    source.functions.cache_clear()
    source._with_private.cache_clear()
    return {c.id: c.asked for c in all_cells(fakes, columns(fakes)) if c.variant == ""}


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def changed(before, after):
    return {i for i in before if before[i] != after[i]}


def test_an_items_edit_never_voids_its_neighbours(fakes):
    before = asked(fakes)
    edit(fakes.cases / "many" / "run_fake.py", "def row03(x):\n    return {", "def row03(x):\n    x = x + 0\n    return {")
    assert {i.split("@")[0] for i in changed(before, asked(fakes))} == {"many:row03"}


def test_what_cannot_change_a_number_changes_no_version(fakes):
    before = asked(fakes)
    edit(fakes.cases / "scale" / "case.py", "A scaled tensor has", "Words only: it has")
    edit(fakes.cases / "scale" / "run_fake.py", "def run", "# a comment\n\n\ndef run")
    assert changed(before, asked(fakes)) == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rtol=1e-6", "rtol=1e-5"),
        ("grid(rng, 4)", "grid(rng, 4, span=1.0)"),
        ('"dx": dy * w', '"dx": w * dy'),
        ("limit_s=2.0", "limit_s=3.0"),
        ("limit_gb=0.25", "limit_gb=0.5"),
    ],
    ids=["tolerance", "inputs", "reference", "time limit", "memory cap"],
)
def test_what_can_change_a_number_changes_the_version(fakes, old, new):
    before = asked(fakes)
    edit(fakes.cases / "scale" / "case.py", old, new)
    assert {i.split("@")[0] for i in changed(before, asked(fakes))} == {"scale"}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("case.py", "factor=5.0", "factor=6.0"),
        ("case.py", "absolute=40.0", "absolute=50.0"),
        ("run_fake.py", '"y": x @ w}\n\n\ndef gemm', '"y": w.T @ x}\n\n\ndef gemm'),
        ("run_fake.py", "a @ b", "b @ a"),
    ],
    ids=["factor", "absolute", "forward", "gemm"],
)
def test_what_is_timed_and_its_limits_are_in_the_version(fakes, file, old, new):
    before = asked(fakes)
    edit(fakes.cases / "timed" / file, old, new)
    assert {i.split("@")[0] for i in changed(before, asked(fakes))} == {"timed"}


def test_a_second_reference_is_in_the_version(fakes):
    file = fakes.cases / "scale" / "case.py"
    file.write_text(
        file.read_text()
        .replace("import Case, Tol", "import Case, Documented, Tol")
        .replace("    batch=", "    documented={'fake': Documented(reference=other, link='l', why='w')},\n    batch=")
    )
    edit(file, "\n\nCASE =", "\n\ndef other(x, w, dy):\n    return {'y': x}\n\n\nCASE =")
    before = asked(fakes)
    edit(file, "return {'y': x}", "return {'y': w}")
    assert {i.split("@")[0] for i in changed(before, asked(fakes))} == {"scale"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A, B = 1, 2", "A, B = 1, 3"),
        ("B: int = 2", "B: int = 3"),
        ("B = 1\nB += 1", "B = 1\nB += 2"),
        ("if True:\n    B = 2", "if True:\n    B = 3"),
        ("B = 2\nprint(1)", "B = 2\nprint(2)"),
    ],
    ids=["tuple", "annotated", "augmented", "conditional", "for its effect"],
)
def test_every_way_to_bind_a_name_is_in_the_version(tmp_path, before, after):
    texts = []
    for n, line in enumerate((before, after)):
        file = tmp_path / f"run_fake.v{n}.py"
        file.write_text(f"{line}\n\n\ndef run(x):\n    return {{'y': x * B}}\n")
        texts.append(source.functions(file)["run"])
    assert texts[0] != texts[1]


def test_the_adapter_is_in_the_version():
    column = pins.select(pins.read(Project().pins), ["torch"])[0]
    rust = pins.select(pins.read(Project().pins), ["burn-0.21.0"])[0]
    assert cell.glue(column) != cell.glue(dataclasses.replace(column, framework="jax"))
    assert cell.glue(rust) != cell.glue(dataclasses.replace(rust, features=("std",)))


def test_a_version_has_the_glue_of_its_interface():
    files = {
        c.version: [path.name for path in cell.glue_files(cell.FRAMEWORKS, c)] for c in pins.read(Project().pins) if c.framework == "burn"
    }
    assert files["0.18.0"] == files["0.21.0"] == ["protocol.rs", "tensors.rs", "glue.rs"]
    assert files["0.23.0-pre.1"] == ["protocol.rs", "tensors.rs", "glue@0.23.rs"]


def test_a_run_file_of_an_older_interface_serves_no_newer_column():
    names = ("run_burn.rs", "run_burn.plain.rs", "run_burn@0.23.rs")
    files = [
        cell.RunFile(framework="burn", variant="plain" if "plain" in n else "", since="0.23" if "@" in n else "", path=Path(n))
        for n in names
    ]
    columns = {c.version: c for c in pins.read(Project().pins) if c.framework == "burn" and not c.backend}
    served = {v: {variant: f.path.name for variant, f in cell.files_for(files, columns[v]).items()} for v in ("0.21.0", "0.23.0-pre.1")}
    assert served == {"0.21.0": {"": "run_burn.rs", "plain": "run_burn.plain.rs"}, "0.23.0-pre.1": {"": "run_burn@0.23.rs"}}


def test_a_misspelt_function_is_refused(fakes):
    file = fakes.cases / "scale" / "run_fake.nan.py"
    file.write_text(file.read_text().replace("def run", "def rum"))
    source.functions.cache_clear()
    with pytest.raises(BadInput, match="function rum"):
        all_cells(fakes, columns(fakes))


def test_a_file_of_the_wrong_language_is_refused(fakes):
    (fakes.cases / "scale" / "run_fake.other.rs").write_text("pub fn run() {}\n")
    with pytest.raises(BadInput, match="for a python framework"):
        all_cells(fakes, columns(fakes))


def test_rust_functions_are_cut_by_syntax_tree(tmp_path):
    file = tmp_path / "run_candle.rs"
    file.write_text(
        'use x::Y; // c\nfn helper() -> &\'static str { "}{ // not a comment" }\npub fn a(t: u8) -> u8 { t }\npub fn b() { helper(); }\n'
    )
    source.functions.cache_clear()
    found = source.functions(file)
    assert set(found) == {"a", "b"}
    assert "fn b" not in found["a"]
    assert "helper" in found["a"]
    same = tmp_path / "run_candle.other.rs"
    same.write_text(
        'use x::Y;\n\nfn helper() -> &\'static str {\n    "}{ // not a comment"\n}\n/* d */\npub fn a(t: u8) -> u8 {\n    t\n}\npub fn b() {}\n'
    )
    assert source.functions(same)["a"] == found["a"]
    assert cell.RUN_FILE.fullmatch(same.name)["variant"] == "other"


def test_a_column_may_need_more_time(fakes):
    asked = all_cells(fakes, columns(fakes))[0]
    slow = dataclasses.replace(asked, column=dataclasses.replace(asked.column, patience=5.0))
    assert slow.limit_s == 5 * asked.limit_s == 5 * asked.spec.case.limit_s
    assert slow.asked != asked.asked


def test_a_column_may_have_some_classes_of_failure_only(fakes):
    pins_toml = fakes.pins.read_text()
    everything = all_cells(fakes, pins.read(fakes.pins))
    (kept,) = {c.spec.case.failure for c in everything if c.spec.id == "scale"}
    fakes.pins.write_text(pins_toml.replace('language = "python"', f'language = "python"\nfailures = ["{kept}"]', 1))
    assert {c.spec.case.failure for c in all_cells(fakes, pins.read(fakes.pins)) if c.column.failures} == {kept}
    fakes.pins.write_text(pins_toml.replace('language = "python"', 'language = "python"\nfailures = ["no-such-class"]', 1))
    with pytest.raises(BadInput, match="no-such-class"):
        all_cells(fakes, pins.read(fakes.pins))


def test_a_case_may_be_for_some_frameworks_only(fakes):
    file = fakes.cases / "scale" / "case.py"
    text = file.read_text()
    file.write_text(text.replace("    failure=", '    only=("other",),\n    failure='))
    fakes.pins.write_text(
        f'{fakes.pins.read_text()}\n[other]\nlanguage = "python"\npython = "3.11"\nrequires = []\n[other.versions]\n"1.0" = {{}}\n'
    )
    assert {c.column.framework for c in all_cells(fakes, pins.read(fakes.pins)) if c.spec.id == "scale"} == {"other"}
    file.write_text(text.replace("    failure=", '    only=("no-such-framework",),\n    failure='))
    with pytest.raises(BadInput, match="no-such-framework"):
        all_cells(fakes, pins.read(fakes.pins))


def test_a_framework_of_ours_is_asked_what_it_is_for():
    asked = all_cells(Project(), [c for c in pins.read(Project().pins) if c.source])
    assert asked
    assert [c.id for c in asked if not c.file and c.column.framework not in c.spec.absent] == []
