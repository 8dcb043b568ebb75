"""The ledger: an operation of a framework once, over its versions, with the smallest example of the newest bad one."""

import json

from harness.report import ledger

TRIGGER = json.dumps({"dtype": "float32", "tensors": {"x": {"shape": [2], "dtype": "float64", "values": [0.5, 1.0]}}})


def answer(version, status, *kinds, mode="eager", framework="candle"):
    checks = [{"check": "examples", "holds": True, "ratio": 0, "got": 60.0, "want": 60.0, "note": ""}]
    checks += [
        {"check": kind, "holds": False, "ratio": 2, "got": 1.0, "want": 2.0, "note": f"y; float32; x [2] in {version}", "trigger": TRIGGER}
        for kind in kinds
    ]
    return {
        "case": "family",
        "item": "op",
        "dtype": "all",
        "mode": mode,
        "framework": framework,
        "version": version,
        "column": f"{framework}-{version}",
        "status": status,
        "message": "",
        "checks": checks,
    }


def one(*records):
    (finding,) = ledger.findings(records, [])
    return finding


def test_first_bad_and_last_good_over_the_versions_in_their_order():
    finding = one(answer("0.10.2", "silent", "value", "loud"), answer("0.9.1", "ok"), answer("0.11.0", "silent", "missing"))
    assert (finding.first_bad, finding.last_good, finding.fixed) == ("0.10.2", "0.9.1", "")
    assert finding.kinds == {"0.9.1": (), "0.10.2": ("value",), "0.11.0": ("missing",)}
    assert (finding.column, finding.kind, finding.example) == ("candle-0.11.0", "missing", "y; float32; x [2] in 0.11.0")
    assert finding.tracker == "not looked up"
    assert "--columns candle-0.11.0" in finding.command


def test_a_fault_that_is_gone_names_the_version_that_is_good_again():
    finding = one(answer("0.9.1", "crash", "crash"), answer("0.11.0", "ok"))
    assert (finding.first_bad, finding.last_good, finding.fixed) == ("0.9.1", "", "0.11.0")


def test_what_did_not_repeat_says_so():
    bad = answer("0.9.1", "hang", "hang", "value")
    bad["checks"][-2]["got"] = "no answer within 20 s (of 60 examples in one process; not in two)"
    assert one(bad, answer("0.11.0", "ok")).repeats  # its value was wrong again where the example was made smaller
    del bad["checks"][-1]
    assert not one(bad, answer("0.11.0", "ok")).repeats


def test_what_is_wrong_in_eager_mode_is_named_first():
    eager, compiled = answer("2.15.0", "silent", "value"), answer("2.15.0", "silent", "narrow", mode="compiled")
    assert one(compiled, eager).kinds == one(eager, compiled).kinds == {"2.15.0": ("value", "narrow")}


def test_a_refusal_and_what_could_not_be_asked_are_no_findings():
    assert ledger.findings([answer("0.9.1", "loud", "loud"), answer("0.11.0", "error", "value")], []) == []


def test_wrong_in_compiled_mode_only_is_said():
    assert one(answer("2.15.0", "ok"), answer("2.15.0", "silent", "value", mode="compiled")).compiled
    assert not one(answer("2.15.0", "silent", "value"), answer("2.15.0", "silent", "value", mode="compiled")).compiled


def test_what_stands_comes_before_what_is_fixed(tmp_path):
    gone = [answer("0.9.1", "silent", "value", framework="a"), answer("0.11.0", "ok", framework="a")]
    found = ledger.findings([*gone, answer("0.11.0", "silent", "value", framework="b")], [])
    assert [f.framework for f in found] == ["b", "a"]
    ledger.write(tmp_path / "findings.jsonl", found)
    lines = [json.loads(line) for line in (tmp_path / "findings.jsonl").read_text().splitlines()]
    assert [line["framework"] for line in lines] == ["b", "a"]
    assert lines[0]["trigger"]["dtype"] == "float32"
