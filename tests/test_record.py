"""What was measured stays: broken lines, full disks and folders that cannot be written."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import record
from harness.errors import CannotKeep
from harness.project import ROOT
from harness.record import Store


def a_record(case="scale", run="r1", **more):
    return {
        "schema": record.SCHEMA,
        "run": run,
        "case": case,
        "item": "",
        "variant": "",
        "dtype": "float32",
        "mode": "eager",
        "column": "fake-1.0",
        "framework": "fake",
        "version": "1.0",
        "status": "ok",
        "cause": None,
        "message": "",
        "asked": "0" * 16,
        "checks": [],
        **dict.fromkeys(("run_s", "cpu_s", "peak_bytes", "load"), 0),
        **dict.fromkeys(("log", "file", "function", "file_sha256", "at"), ""),
        "speed": None,
        "environment": {},
        **more,
    }


def lines(n):
    return b"".join(json.dumps(a_record(case=f"case{i}")).encode() + b"\n" for i in range(n))


@given(cut=st.integers(0, 10_000), junk=st.binary(max_size=40).filter(lambda b: b"\n" not in b))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_truncated_file_loses_only_its_last_line(tmp_path, cut, junk):
    whole = lines(5)
    cut %= len(whole)
    file = tmp_path / "fake-1.0.jsonl"
    file.write_bytes(whole[:cut] + junk)
    found, bad = record.read(file)
    assert [r["case"] for r in found] == [f"case{i}" for i in range(whole[:cut].count(b"\n"))] or len(found) == whole[:cut].count(b"\n") + 1
    assert len(bad) <= 1


@given(place=st.integers(0, 10_000), byte=st.integers(0, 255))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_byte_costs_at_most_its_line_and_its_neighbour(tmp_path, place, byte):
    whole = bytearray(lines(5))
    whole[place % len(whole)] = byte
    file = tmp_path / "fake-1.0.jsonl"
    file.write_bytes(bytes(whole))
    found, bad = record.read(file)
    assert len(found) >= 3
    assert all(b.file == file and 1 <= b.line <= 6 for b in bad)


def test_a_bad_line_is_named_by_file_and_line(tmp_path):
    file = tmp_path / "fake-1.0.jsonl"
    file.write_bytes(lines(1) + b'{"schema": 1, "ca\n' + lines(1) + b'{"schema": 99}\n[1]\n')
    found, bad = record.read(file)
    assert len(found) == 2
    assert [str(b).split("; skipped")[0].rsplit("/", 1)[1] for b in bad] == [
        "fake-1.0.jsonl:2: not JSON (Unterminated string starting at: line 1 column 15 (char 14))",
        "fake-1.0.jsonl:4: schema 99, wanted 1",
        "fake-1.0.jsonl:5: not a record",
    ]


def test_an_append_after_a_kill_in_mid_line_starts_its_own_line(tmp_path):
    (tmp_path / "fake-1.0.jsonl").write_bytes(lines(1) + b'{"schema": 1, "ca')
    store = Store(tmp_path)
    store.append(a_record(case="next"))
    store.close()
    found, bad = record.read(tmp_path / "fake-1.0.jsonl")
    assert [r["case"] for r in found] == ["case0", "next"]
    assert len(bad) == 1


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path):
    """/dev/full answers every write with 'no space left'."""
    store = Store(tmp_path).open("q")
    store.append(a_record(case="first"))
    (tmp_path / "other-1.0.jsonl").symlink_to("/dev/full")
    with pytest.raises(CannotKeep, match=r"No space left on device[\s\S]*goes on where it stopped"):
        store.append(a_record(column="other-1.0"))
    store.close()
    assert [r["case"] for r in record.read(tmp_path / "fake-1.0.jsonl")[0]] == ["first"]


def test_a_disk_that_fills_in_mid_record_costs_that_record(tmp_path):
    """RLIMIT_FSIZE cuts a write short as a filling disk does."""
    program = f"""
import resource, signal, sys
sys.path.insert(0, {str(ROOT)!r})
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from harness.record import Store
from test_record import a_record
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(Path({str(tmp_path)!r})).open("q")
resource.setrlimit(resource.RLIMIT_FSIZE, (2100, 2100))
try:
    for i in range(100):
        store.append(a_record(case=f"case{{i}}"))
except Exception as full:
    print(type(full).__name__, full)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "CannotKeep" in said
    found, bad = record.read(tmp_path / "fake-1.0.jsonl")
    assert 4 <= len(found) <= 6, "what was whole before the disk filled"
    assert len(bad) <= 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 2100


@pytest.mark.parametrize("folder", ["/proc/silentbench", "/dev/null/silentbench"])
def test_a_folder_that_cannot_be_written_is_said(folder):
    with pytest.raises(CannotKeep, match="SILENTBENCH_RESULTS"):
        Store(Path(folder)).open("q")


def test_a_finished_run_is_not_gone_on_with(tmp_path):
    store = Store(tmp_path).open("q")
    store.append(a_record(run=store.run))
    first = store.run
    store.finish()
    again = Store(tmp_path).open("q")
    assert (again.run != first, again.resumed, again.done()) == (True, 0, {})
    again.close()


def test_an_unfinished_run_of_another_question_is_not_gone_on_with(tmp_path):
    store = Store(tmp_path).open("q")
    store.append(a_record(run=store.run))
    store.close()
    same = Store(tmp_path).open("q")
    assert (same.run, len(same.done())) == (store.run, 1)
    same.close()
    other = Store(tmp_path).open("another")
    assert other.run != store.run
    other.close()


def test_the_later_of_two_answers_holds(tmp_path):
    record.write_folder(tmp_path, [a_record(status="ok"), a_record(status="ok", column="b-1.0")])
    store = Store(tmp_path)
    store.append(a_record(status="silent"))
    store.close()
    found, _ = record.read_folder(tmp_path)
    assert {r["column"]: r["status"] for r in found} == {"fake-1.0": "silent", "b-1.0": "ok"}


def test_numbers_json_has_no_word_for():
    assert record.plain({"ratio": float("inf"), "got": float("nan"), "want": 1 / 3}) == {"ratio": "inf", "got": "nan", "want": 0.3333333}


def test_the_schema_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match=r"is a required property|was unexpected"):
        record.validate(a_record(surprise=1))
