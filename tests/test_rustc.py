"""What the compiler's messages are taken to mean, on messages recorded from rustc 1.95 with candle 0.11.1 and burn 0.20.1."""

import json
from pathlib import Path

import pytest

from harness import rustc

FAKES = Path(__file__).parent / "fakes" / "rust"
RECORDED = [json.loads(line) for line in (FAKES / "messages.jsonl").read_text().splitlines()]
TYPES = {"RmsNorm", "DType", "LayerNormConfig", "AdamW", "RmsNormConfig", "TensorData"}  # declared by the recorded frameworks


def said(message, binary="probe", reason="compiler-message"):
    return json.dumps({"reason": reason, "target": {"name": binary, "src_path": ""}, "message": message})


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda r: r["message"]["message"][:70])
def test_only_a_name_that_the_framework_lacks_is_absent(recorded):
    (error,) = rustc.errors(said(recorded["message"]), "probe")
    found = rustc.is_absent(error, "\n".join(recorded["uses"]), recorded["crates"], TYPES.__contains__)
    assert ("absent" if found else "build") == recorded["want"]


def test_both_answers_were_recorded():
    assert {r["want"] for r in RECORDED} == {"absent", "build"}


def test_a_shortened_type_is_the_frameworks_only_where_its_source_declares_it():
    recorded = next(r for r in RECORDED if "struct `RmsNorm` in" in r["message"]["message"])
    (error,) = rustc.errors(said(recorded["message"]), "probe")
    assert rustc.is_absent(error, "", recorded["crates"], lambda name: name == "RmsNorm")
    assert not rustc.is_absent(error, "", recorded["crates"], lambda _: False)


def test_declares_reads_the_frameworks_crates_only(tmp_path):
    for crate in ("burn_nn", "burnish", "half"):
        (tmp_path / crate).mkdir()
        (tmp_path / crate / "lib.rs").write_text(f"mod a;\npub struct In_{crate}<B> {{}}\nstruct Private;")
    stdout = "\n".join(
        json.dumps({"reason": "compiler-artifact", "target": {"name": crate, "src_path": str(tmp_path / crate / "lib.rs")}})
        for crate in ("burn_nn", "burnish", "half")
    )
    assert rustc.declares("In_burn_nn", stdout, "burn")
    assert not rustc.declares("In_half", stdout, "burn")
    assert not rustc.declares("In_burnish", stdout, "burn")
    assert not rustc.declares("Private", stdout, "burn")


def test_errors_are_ours_in_their_order_with_the_primary_span_first():
    second, first = RECORDED[0]["message"], next(r["message"] for r in RECORDED if len(r["message"]["spans"]) > 1)
    other, warning = said(second, binary="half"), said({**second, "level": "warning"})
    found = rustc.errors("\n".join(["   Compiling", other, warning, said(first), said(second)]), "probe")
    assert [e.message for e in found] == [first["message"], second["message"]]
    primary = next(s for s in first["spans"] if s["is_primary"])
    assert found[0].spans[0].byte == primary["byte_start"]


def test_a_span_in_a_macro_leads_to_its_call():
    message = json.loads(json.dumps(RECORDED[0]["message"]))
    call = {**message["spans"][0], "file_name": "src/main.rs", "line_start": 35}
    message["spans"][0] |= {"file_name": "glue.rs", "expansion": {"span": call}}
    (error,) = rustc.errors(said(message), "probe")
    assert [(s.file, s.line) for s in error.spans][:2] == [("glue.rs", message["spans"][0]["line_start"]), ("src/main.rs", 35)]


def test_the_errors_of_dependencies_are_in_the_log():
    assert rustc.rendered(said({"level": "error", "rendered": "error: E"}, binary="half")) == "error: E"


ITEMS = (FAKES / "items_candle.rs").read_bytes()


@pytest.mark.parametrize(
    ("broken", "fall"),
    [
        ("forward", {"forward", "step"}),
        ("sqr", {"sqr"}),  # `square` calls the method of that name, not the function
        ("gemm", {"gemm"}),
    ],
)
def test_what_stands_on_a_broken_function_falls_with_it(broken, fall):
    assert rustc.standing_on(broken, rustc.parts(ITEMS)) == fall


def test_a_broken_helper_or_type_takes_everything_that_uses_it():
    parts = rustc.parts(ITEMS)
    everything = {p.name for p in parts if p.is_function}
    assert rustc.standing_on("answer", parts) == everything - {"views"}
    assert rustc.standing_on("Tensors", parts) == everything | {"Tensors"}


@pytest.mark.parametrize(
    ("text", "falls"),
    [
        (b"fn a() {}\nfn b() { let v = vec![a()]; }", True),
        (b"fn a() {}\nfn b() { a::<f32>(); }", True),
        (b"fn a() {}\npub fn r#b() { a(); }", True),  # a raw name is the name
        (b"fn a() {}\nfn b(x: X) { x.a(); vec![x.a()]; other::a(); }", False),
        (b"fn a() {}\nfn b() { let a = 1; print(a); }", False),
        (b'fn a() {}\nfn b() { /* a() */ print("a()"); }', False),
        (b"struct a;\nfn b() -> a { todo() }", True),
        (b"fn a() {}\nstruct X;\nimpl X { fn a() {} }\nfn b(x: X) {}", False),
    ],
)
def test_standing_on_goes_by_use_not_by_spelling(text, falls):
    assert ("b" in rustc.standing_on("a", rustc.parts(text))) == falls


def test_without_keeps_every_other_byte_at_its_place():
    parts = rustc.parts(ITEMS)
    cut = rustc.without(ITEMS, {"forward", "step"}, parts)
    assert len(cut) == len(ITEMS)
    assert cut.count(b"\n") == ITEMS.count(b"\n")
    assert b"pub fn forward" not in cut
    assert b"The framework has no such function" not in cut, "a doc comment without its item does not parse"
    assert rustc.parts(cut), "it still parses"
    differ = [i for i, (a, b) in enumerate(zip(ITEMS, cut, strict=True)) if a != b]
    gone = [p for p in parts if p.name in {"forward", "step"}]
    assert all(any(p.start <= i < p.end for p in gone) for i in differ)


def test_a_file_that_does_not_parse_is_never_cut():
    assert rustc.parts((FAKES / "broken_syntax.rs").read_bytes()) == []
