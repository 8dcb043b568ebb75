"""Causality and reach: leaks of every size are found, windows are measured, and a probe that saw nothing is no pass."""

import arbiter_zoo as zoo
import pytest
import torch
from arbiter_models import D, T, Transformer, V
from arbiter_trainer import shown
from torch import nn

import gradarbiter
from gradarbiter.subject import Expect
from trainer import data, device, faults
from trainer.faults.twin import Twin

pytestmark = pytest.mark.arbiter
CHECK = "causality"


def asked(model, *, rows=4, loss_fn=None, **expect):
    torch.manual_seed(3)
    ids = torch.randint(0, V, (rows, T))
    loss_fn = loss_fn or (lambda m, ids: m(ids).square().mean())
    return gradarbiter.check(model, ids, loss_fn, expect=Expect(**{"causal": True, **expect}), only=[CHECK])[CHECK]


class Windowed(nn.Module):
    """Each output is made of the embeddings of the last few tokens; ``sees``: distances back, negative ones are later tokens."""

    def __init__(self, sees, share=1.0):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.head = nn.Embedding(V, D), nn.Linear(D, V)
        self.sees, self.share = sees, share

    def forward(self, ids):
        x = self.embedding(ids)
        for back in self.sees:
            moved = torch.zeros_like(x)
            if back >= 0:
                moved[:, back:] = x[:, : x.shape[1] - back]
            else:
                moved[:, :back] = x[:, -back:]
            x = x + (self.share if back < 0 else 1.0) * moved
        return self.head(x)


@pytest.mark.parametrize("share", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("ahead", [1, 2, 10])
def test_a_leak_of_any_size_is_found(share, ahead):
    """One token ahead and many: the positions before the last and before the middle see them."""
    found = asked(Windowed([1, -ahead], share))
    assert found.status == "fail"
    (finding,) = found.findings
    assert finding.kind == "leak"
    assert finding.numbers["position"] < finding.numbers["sees"] <= finding.numbers["position"] + ahead


def test_a_leak_below_the_rounding_of_bfloat16_is_found_in_float64():
    assert asked(Windowed([1, -1], 1e-2).bfloat16()).status == "fail"
    assert asked(Windowed([1]).bfloat16()).status == "ok"


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_any_number_of_rows_does(rows):
    assert asked(Windowed([1, -1]), rows=rows).status == "fail"
    assert asked(Windowed([1]), rows=rows).status == "ok"


def test_an_encoder_is_accused_and_a_decoder_not():
    torch.manual_seed(0)
    assert asked(Transformer("learned", causal=False)).status == "fail"
    assert asked(Transformer("learned")).status == "ok"


def test_rows_that_mix_are_no_later_tokens():
    """Every row sees the mean over rows, each position its own: that is for batch_independence."""
    model = Windowed([1])
    forward = model.forward
    model.forward = lambda ids: (out := forward(ids)) + out.mean(0, keepdim=True)
    assert asked(model).status == "ok"


@pytest.mark.parametrize(
    ("declared", "status"),
    [(None, "ok"), (6, "ok"), (5, "fail"), (7, "fail"), (3, "fail"), (1, "fail")],
)
def test_the_reach_is_measured(declared, status):
    found = asked(Windowed([1, 1, 3]), reach=declared)
    assert found.status == status
    assert all(finding.numbers["measured"] == 6 for finding in found.findings)
    assert found.findings or declared == 6


def test_an_influence_that_fades_is_not_taken_for_its_end():
    """A leaky sum forgets by a factor of 4 a token: its reach is unlimited, and after 12 tokens nothing of it is left in float32."""
    model = Windowed([])
    forward = model.forward

    def leaky(ids):
        back = torch.arange(T)[:, None] - torch.arange(T)
        return torch.where(back >= 0, 0.25**back, 0.0).to(model.head.weight.dtype) @ forward(ids)

    model.forward = leaky
    found = asked(model, reach=T)
    assert found.status == "ok"
    assert "fades" in found.findings[0].text


def test_nothing_is_concluded_where_no_token_influences_another_position():
    found = asked(Windowed([]))
    assert found.status == "not asked"
    assert "no token changes the output of another position" in found.reason


def test_a_leak_behind_a_zero_initialised_branch_is_found():
    class Gated(nn.Module):
        def __init__(self, sees):
            super().__init__()
            self.window, self.out = Windowed(sees), nn.Linear(V, V)
            nn.init.zeros_(self.out.weight)

        def forward(self, ids):
            return self.window.head(self.window.embedding(ids)) + self.out(self.window(ids))

    assert asked(Gated([1, -1])).status == "fail"
    model = Gated([1])
    assert asked(model).status == "ok"
    assert not model.out.weight.any()


def test_a_head_that_is_zero_or_a_model_of_no_numbers_tells_nothing():
    model = Windowed([1])
    model.embedding.weight.data[:] = torch.nan
    found = asked(model)
    assert found.status == "not asked"
    assert "not a number" in found.reason


def test_whether_it_is_asked():
    assert "declared as not causal" in asked(Windowed([1, -1]), causal=False).reason
    assert "say causal=True" in asked(Windowed([1, -1]), causal=None).reason

    def trains_the_next(m, ids):
        return nn.functional.cross_entropy(m(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    assert asked(Windowed([1, -1]), causal=None, loss_fn=trains_the_next).status == "fail"
    assert asked(Windowed([1]), causal=None, loss_fn=trains_the_next).status == "ok"


@pytest.mark.parametrize(("reach", "status"), [(11, "ok"), (10, "fail"), (13, "fail")])
def test_a_window_of_a_transformers_model(reach, status):
    given = zoo.hf_mistral_window(0) | {"expect": Expect(causal=True, reach=reach)}
    assert gradarbiter.check(**given, only=[CHECK])[CHECK].status == status


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(None, None), ("causal_leak", "leak"), ("layout_mismatch", "leak"), ("window_off_by_one", "reach"), ("window_ignored", "reach")],
)
@pytest.mark.parametrize("options", [{}, {"head": "tied", "layers": 3, "length": 24}])
def test_the_trainers_faults(fault, kind, options, folder):
    run = Twin(folder=folder, options=options)
    with device.entered(run.config) as place:
        if fault is None:
            found = gradarbiter.check(**shown(run.begin(place)), only=[CHECK])[CHECK]
        else:
            with faults.plant(fault):
                found = gradarbiter.check(**shown(run.begin(place)), only=[CHECK])[CHECK]
    assert [finding.kind for finding in found.accusations] == ([kind] if kind else []), found
