"""muon_dimensionality and bf16_divergence: the references against independent formulas, the tolerances against the defects they are for."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from harness.case import as_dtype
from harness.contract import load, validate
from harness.verdict import judge

CASES = Path(__file__).parents[1] / "cases"
MUON = {s.item: s for s in load(CASES / "muon_dimensionality")}
BF16 = {s.item: s for s in load(CASES / "bf16_divergence")}
ROWS = [*MUON.values(), *BF16.values()]
bfloat16 = ml_dtypes.bfloat16


def run_numpy(spec, dtype):
    module_spec = importlib.util.spec_from_file_location("run_numpy", spec.folder / "run_numpy.py")
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return getattr(module, spec.item)(**as_dtype(spec.tensors, dtype))


def polar_by_singular_values(g):
    """Five quintic steps on the singular values alone."""
    u, s, vt = np.linalg.svd(g, full_matrices=False)
    s = s / np.linalg.norm(s)
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return (u * s) @ vt


def rounded(x):
    return x.astype(bfloat16).astype(np.float64)


def sequential(terms):
    total = np.zeros(terms.shape[1:], bfloat16)
    for term in terms.astype(bfloat16):
        total = total + term
    return total


def pairwise(terms):
    x = terms.astype(bfloat16)
    while len(x) > 1:
        if len(x) % 2:
            x = np.concatenate([x, np.zeros_like(x[:1])])
        x = x[0::2] + x[1::2]
    return x[0]


@pytest.mark.parametrize("spec", ROWS, ids=lambda s: s.row)
def test_a_row_can_fail(spec):
    validate(spec)


@pytest.mark.parametrize(("spec", "dtype"), [(s, d) for s in ROWS for d in s.tol])
def test_numpy_agrees(spec, dtype):
    verdict = judge(spec, dtype, run_numpy(spec, dtype), "numpy")
    assert verdict.status == "ok", verdict.message


@pytest.mark.parametrize("item", MUON)
def test_muon_by_singular_values(item):
    g, got = MUON[item].tensors["grad"], MUON[item].want["update"]
    if item == "stack":
        want = np.stack([-0.02 * np.sqrt(8 / 4) * polar_by_singular_values(m) for m in g])
    else:
        scale = {"linear_wide": 2.0, "linear_tall": 1.0, "kernel": 1.0, "embedding": 1.0, "vector": 4.0}[item]
        want = -0.02 * scale * polar_by_singular_values(g.reshape(len(g), -1)).reshape(g.shape)
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-16)


@pytest.mark.parametrize("item", MUON)
def test_muon_gradients_are_well_conditioned(item):
    g = MUON[item].tensors["grad"]
    for matrix in g if item == "stack" else [g.reshape(len(g), -1)]:
        s = np.linalg.svd(matrix, compute_uv=False)
        assert s[0] < 10 * s[-1]


@pytest.mark.parametrize("item", ["linear_wide", "linear_tall", "embedding"])
def test_muon_allows_bfloat16_steps(item):
    g = MUON[item].tensors["grad"]
    x = rounded(g if len(g) <= len(g.T) else g.T)
    x = rounded(x / np.linalg.norm(x))
    for _ in range(5):
        gram = rounded(x @ x.T)
        x = rounded(3.4445 * x + rounded(-4.7750 * gram + 2.0315 * gram @ gram) @ x)
    x = x if len(g) <= len(g.T) else x.T
    scale = 2.0 if item == "linear_wide" else 1.0
    assert judge(MUON[item], "float32", {"update": -0.02 * scale * x}, "").status == "ok"


@pytest.mark.parametrize(
    ("item", "wrong"),
    [
        ("linear_wide", lambda g, u: u / 2),  # rows / columns of a weight stored [in, out]
        ("linear_tall", lambda g, u: u * 2),
        ("embedding", lambda g, u: u * 2),
        ("kernel", lambda g, u: u * np.sqrt(5 / 2)),  # kw / in of a kernel stored [out, kh, kw, in]
        ("kernel", lambda g, u: -0.02 * polar_by_singular_values(g.reshape(12, 25)).reshape(g.shape)),
        ("stack", lambda g, u: -0.02 * np.sqrt(2) * polar_by_singular_values(g.reshape(3, 32)).reshape(g.shape)),
        ("vector", lambda g, u: -0.02 * g),
        ("vector", lambda g, u: -0.02 * 0.0975 * g),
        ("vector", lambda g, u: u / 4),  # a row of one output
    ],
)
def test_muon_objects(item, wrong):
    spec = MUON[item]
    answer = {"update": wrong(spec.tensors["grad"], spec.want["update"])}
    assert judge(spec, "float32", answer, "").status == "silent"
    assert judge(spec, "float32", answer, "jax").status == "silent"  # and no documented choice covers it


def test_first_adamw_step_by_its_recurrence():
    g = MUON["vector"].tensors["grad"]
    m, v = 0.1 * g, 0.001 * g**2
    ahead = 0.9 * m / (1 - 0.9**2) + 0.1 * g / (1 - 0.9)
    want = -0.02 * ahead / (np.sqrt(v / (1 - 0.999)) + 1e-8)
    for item in ("vector", "stack", "kernel"):
        assert judge(MUON[item], "float32", MUON[item].documented["jax"].reference(**MUON[item].tensors), "jax").status == "differs"
    np.testing.assert_allclose(MUON["vector"].documented["jax"].reference(g)["update"], want, rtol=1e-6)


def test_cross_entropy_by_central_differences():
    t = BF16["cross_entropy"].tensors
    want = BF16["cross_entropy"].want
    rng, step = np.random.default_rng(0), 1e-3
    for row, name in enumerate(("uniform", "random")):
        for column in [t["target"][row], t["logits"][row].argmax(), *rng.integers(0, 32000, 3)]:
            losses = []
            for sign in (1, -1):
                x = t["logits"].copy()
                x[row, column] += sign * step
                losses.append(np.log(np.exp(x[row]).sum()) - x[row, t["target"][row]])
            assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(want[f"dlogits_{name}"][0, column], rel=1e-5)
    assert want["loss_uniform"] == pytest.approx(np.log(32000))


def test_summed_gradients_by_central_differences():
    dy = BF16["bias_grad"].tensors["dy"]
    ids, de = BF16["embedding_grad"].tensors.values()
    bias = lambda b: np.sum((0.5 + b) * dy)  # noqa: E731
    embedded = lambda table: np.sum(table[ids] * de)  # noqa: E731
    for function, at, want in [(bias, np.zeros(4), BF16["bias_grad"].want), (embedded, np.zeros((8, 4)), BF16["embedding_grad"].want)]:
        got = np.zeros_like(at)
        for place in np.ndindex(at.shape):
            up = at.copy()
            up[place] = 0.5
            got[place] = function(up) - function(-up)
        np.testing.assert_allclose(got, np.concatenate([want["ones"], want["random"]], axis=-1), rtol=1e-12)


def test_logits_are_within_the_sizes_their_tolerance_counts():
    x = BF16["cross_entropy"].tensors["logits"]
    x = x - x.max(1, keepdims=True)
    log_total = np.log(np.exp(x).sum(1))
    assert log_total.max() < 10.4
    assert (log_total - x.min(1)).max() < 15
    assert np.array_equal(rounded(x), x)


def test_sums_softmax_and_descent_by_loops():
    t = BF16["sum"].tensors["random"]
    assert BF16["sum"].want["random"].tolist() == [sum(row) for row in t.tolist()]
    assert BF16["mean"].want["ones"].tolist() == [1.0, 1.0]
    x = BF16["softmax"].tensors["logits"][1]
    np.testing.assert_allclose(BF16["softmax"].want["random"][0, :9], [1 / np.exp(x - x[i]).sum() for i in range(9)], rtol=1e-12)
    w, g = BF16["update_stall"].tensors.values()
    for _ in range(100):
        w = w - g / 1024
    np.testing.assert_allclose(np.concatenate(list(BF16["update_stall"].want.values())), w, rtol=1e-13, atol=1e-15)
    assert BF16["update_stall"].want["ones"][0, 0] == 1 - 100 / 1024


def answers(item, total):
    """The item's answer in bfloat16 where every sum is taken by ``total`` over its first axis."""
    t = BF16[item].tensors
    if item in ("sum", "mean"):
        return {k: total(x.T) * bfloat16(1 / 4096 if item == "mean" else 1) for k, x in t.items()}
    if item == "bias_grad":
        return dict(zip(("ones", "random"), np.split(total(t["dy"]), 2), strict=True))
    if item == "embedding_grad":
        table = np.stack([total(t["dy"][t["ids"] == token]) for token in range(8)])
        return dict(zip(("ones", "random"), np.split(table, 2, axis=1), strict=True))
    if item == "cumsum":
        return {k: np.stack([total(x[:, :n].T) for n in range(1, x.shape[1] + 1)], axis=1) for k, x in t.items()}
    if item == "clip_norm":
        return {k: rounded(g / np.float32(total(rounded(g * g))) ** 0.5) for k, g in t.items()}
    x = t["logits"].astype(bfloat16)
    x = x - x.max(1, keepdims=True)
    s = total(np.exp(x).T)[:, None]
    if item == "softmax":
        y = np.exp(x) / s
        return {"uniform": y[:1], "random": y[1:]}
    log_p = x - np.log(s)
    rows = np.arange(2)
    loss, d = -log_p[rows, t["target"]], np.exp(log_p)
    d[rows, t["target"]] -= bfloat16(1)
    return {"loss_uniform": loss[:1], "loss_random": loss[1:], "dlogits_uniform": d[:1], "dlogits_random": d[1:]}


@pytest.mark.parametrize("item", [i for i in BF16 if i != "update_stall"])
def test_a_pairwise_bfloat16_sum_is_allowed_and_a_sequential_one_is_not(item):
    assert judge(BF16[item], "bfloat16", answers(item, pairwise), "").status == "ok"
    verdict = judge(BF16[item], "bfloat16", answers(item, sequential), "")
    assert all(not f.holds for f in verdict.findings), [f.check for f in verdict.findings if f.holds]  # the realistic twin too


def test_a_stalled_update_is_not_allowed():
    w, g = (x.astype(bfloat16) for x in BF16["update_stall"].tensors.values())
    start = w
    for _ in range(100):
        w = w - g * bfloat16(2**-10)
    assert np.array_equal(w[0], start[0])
    verdict = judge(BF16["update_stall"], "bfloat16", {"ones": w[:1], "random": w[1:]}, "")
    assert all(not f.holds for f in verdict.findings)
