"""The optimizers: who gets which parameter, what Muon's update is, and how the rate moves."""

import itertools
import math

import pytest

torch = pytest.importorskip("torch")

from trainer import config, model, optim  # noqa: E402
from trainer.errors import Refused  # noqa: E402

pytestmark = pytest.mark.trainer


def made(**changes):
    torch.manual_seed(1)
    chosen = config.nano(vocab_size=300, **changes)
    return model.LM(chosen), chosen


@pytest.mark.parametrize("changes", [{}, {"head": "tied"}, {"optimizer": "adamw"}, {"scales": False}])
def test_the_split_is_a_partition_and_muon_has_hidden_matrices_only(changes):
    built, chosen = made(**changes)
    found = optim.optimizers(built, chosen)
    held = [p for optimizer in found.values() for group in optimizer.param_groups for p in group["params"]]
    assert sorted(map(id, held)) == sorted(map(id, built.parameters()))
    roles, split = built.roles(), optim.by_role(built, chosen)
    if "optimizer" in changes:
        assert list(found) == ["adamw"]
    else:
        assert {roles[name] for name in split["muon"]} == {"matrix"}
        assert {id(p) for p in split["muon"].values()} == {id(p) for p in found["muon"].param_groups[0]["params"]}
    assert {roles[name] for name in split["adamw"]} <= {"embedding", "head", "norm", "scale"}


@pytest.mark.parametrize("defect", ["lost", "twice", "foreign", "renamed"])
def test_a_split_that_is_no_partition_is_refused(defect):
    built, chosen = made()
    split = optim.by_role(built, chosen)
    if defect == "lost":
        split["adamw"].pop("norm.weight")
    elif defect == "twice":
        split["muon"]["embedding.weight"] = built.embedding.weight
    elif defect == "foreign":
        split["adamw"]["norm.weight"] = torch.nn.Parameter(built.norm.weight.detach().clone())
    else:
        split["adamw"]["norm"] = split["adamw"].pop("norm.weight")
    with pytest.raises(AssertionError, match=r"norm\.weight|embedding\.weight"):
        optim.assert_partition(built, split.values())


def test_decay_is_for_hidden_matrices():
    built, chosen = made(optimizer="adamw", weight_decay=0.5)
    groups = optim.optimizers(built, chosen)["adamw"].param_groups
    assert [group["weight_decay"] for group in groups] == [0.5, 0.0]
    assert {id(p) for p in groups[0]["params"]} == {id(p) for n, p in built.named_parameters() if built.roles()[n] == "matrix"}


@pytest.mark.parametrize("shape", [(32, 32), (48, 16), (16, 48), (64, 63)])
def test_orthogonal_keeps_the_singular_vectors_and_evens_the_values(shape):
    torch.manual_seed(3)
    g = torch.randn(*shape, dtype=torch.float64)
    got = optim.orthogonal(g[None])[0]
    u, s, v = torch.linalg.svd(g, full_matrices=False)
    inner = u.T @ got @ v.T
    off_diagonal = inner - inner.diag().diag()
    assert off_diagonal.abs().max() < 1e-10  # a polynomial in g g' times g has exactly g's singular vectors
    large = s > s.max() / 100  # five steps lift values of 1/100 into the band, and not all smaller ones
    assert inner.diag()[large].min() > 0.65
    assert inner.diag().max() < 1.25


def test_the_coefficients_map_a_singular_value_as_stated():
    a, b, c = optim.COEFFICIENTS
    assert (a, b, c) == (3.4445, -4.7750, 2.0315)
    s = 0.3  # one value alone is normalised to 1
    x = 1.0
    for _ in range(optim.STEPS):
        x = a * x + b * x**3 + c * x**5
    assert optim.orthogonal(torch.full((1, 1, 1), s, dtype=torch.float64)).item() == pytest.approx(x, rel=1e-6)


@pytest.mark.parametrize(("shape", "scale"), [((8, 8), 1.0), ((32, 8), 2.0), ((8, 32), 1.0)])
def test_a_muon_step_is_momentum_orthogonalised_scaled_and_decayed(shape, scale):
    torch.manual_seed(4)
    weight = torch.nn.Parameter(torch.randn(*shape, dtype=torch.float64))
    twin = torch.nn.Parameter(torch.randn(*shape, dtype=torch.float64))  # batched with the first
    muon = optim.Muon([weight, twin], lr=0.1, momentum=0.9, weight_decay=0.2)
    want, buffer = weight.detach().clone(), torch.zeros(shape, dtype=torch.float64)
    for _ in range(3):
        weight.grad, twin.grad = torch.randn(2, *shape, dtype=torch.float64).unbind(0)
        buffer = 0.9 * buffer + 0.1 * weight.grad
        direction = 0.1 * weight.grad + 0.9 * buffer
        want = want * (1 - 0.1 * 0.2) - 0.1 * scale * optim.orthogonal(direction[None])[0]
        muon.step()
        torch.testing.assert_close(weight.detach(), want, rtol=0, atol=1e-12)


def test_muon_refuses_what_is_no_matrix():
    for shape in [(3,), (2, 3, 4)]:
        with pytest.raises(Refused, match="a matrix"):
            optim.Muon([torch.nn.Parameter(torch.zeros(shape))], lr=0.1, momentum=0.9, weight_decay=0.0)


def test_a_gradient_of_zero_moves_nothing():
    weight = torch.nn.Parameter(torch.ones(4, 4))
    weight.grad = torch.zeros(4, 4)
    optim.Muon([weight], lr=0.1, momentum=0.9, weight_decay=0.0).step()
    assert (weight == 1).all()


def test_the_rate_rises_falls_and_ends_where_it_should():
    chosen = config.nano(steps=100, warmup=10, final=0.1)
    shares = [optim.factor(step, chosen) for step in range(100)]
    assert shares[0] == 0.1
    assert shares[9] == shares[10] == 1.0
    assert shares[-1] == pytest.approx(0.1)
    assert shares[55] == pytest.approx(0.1 + 0.9 * (1 + math.cos(math.pi * 45 / 89)) / 2)
    assert all(a >= b for a, b in itertools.pairwise(shares[10:]))
    linear = config.nano(steps=100, warmup=10, final=0.1, decay="linear")
    assert optim.factor(55, linear) == pytest.approx(0.1 + 0.9 * (1 - 45 / 89))
    assert optim.factor(99, config.nano(steps=100, warmup=0, decay="none")) == 1.0
    assert optim.factor(0, config.nano(steps=1, warmup=0)) == 1.0


def test_every_group_gets_its_share_of_its_own_peak():
    built, chosen = made(lr=0.5, muon_lr=0.25)
    found = optim.optimizers(built, chosen)
    for _ in range(2):  # of the peak, not of the rate before
        assert optim.set_rates(found, 0.5) == {"muon": 0.125, "adamw": 0.25}
    both = optim.optimizers(*made(lr=0.5, optimizer="adamw"))
    assert optim.set_rates(both, 0.5) == {"adamw": 0.25}
    assert [group["lr"] for group in both["adamw"].param_groups] == [0.25, 0.25]


def test_adamw_is_fused_and_has_the_settings_it_was_given():
    adamw = optim.optimizers(*made(beta1=0.8, beta2=0.98))["adamw"]
    for group in adamw.param_groups:
        assert (group["betas"], group["eps"], group["fused"], group["amsgrad"]) == ((0.8, 0.98), 1e-10, True, False)


def test_a_small_gradient_moves_its_weight_as_far_as_a_large_one():
    """What the small epsilon is for: with torch's 1e-8 a gradient of 1e-8 would move it half as far."""
    built, chosen = made(lr=0.01)
    adamw = optim.optimizers(built, chosen)["adamw"]
    before = built.norm.weight.detach().clone()
    for p in built.parameters():
        p.grad = torch.full_like(p, 1e-8)
    adamw.step()
    torch.testing.assert_close(before - built.norm.weight, torch.full_like(before, 0.01), rtol=0.02, atol=0)
