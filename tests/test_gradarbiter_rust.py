"""candle and Burn through a safetensors file: what has no gradient is named, what is composed agrees with NumPy, and a resume is exact or is not.

The crates are those of docs/rust; they are built once, into .nox/target, where the harness's columns have most of what they need.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from gradarbiter.__main__ import main
from gradarbiter.resume_processes import exact_resume_of_command

pytestmark = [pytest.mark.arbiter, pytest.mark.slow]

ROOT = Path(__file__).parents[1]
TARGET = ROOT / ".nox" / "target"
V, D, N, EPSILON = 13, 8, 24, 1e-5  # docs/rust/tiny.rs
NAMES = {"candle": ("embedding.weight", "norm.weight", "head.weight"), "burn": ("embedding.weight", "norm.gamma", "head.weight")}


@pytest.fixture(scope="module", params=NAMES)
def crate(request):
    if shutil.which("cargo") is None:
        pytest.skip("no cargo")
    argv = ["cargo", "build", "--release", "--locked", "--quiet"]
    built = subprocess.run(
        argv,
        cwd=ROOT / "docs" / "rust" / request.param,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-2000:]
    assert not built.stderr, built.stderr  # no warning either
    return request.param


def run(crate, *arguments):
    argv = [str(TARGET / "release" / f"gradarbiter-{crate}"), *map(str, arguments)]
    return subprocess.run(argv, capture_output=True, text=True, check=True)


def reference(weights, crate, step=0):
    """The gradients of the mean cross-entropy, in float64. Shapes: N tokens, D width, V vocabulary."""
    table, norm, head = (weights[name].astype(np.float64) for name in NAMES[crate])
    matrix = head.T if crate == "candle" else head  # candle keeps (out, in)
    ids = (7 * np.arange(N) + 3 * step) % (V - 2)
    targets = (5 * ids + 1) % (V - 2)
    x_ND = table[ids]
    r_N1 = 1 / np.sqrt((x_ND**2).mean(-1, keepdims=True) + EPSILON)
    n_ND = x_ND * r_N1
    logits_NV = n_ND * norm @ matrix
    p_NV = np.exp(logits_NV - logits_NV.max(-1, keepdims=True))
    p_NV /= p_NV.sum(-1, keepdims=True)
    d_NV = (p_NV - np.eye(V)[targets]) / N
    d_matrix, dy_ND = (n_ND * norm).T @ d_NV, d_NV @ matrix.T
    dn_ND = dy_ND * norm
    dx_ND = r_N1 * (dn_ND - n_ND * (dn_ND * n_ND).mean(-1, keepdims=True))
    d_table = np.zeros_like(table)
    np.add.at(d_table, ids, dx_ND)
    found = (d_table, (dy_ND * n_ND).sum(0), d_matrix.T if crate == "candle" else d_matrix)
    return float(-np.log(p_NV[np.arange(N), targets]).mean()), dict(zip(NAMES[crate], map(np.ascontiguousarray, found), strict=True))


def compared(crate, tmp_path, *options):
    """Exit status of `gradarbiter compare` and what it accuses; the first loss; NumPy's."""
    run(crate, "--steps", 0, "--save", tmp_path / "start")
    loss, gradients = reference(load_file(tmp_path / "start" / "weights.safetensors"), crate)
    save_file(gradients, tmp_path / "reference.safetensors")
    run(crate, "--steps", 1, "--grads", tmp_path / "grads.safetensors", "--log", tmp_path / "log", *options)
    first = json.loads((tmp_path / "log").read_text())["loss"]
    # 16 sums of at most 24 float32 terms: the same in the test as on the command line.
    argv = ["compare", str(tmp_path / "grads.safetensors"), str(tmp_path / "reference.safetensors"), "--terms", str(N)]
    status = main([*argv, "--json", str(tmp_path / "report.json")])
    findings = json.loads((tmp_path / "report.json").read_text())["results"][0]["findings"]
    return status, {f["parameter"]: f["kind"] for f in findings if f["accuses"]}, first, loss


def test_the_composed_norm_agrees_with_numpy(crate, tmp_path):
    status, accused, first, loss = compared(crate, tmp_path)
    assert first == pytest.approx(loss, rel=1e-6)
    assert (status, accused) == (0, {})


def test_the_norm_without_a_backward_freezes_what_is_below(crate, tmp_path):
    status, accused, first, loss = compared(crate, tmp_path, "--fused")
    assert first == pytest.approx(loss, rel=1e-6), "the value is right"
    table, norm, _ = NAMES[crate]
    assert (status, accused) == (1, {table: "missing", norm: "missing"})


def test_the_loss_falls_all_the_same_and_the_table_stays(crate, tmp_path):
    run(crate, "--steps", 0, "--save", tmp_path / "start")
    run(crate, "--steps", 30, "--fused", "--save", tmp_path / "end", "--log", tmp_path / "log")
    losses = [json.loads(line)["loss"] for line in (tmp_path / "log").read_text().splitlines()]
    assert losses[-1] < 0.5 * losses[0]
    before, after = (load_file(tmp_path / at / "weights.safetensors") for at in ("start", "end"))
    assert [name for name in NAMES[crate] if np.array_equal(before[name], after[name])] == list(NAMES[crate][:2])


def resumed(crate, *options):
    program = TARGET / "release" / f"gradarbiter-{crate}"
    command = " ".join([str(program), *options, "--steps {steps} --save {save} [--resume {resume}] --log {log}"])
    return exact_resume_of_command(command, say=lambda text: None)


def test_exact_resume(crate):
    result = resumed(crate, *(["--own-adamw"] if crate == "candle" else []))
    assert result.status == "ok", result


def test_candles_own_adamw_is_not_resumed_exactly(crate):
    if crate != "candle":
        pytest.skip("burn records its optimizer")
    result = resumed(crate)
    assert result.status == "fail"
    other = next(f for f in result.accusations if f.kind == "another loss")
    assert "the first loss after the resume is right to the bit" in other.text


def test_bad_options_are_refused(crate):
    done = subprocess.run([str(TARGET / "release" / f"gradarbiter-{crate}"), "--stpes", "3"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("found:   --stpes\nwanted:  ")


def test_the_documents_lines_are_the_crates(crate):
    """The ten lines in the document are the lines that were run."""
    source = (ROOT / "docs" / "rust" / crate / "src" / "main.rs").read_text().split("// [gradients]\n")[1]
    for document in ["docs/gradarbiter_rust.md", *(["README.md"] if crate == "candle" else [])]:
        assert source.strip() in (ROOT / document).read_text(), document
