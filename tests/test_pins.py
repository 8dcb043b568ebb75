"""Versions in their order, columns by name, and every wrong name refused."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import pins
from harness.errors import BadInput
from harness.project import Project

COLUMNS = pins.read(Project().pins)


def test_release_order_of_both_registries():
    order = ["0.9.2", "0.10.2", "0.21.0", "0.22.0-pre.2", "0.23.0-pre.1", "0.23.0rc1", "0.23.0", "0.23.1", "2.0.1", "2.15.0"]
    shuffled = random.Random(1).sample(order, len(order))
    assert sorted(shuffled, key=pins.release_key) == order


@given(st.tuples(*[st.integers(0, 99)] * 3), st.tuples(*[st.integers(0, 99)] * 3))
def test_order_is_that_of_the_tuples(a, b):
    assert (pins.release_key(".".join(map(str, a)))[0] < pins.release_key(".".join(map(str, b)))[0]) == (a < b)


def test_a_pre_release_has_the_interface_of_its_release():
    assert pins.not_before("0.23.0-pre.1", "0.23")
    assert pins.not_before("0.23.1", "0.23")
    assert not pins.not_before("0.22.9", "0.23")
    assert pins.is_pre("0.23.0-pre.1")


def test_newest_is_the_newest_stable(tmp_path):
    file = tmp_path / "pins.toml"
    file.write_text('[burn]\nlanguage = "rust"\ncrates = ["burn"]\n[burn.versions]\n"0.23.0-pre.1" = {}\n"0.9.0" = {}\n"0.21.0" = {}\n')
    assert [(c.version, [t for t in c.tags if t != "burn"]) for c in pins.read(file)] == [
        ("0.9.0", []),
        ("0.21.0", ["newest"]),
        ("0.23.0-pre.1", ["pre"]),
    ]


def test_a_line_may_name_a_backend(tmp_path):
    file = tmp_path / "pins.toml"
    file.write_text(
        '[burn]\nlanguage = "rust"\ncrates = ["burn"]\nfeatures = ["ndarray"]\n[burn.versions]\n'
        '"0.23.0-pre.1" = { features = ["flex"] }\n"0.21.0 wgpu-fusion" = { features = ["wgpu", "fusion"] }\n"0.21.0" = {}\n"0.9.0" = {}\n'
    )
    columns = pins.read(file)
    assert [(c.id, c.version, c.backend, c.features) for c in columns] == [
        ("burn-0.9.0", "0.9.0", "", ("ndarray",)),
        ("burn-0.21.0", "0.21.0", "", ("ndarray",)),
        ("burn-0.21.0-wgpu-fusion", "0.21.0", "wgpu-fusion", ("wgpu", "fusion")),
        ("burn-0.23.0-pre.1", "0.23.0-pre.1", "", ("flex",)),
    ]
    assert [c.id for c in columns if "newest" in c.tags] == ["burn-0.21.0"]
    assert columns[2].lock == "burn-0.21.0-wgpu-fusion.Cargo.lock"


def test_the_columns_of_the_first_page():
    assert {c.id for c in COLUMNS if "quick" in c.tags} == {
        "numpy-2.4.6", "torch-2.15.0", "jax-0.10.2", "mlx-0.32.4", "candle-0.11.0", "candle-0.11.1", "burn-0.20.1", "burn-0.21.0",
        "trainer-0.1.0", "tinygrad-0.14.0", "tensorflow-2.21.0", "paddle-3.3.1", "tokenizers-0.23.3",
    }  # fmt: skip


def test_every_column_has_its_lock():
    missing = [c.lock for c in COLUMNS if not (Project().locks / c.lock).exists()]
    assert missing == []


def test_locks_name_no_host_and_pin_every_package():
    for column in COLUMNS:
        text = (Project().locks / column.lock).read_text()
        if column.language == "python":
            assert "://" not in text
            assert "--hash=sha256:" in text
            assert column.requires[0].split(" ")[0] in text
        else:
            sources = {line for line in text.splitlines() if line.startswith("source")}
            assert all("crates.io-index" in s for s in sources)


def test_selecting():
    assert [c.id for c in pins.select(COLUMNS, ["candle-0.11.*"])] == ["candle-0.11.0", "candle-0.11.1"]
    assert len(pins.select(COLUMNS, ["newest"])) == 11
    with pytest.raises(BadInput, match="no column 'keras'"):
        pins.select(COLUMNS, ["keras"])


def test_every_column_is_in_the_main_job_or_in_history():
    assert {c.id for c in COLUMNS if ("quick" in c.tags) == ("history" in c.tags)} == set()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[torch\n", "TOML"),
        ('[torch]\nlanguage = "python"\n', "table of versions"),
        ('[torch]\nlanguage = "cobol"\n[torch.versions]\n"1" = {}\n', "language"),
        ('[torch]\nlanguage = "python"\n[torch.versions]\n"1.0" = { pyhton = "3.11" }\n', "pyhton"),
        ('[torch]\nlanguage = "python"\n[torch.versions]\n"newest" = {}\n', "a release such as"),
    ],
)
def test_a_bad_pins_file_is_refused_with_its_place(tmp_path, text, words):
    file = tmp_path / "pins.toml"
    file.write_text(text)
    with pytest.raises(BadInput) as refused:
        pins.read(file)
    assert words in str(refused.value)


def test_a_local_column_stands_on_the_newest_pin(tmp_path):
    column = pins.local_column(COLUMNS, f"candle={tmp_path}")
    assert (column.id, column.lock, column.local) == ("candle-local", "candle-0.11.1.Cargo.lock", str(tmp_path))
    with pytest.raises(BadInput, match="nothing there"):
        pins.local_column(COLUMNS, "candle=/nowhere")
    with pytest.raises(BadInput, match="FRAMEWORK=PATH"):
        pins.local_column(COLUMNS, "../candle")
