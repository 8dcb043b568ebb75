"""A question has another version when anything that can change a number changed, and only then."""

import dataclasses

import pytest

from harness import cell, pins, source
from harness.matrix import all_cells
from harness.project import Project


def asked(fakes):
    source.functions.cache_clear()
    source._with_private.cache_clear()
    return {c.id: c.asked for c in all_cells(fakes, pins.read(fakes.pins)) if c.variant == ""}


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
