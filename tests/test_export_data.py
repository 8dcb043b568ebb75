"""What a program computes with, read back: CSV by pandas, JSON by its schema, OpenMetrics by Prometheus' parser; and the last two shown to object."""

from __future__ import annotations

import io
import json
import re
from collections import Counter

import exported
import jsonschema
import pandas as pd
import pytest
from export_readers import SCHEMA
from exported import statuses
from prometheus_client.openmetrics import parser

from harness import record
from harness.case import FAILURES
from harness.export import document, openmetrics, tidy
from harness.export.gather import rate
from harness.verdict import EXECUTED, STATUSES

run = exported.run


def test_the_run_has_every_status(run):
    assert set(statuses(run)) == set(STATUSES)


def test_a_rate_is_of_what_was_asked(run):
    rates = {r["status"]: rate(r) for r in run.records}
    assert rates["unstable"] == 0.3
    assert (rates["silent"], rates["ok"], rates["differs"]) == (1.0, 0.0, 0.0)
    assert {rates[s] for s in ("loud", "absent", "untested", "error")} == {None}


# CSV, with pandas


def test_csv_has_a_row_a_cell_and_metric(run):
    table = pd.read_csv(io.StringIO(tidy.write(run)), keep_default_na=False, na_values={"value": [""]})
    assert list(table.columns) == list(tidy.COLUMNS)
    keys = [*tidy.CELL, "metric", "check"]
    assert not table.duplicated(keys).any()
    cells = table[table["metric"] == "fail_rate"]
    assert Counter(cells["status"]) == statuses(run)
    assert set(cells.loc[cells["status"] == "silent", "value"]) == {1.0}
    assert set(cells.loc[cells["status"] == "unstable", "value"]) == {0.3}
    assert cells.loc[cells["status"].isin(["absent", "untested", "error", "loud"]), "value"].isna().all()
    assert set(table.loc[~table["status"].isin(EXECUTED), "metric"]) == {"fail_rate"}
    torch = table[(table["column"] == "torch-2.15.0") & (table["case"] == "slow_backward")].set_index("metric")
    assert torch.loc["reference_ratio", "value"] == pytest.approx(1.0)
    assert torch.loc["cpu_s", "unit"] == "s"


def test_csv_begins_no_formula(tmp_path):
    spoilt = exported.selection(tmp_path, records=exported.spoilt(tmp_path, "=HYPERLINK(1)"))
    assert "'=HYPERLINK(1)" in tidy.write(spoilt)
    assert not re.search(r'(^|,)"?[=+@]', tidy.write(spoilt), re.MULTILINE)


# JSON, with jsonschema


def test_json_fits_its_schema(run):
    whole = json.loads(document.write(run))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(whole, SCHEMA)
    assert len(whole["cells"]) == len(run.records)
    assert whole["counts"] == dict(statuses(run))
    assert whole["environments"][whole["cells"][0]["environment"]] == run.records[0]["environment"]


def test_the_schema_objects(run):
    whole = json.loads(document.write(run))
    whole["cells"][3]["status"] = "green"
    with pytest.raises(jsonschema.ValidationError, match="green"):
        jsonschema.validate(whole, SCHEMA)
    del whole["cells"][3]["status"]
    with pytest.raises(jsonschema.ValidationError, match="'status' is a required property"):
        jsonschema.validate(whole, SCHEMA)


def test_the_schema_has_the_closed_lists():
    cell = SCHEMA["properties"]["cells"]["items"]["properties"]
    ours = json.loads(record.SCHEMA_FILE.read_text())["properties"]
    assert SCHEMA["$defs"]["status"]["enum"] == list(STATUSES)
    assert (cell["cause"]["enum"], cell["dtype"]["enum"]) == (ours["cause"]["enum"], ours["dtype"]["enum"])
    assert SCHEMA["properties"]["questions"]["additionalProperties"]["properties"]["failure"]["enum"] == [*FAILURES, "unknown"]


# OpenMetrics, with prometheus_client's parser


def families(text):
    return {f.name: f for f in parser.text_string_to_metric_families(text)}


def test_openmetrics_is_read_back(run):
    text = openmetrics.write(run)
    assert text.endswith("# EOF\n")
    read = families(text)
    assert read["silentbench_verdict"].type == "stateset"
    states = {}
    for s in read["silentbench_verdict"].samples:
        labels = dict(s.labels)
        states.setdefault((labels["case"], labels["item"], labels["column"]), {})[labels["silentbench_verdict"]] = s.value
    assert all(set(of) == set(STATUSES) and sum(of.values()) == 1 for of in states.values())
    assert {k: next(s for s, v in of.items() if v) for k, of in states.items()} == {
        (of[0]["case"], of[0]["item"], of[0]["column"]): word for word, of in run.squares
    }
    assert read["silentbench_cell_cpu_seconds"].unit == "seconds"
    assert len(read["silentbench_cell_cpu_seconds"].samples) == sum(r["status"] in EXECUTED for r in run.records)
    ratio = {s.labels["column"]: s.value for s in read["silentbench_reference_ratio"].samples}
    assert ratio["torch-2.15.0"] == pytest.approx(1.0)
    assert read["silentbench_newest_record_timestamp_seconds"].samples[0].value == 1795961127  # 2026-11-29T14:05:27Z
    assert {s.labels["status"]: s.value for s in read["silentbench_cells"].samples} == statuses(run)


@pytest.mark.parametrize(
    ("old", "new"),
    [("# EOF\n", ""), ('="silent"', '="sil\nent"'), ('silentbench_verdict="silent"', 'verdict="silent"'), ("} 1.0\n", "} 2.0\n")],
)
def test_the_openmetrics_parser_objects(run, old, new):
    with pytest.raises(ValueError):  # noqa: PT011  each of its complaints is one
        families(openmetrics.write(run).replace(old, new, 1))
