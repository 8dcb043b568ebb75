"""Recall is counted by column, and only for the kind of fault that the defect is."""

from tests.recall import recalled

LIST = """
[[defect]]
id = "one"
item = "family:op"
columns = ["a-1", "a-2", "a-3"]
kinds = ["missing"]
"""


def answer(column, status, *kinds):
    checks = [{"check": kind, "holds": False} for kind in kinds]
    return {"case": "family", "item": "op", "column": column, "status": status, "checks": checks}


def test_found_where_the_kind_is_right_and_missed_where_it_is_another_or_was_not_asked(tmp_path):
    known = tmp_path / "known.toml"
    known.write_text(LIST)
    got = list(recalled([answer("a-1", "silent", "missing"), answer("a-2", "silent", "value")], known))
    assert [(k.column, k.found, k.said) for k in got] == [("a-1", True, "missing"), ("a-2", False, "value"), ("a-3", False, "not asked")]
