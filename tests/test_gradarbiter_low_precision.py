"""low_precision names the module that is worse than its type explains, and accuses no healthy model."""

import contextlib

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gradarbiter.runs.low_precision import low_precision
from trainer import data, device, faults, step
from trainer.faults.twin import Twin

pytestmark = pytest.mark.arbiter
VOCAB = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


def asked_of_trainer(folder, **options):
    twin = Twin(folder=folder, options={"steps": 20, "length": 64, **options})
    with device.entered(twin.config) as place:
        run = twin.begin(place)
        with torch.no_grad():  # as after some training: a norm's weights are not all 1
            for p in run.model.parameters():
                if p.ndim < 2:
                    p.mul_(1 + 0.1 * torch.randn(p.shape))

        def loss_fn(model, batch):
            with device.arithmetic(run.config):
                nll, count = model.loss(batch)
            return nll / count

        return low_precision(
            run.model, step.next_batch(run, 0), loss_fn, run.optimizers, step=lambda: step.one_step(run), say=lambda _: None
        )


@pytest.mark.parametrize("options", [{}, {"dtype": "bfloat16"}, {"dropout": 0.2}, {"optimizer": "adamw"}, {"head": "tied"}], ids=str)
def test_healthy_trainer(folder, options):
    result = asked_of_trainer(folder, **options)
    assert result.status == "ok", result.findings


@pytest.mark.parametrize(
    ("fault", "kind", "where"),
    [
        ("bf16_sums", "hidden cast", "loss_fn"),
        ("bf16_logits", "few bits", "the model"),
        ("bf16_attention", "hidden cast", "layers.0.attention"),
        ("bf16_norm", "hidden cast", "layers.0.attention_norm"),
        ("eps_underflow", "zero embedding", "layers.0.attention_norm"),
        ("bf16_gradient_sums", "hidden cast", "head.weight"),
        ("half_gradients", "hidden cast", "head.weight"),
        ("bf16_stall", "few bits", "embedding.weight"),
        ("bf16_second_moment", "few bits", "embedding.weight"),
    ],
)
def test_trainer_fault(folder, fault, kind, where):
    with faults.plant(fault):
        result = asked_of_trainer(folder)
    assert result.status == "fail", result
    assert (kind, where) in [(f.kind, f.parameter) for f in result.accusations], result.accusations


def test_what_it_cannot_see(folder):
    """Angles that were rounded before cosine and sine are taken are a table like any other; gradient_parity has to know better ones."""
    with faults.plant("bf16_angles"):
        assert asked_of_trainer(folder).status == "ok"


class Block(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm, self.up, self.down = norm, nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Small(nn.Module):
    def __init__(self, norm=None, blocks=2, *, checkpointed=False, cut=0):
        super().__init__()
        self.cut = cut
        torch.manual_seed(0)
        self.embedding, self.head = nn.Embedding(VOCAB, 16), nn.Linear(16, VOCAB)
        self.blocks = nn.ModuleList(Block(norm or nn.LayerNorm(16)) for _ in range(blocks))
        self.checkpointed = checkpointed

    def forward(self, ids):
        x = self.embedding(ids)[:, : ids.shape[1] - self.cut]
        for block in self.blocks:
            x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.head(x)


def ids():
    return torch.randint(0, VOCAB, (4, 12), generator=torch.Generator().manual_seed(1))


def cross_entropy(model, batch):
    return F.cross_entropy(model(batch)[:, :-1].flatten(0, 1).float(), batch[:, 1:].flatten())


def asked(model, loss_fn=cross_entropy, batch=None, **options):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return low_precision(model, ids() if batch is None else batch, loss_fn, optimizer, say=lambda _: None, **options)


def in_autocast(model, batch):
    with torch.autocast("cpu", torch.bfloat16):
        return cross_entropy(model, batch)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(8 * 36, 5))

    def forward(self, x):
        return self.layers(x)


class Mixture(nn.Module):
    """One expert of three is never chosen; branches begin at zero (as adaLN-zero's do)."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.router, self.head = nn.Embedding(VOCAB, 16), nn.Linear(16, 2), nn.Linear(16, VOCAB)
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))
        self.gate = nn.Parameter(torch.zeros(16))

    def forward(self, ids):
        x = self.embedding(ids)
        chosen = F.one_hot(self.router(x).argmax(-1), 3).to(x.dtype)
        out = torch.stack([expert(x) for expert in self.experts], -1) @ chosen[..., None]
        return self.head(x + self.gate * out[..., 0])


def rounded_weights(cut=0):
    """Loaded from a bfloat16 file into float32: every weight has 8 bits, and is meant to."""
    model = Small(cut=cut)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.bfloat16())
    return model


def llama(dtype):
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1
    )
    return LlamaForCausalLM(config).to(dtype)


HEALTHY = {
    "plain": lambda: asked(Small()),
    "bfloat16": lambda: asked(Small().bfloat16()),
    "float64": lambda: asked(Small().double()),
    "autocast": lambda: asked(Small(), in_autocast),
    "checkpointed": lambda: asked(Small(checkpointed=True)),
    "weights of bfloat16": lambda: asked(rounded_weights()),
    "a part of weights of bfloat16": lambda: asked(
        rounded_weights(cut=1), lambda m, x: F.cross_entropy(m(x).flatten(0, 1), x[:, 1:].flatten())
    ),
    "mixture": lambda: asked(Mixture()),
    "frozen": lambda: asked(frozen()),
    "convolutions": lambda: asked(Convolutions(), lambda m, x: F.cross_entropy(m(x), torch.tensor([0, 1, 2, 3])), torch.rand(4, 3, 8, 8)),
    "bytes of an image": lambda: asked(
        Convolutions(), lambda m, x: F.cross_entropy(m(x), torch.tensor([0, 1, 2, 3])), torch.randint(0, 256, (4, 3, 8, 8)).float()
    ),
    "llama": lambda: asked(llama(torch.float32), hf_loss, {"input_ids": ids(), "labels": ids()}),
    "llama bfloat16": lambda: asked(llama(torch.bfloat16), hf_loss, {"input_ids": ids(), "labels": ids()}),
    "torch's transformer": lambda: asked(Stack()),
}


def hf_loss(model, batch):
    return model(**batch).loss


def frozen():
    model = Small()
    model.blocks[0].requires_grad_(requires_grad=False)
    return model


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.embedding, self.head = nn.Embedding(VOCAB, 16), nn.Linear(16, VOCAB)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids):
        return self.head(self.layers(self.embedding(ids)))


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy(name):
    result = HEALTHY[name]()
    assert result.status == "ok", (result.reason, result.accusations)


def test_wrapped_by_ddp(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        result = asked(nn.parallel.DistributedDataParallel(Small()))
        assert result.status in ("ok", "not asked"), (result.reason, result.accusations)
        assert not result.accusations
    finally:
        torch.distributed.destroy_process_group()


class Cancelling(nn.Module):
    """Variance as E[x^2] - E[x]^2, of values far from 0."""

    def forward(self, x):
        x = x + 1000
        mean = x.mean(-1, keepdim=True)
        return (x - mean) * (x.square().mean(-1, keepdim=True) - mean.square() + 1e-5).rsqrt()


class Overflowing(nn.Module):
    """A softmax without its maximum subtracted."""

    def forward(self, x):
        e = (40 * x.abs() + 60).exp()
        return e / e.sum(-1, keepdim=True)


@pytest.mark.parametrize(("norm", "kind"), [(Cancelling(), "own error"), (Overflowing(), "not finite")])
def test_arithmetic_that_float64_would_save(norm, kind):
    result = asked(Small(norm))
    assert (kind, "blocks.0.norm") in [(f.kind, f.parameter) for f in result.accusations], result


class Hidden(nn.Module):
    def forward(self, x):
        return torch.tanh(x.bfloat16()).to(x.dtype)


def test_a_hidden_downcast_is_declared_or_accused():
    result = asked(Small(Hidden()))
    assert {f.parameter for f in result.accusations} == {"blocks.0.norm"}, result
    assert asked(Small(Hidden()), declared=["blocks.*.norm"]).status == "ok"


def test_not_asked_without_torch():
    with contextlib.suppress(ImportError):
        result = low_precision(object(), None, None, say=lambda _: None)
        assert result.status in ("error", "not asked")


def test_the_model_is_left_as_it_was():
    model = Small()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    asked(model)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
