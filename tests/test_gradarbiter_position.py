"""Position sensitivity: models without positions are accused, those with are not, and what cannot be told is said."""

from typing import ClassVar

import arbiter_zoo as zoo
import pytest
import torch
from arbiter_models import Recurrent, Transformer
from arbiter_trainer import shown

import gradarbiter
from gradarbiter.subject import Expect
from trainer import data, device, faults
from trainer.faults.twin import Twin

pytestmark = pytest.mark.arbiter
CHECK = "position_sensitivity"


def asked(model, *, rows=4, expect=None, ids=None):
    torch.manual_seed(7)
    ids = torch.randint(0, 61, (rows, 20)) if ids is None else ids
    return gradarbiter.check(model, ids, lambda m, ids: m(ids).square().mean(), expect=expect, only=[CHECK])[CHECK]


def made(seed, *given, **options):
    torch.manual_seed(seed)
    return Transformer(*given, **options)


def size(result, key):
    return result.findings[0].numbers[key]


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("std", [None, 0.02])
def test_a_model_without_positions_is_accused(layers, causal, std):
    for seed in range(2):
        found = asked(made(seed, "none", layers=layers, causal=causal, std=std))
        assert found.status == "fail", found
        assert size(found, "R") < 0.003, found


@pytest.mark.parametrize("positions", ["learned", "zero", "sinusoidal", "alibi", "rope"])
@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("std", [None, 0.02])
def test_a_model_with_positions_is_not_accused(positions, layers, norm_first, std):
    for seed in range(2):
        found = asked(made(seed, positions, layers=layers, norm_first=norm_first, std=std))
        assert found.status == ("ok" if norm_first or positions not in ("alibi", "rope") else "not asked"), found


def test_norms_after_the_branches_leave_a_causal_model_without_positions_untold_and_an_encoder_accused():
    assert asked(made(0, "none", norm_first=False)).status == "not asked"
    found = asked(made(0, "none", norm_first=False, causal=False))
    assert found.status == "fail"
    assert "nothing but rounding" in found.findings[0].text


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_any_number_of_rows_does(rows):
    assert asked(made(0, "none"), rows=rows).status == "fail"
    assert asked(made(0, "rope"), rows=rows).status == "ok"


def test_bfloat16_is_asked_in_float64():
    assert asked(made(0, "none").bfloat16()).status == "fail"
    assert asked(made(0, "rope").bfloat16()).status == "ok"


class Told(Transformer):
    """It notes the lengths of the rows that it is given, and may take one alone."""

    lengths: ClassVar = []  # of copies too

    def __init__(self, *given, only=None, **options):
        super().__init__(*given, **options)
        self.only = only

    def forward(self, ids, mask):
        assert mask.shape[-1] == ids.shape[1]
        if self.only not in (None, ids.shape[1]):
            raise RuntimeError("rows of another length")
        self.lengths.append(ids.shape)
        return super().forward(ids)


@pytest.mark.parametrize("positions", ["none", "alibi", "rope"])
@pytest.mark.parametrize(
    ("only", "mask", "wanted"),
    [(None, (2, 100), 64), (100, (2, 100), 100), (None, (100,), 100), (None, (2, 100, 100), 100)],
    ids=["shorter", "one length", "a mask without rows", "a mask of pairs"],
)
def test_of_long_rows_a_float64_copy_is_asked_the_last_positions_where_it_takes_them(positions, only, mask, wanted):
    torch.manual_seed(0)
    model, batch = Told(positions, only=only).bfloat16(), {"ids": torch.randint(0, 61, (2, 100)), "mask": torch.ones(mask)}
    Told.lengths.clear()
    found = gradarbiter.check(model, batch, lambda m, b: m(**b).float().square().mean(), only=[CHECK], tokens="ids")[CHECK]
    assert found.status == ("fail" if positions == "none" else "ok"), found
    assert Told.lengths[-1] == (1, wanted)


def test_a_recurrent_model_has_its_order_from_its_states():
    torch.manual_seed(0)
    assert asked(Recurrent()).status == "ok"


@pytest.mark.parametrize("name", ["hf_llama", "hf_neox", "hf_gpt2_tied", "hf_opt", "hf_mistral_window", "hf_qwen3", "left_padded"])
def test_transformers_models_have_positions(name):
    for seed in range(2):
        assert gradarbiter.check(**getattr(zoo, name)(seed), only=[CHECK])[CHECK].status == "ok"


def test_a_norm_on_the_embeddings_or_a_soft_cap_leave_it_untold_at_worst():
    for seed in range(6):
        for name in ("hf_bloom_alibi", "hf_gemma2_softcap"):
            assert gradarbiter.check(**getattr(zoo, name)(seed), only=[CHECK])[CHECK].status in ("ok", "not asked")


def test_it_is_not_asked_where_it_could_not_answer():
    reasons = {
        "declared that the order": asked(made(0, "none"), expect=Expect(position=False)),
        "depends on 3 tokens at most": asked(made(0, "none"), expect=Expect(reach=3)),
        "1 different tokens": asked(made(0, "none"), ids=torch.zeros(4, 20, dtype=torch.long)),
        "3 tokens at most: at least": asked(made(0, "none"), ids=torch.arange(12).view(4, 3)),
    }
    for reason, found in reasons.items():
        assert found.status == "not asked"
        assert reason in found.reason


def test_outputs_that_are_no_numbers_tell_nothing():
    model = made(0, "rope")
    model.embedding.weight.data[:] = torch.nan
    found = asked(model)
    assert found.status == "not asked"
    assert "not a number" in found.reason


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (None, "ok"),
        ("rope_axis", "fail"),
        ("rope_missing", "fail"),
        # positions are there, and wrong: what a second implementation is for
        ("rope_half", "ok"),
        ("rope_offset", "ok"),
        ("rope_restarts", "ok"),
        ("rope_interleaved", "ok"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"layers": 4}, {"head": "tied", "scales": False}])
def test_the_trainers_faults(fault, status, options, folder):
    run = Twin(folder=folder, options=options)
    with device.entered(run.config) as place:
        if fault is None:
            found = gradarbiter.check(**shown(run.begin(place)), only=[CHECK])[CHECK]
        else:
            with faults.plant(fault):
                found = gradarbiter.check(**shown(run.begin(place)), only=[CHECK])[CHECK]
    assert found.status == status, found
