"""What the benchmark measures: rivals of the shape they claim, the trainer's own step, and memory that is kept."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests import bench_trainer_models as models  # noqa: E402
from tests import bench_trainer_variants as variants  # noqa: E402
from trainer import speed  # noqa: E402
from trainer.config import tiny  # noqa: E402
from trainer.model import LM  # noqa: E402

pytestmark = pytest.mark.trainer
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def shape():
    return tiny(vocab_size=variants.VOCAB)


def test_llama_is_of_our_shape(shape):
    llama, ours = models.llama(shape), LM(shape)
    assert {name: p.shape for name, p in llama.named_parameters()} == {name: w.shape for name, w in ours.folded().items()}
    assert llama.config._attn_implementation == "sdpa"
    assert {p.dtype for p in llama.parameters()} == {torch.float32}
    extra = sum(p.numel() for name, p in ours.named_parameters() if ours.roles()[name] == "scale")
    assert sum(p.numel() for p in ours.parameters()) - extra == sum(p.numel() for p in llama.parameters()) == 9_440_640


def test_the_gpt2_is_of_nanogpts_shape_and_causal(shape):
    model, width = models.GPT2(shape), shape.width
    a_block = 12 * width**2 + 13 * width  # 3 + 1 + 4 + 4 squares; 3 + 1 + 4 + 1 biases and two norms
    assert sum(p.numel() for p in model.parameters()) == (4096 + 512) * width + 4 * a_block + 2 * width == 8_868_096
    small = models.GPT2(tiny(vocab_size=97, width=24, layers=2, length=12))
    tokens = torch.arange(12)[None] % 97
    changed = tokens.clone()
    changed[0, 8] = 50
    before, after = (small.hidden(t) for t in (tokens, changed))
    assert torch.equal(before[:, :8], after[:, :8])
    assert not torch.equal(before[:, 8:], after[:, 8:])
    small(tokens[:, :-1], tokens[:, 1:]).backward()
    assert all(p.grad.abs().sum() > 0 for p in small.parameters())


@pytest.mark.parametrize("name", ["ours", "ours_full", "nanogpt"])
def test_a_variant_says_what_the_figures_need(name, monkeypatch, shape):
    monkeypatch.setattr(variants, "STEPS", 2)
    monkeypatch.setattr(variants, "WARM", 1)
    found = variants.VARIANTS[name]()
    window = 512 if name == "ours_full" else 128
    assert found["useful_flop_per_token"] == speed.work(tiny(vocab_size=variants.VOCAB, window=window)).useful
    assert found["tokens_per_step"] == 512
    assert len(found["cpu_s"]) == 2
    assert min(found["cpu_s"]) > 0.001


def test_ours_is_the_trainers_own_step(monkeypatch):
    steps, one_step = [], variants.step.one_step

    def noted(run):
        steps.append((run.config.accumulate, run.config.optimizer, run.config.clip, run.config.dtype))
        return one_step(run)

    monkeypatch.setattr(variants.step, "one_step", noted)
    monkeypatch.setattr(variants, "LONG_STEPS", 1)
    monkeypatch.setattr(variants, "WARM", 1)
    found = variants.ours(accumulate=2, optimizer="muon")
    assert steps == [(1, "muon", 1.0, "bfloat16"), (2, "muon", 1.0, "bfloat16")]
    assert found["tokens_per_step"] == 1024


FAULTS = """
import resource, sys
from trainer import device
if sys.argv[1] == "keep":
    device.keep_memory()
import torch
def used():
    tensors = [torch.ones(1 << 22) for _ in range(4)]
for _ in range(3):
    used()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    used()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="not glibc")
def test_memory_is_kept_and_not_faulted_in_again():
    def faults(what):
        run = subprocess.run([sys.executable, "-c", FAULTS, what], cwd=ROOT, capture_output=True, text=True, check=True)
        return int(run.stdout)

    assert faults("keep") < 100 < faults("give back") / 10
