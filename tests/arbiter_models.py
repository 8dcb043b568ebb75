"""Small PyTorch models and losses for the zoo of healthy set-ups; careful to be plain: nothing in them knows that it is examined.

B sequences, T positions, D width, N heads, V vocabulary.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

T, D, N, V = 20, 32, 4, 61


class Low(nn.Module):
    """A frozen linear layer with a low-rank addition (LoRA), whose second factor starts at zero."""

    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(requires_grad=False)
        self.a = nn.Parameter(torch.randn(4, base.in_features) / math.sqrt(base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, 4))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b)


class Encoder(nn.Module):
    """torch's own encoder with sinusoidal positions, or learned ones in a plain parameter."""

    def __init__(self, *, learned, norm_first=False):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        angle = torch.arange(T)[:, None] * 100.0 ** (-torch.arange(0, D, 2) / D)
        if learned:
            self.position = nn.Parameter(0.02 * torch.randn(T, D))
        else:
            self.register_buffer("position", torch.cat([angle.sin(), angle.cos()], 1))
        layer = nn.TransformerEncoderLayer(D, N, 64, dropout=0.1, batch_first=True, norm_first=norm_first)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids):
        return self.layers(self.embedding(ids) + self.position[: ids.shape[1]])


class Classifier(nn.Module):
    """The mean of an encoder's states says one of 5 classes."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(D, 5)

    def forward(self, ids):
        return self.head(self.encoder(ids).mean(1))


class Bigram(nn.Module):
    """Logits of standard deviation ``loud``, of the last token alone."""

    def __init__(self, loud=0.3):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.head = nn.Embedding(V, D), nn.Linear(D, V)
        nn.init.normal_(self.head.weight, std=loud / D**0.5)

    def forward(self, ids):
        return self.head(self.embedding(ids.clamp_min(0)))


class Recurrent(nn.Module):
    """A language model of two LSTM layers."""

    def __init__(self, vocabulary=V):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, D)
        self.lstm = nn.LSTM(D, D, num_layers=2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(D, vocabulary)

    def states(self, ids):
        return self.lstm(self.embedding(ids))[0]

    def forward(self, ids):
        return self.head(self.states(ids))


class Experts(nn.Module):
    """Each token goes to its best expert; no token's best is the last one."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(D, 4)
        self.router.bias.data[3] = -100.0
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(D, 32), nn.GELU(), nn.Linear(32, D)) for _ in range(4))

    def forward(self, x_BTD):
        x, out = x_BTD.flatten(0, 1), torch.zeros_like(x_BTD.flatten(0, 1))
        share, chosen = self.router(x).softmax(-1).max(-1)
        for i, expert in enumerate(self.experts):
            (token,) = torch.where(chosen == i)
            out = out.index_add(0, token, share[token, None] * expert(x[token]))
        return out.view_as(x_BTD)


class Mixture(Recurrent):
    """The LSTM's states also go through a mixture of experts."""

    def __init__(self):
        super().__init__()
        self.experts = Experts()

    def forward(self, ids):
        x = self.states(ids)
        return self.head(x + self.experts(x))


class Conditioned(nn.Module):
    """A diffusion transformer: adaLN-zero gates and a zero output layer, so that all but the latter have no gradient at first."""

    def __init__(self):
        super().__init__()
        self.inward, self.time, self.outward = nn.Linear(8, D), nn.Linear(1, D), nn.Linear(D, 8)
        self.position = nn.Parameter(0.02 * torch.randn(T, D))
        self.mix = nn.ModuleList(nn.MultiheadAttention(D, N, batch_first=True) for _ in range(2))
        self.modulation = nn.ModuleList(nn.Linear(D, 3 * D) for _ in range(2))
        self.norm = nn.LayerNorm(D, elementwise_affine=False)
        for layer in (*self.modulation, self.outward):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x, time):
        x, condition = self.inward(x) + self.position, F.silu(self.time(time[:, None]))[:, None]
        for mix, modulation in zip(self.mix, self.modulation, strict=True):
            shift, scale, gate = modulation(condition).chunk(3, -1)
            h = self.norm(x) * (1 + scale) + shift
            x = x + gate * mix(h, h, h, need_weights=False)[0]
        return self.outward(self.norm(x))


class Checkpointed(nn.Module):
    """A causal encoder whose layers are computed again in the backward pass."""

    def __init__(self):
        super().__init__()
        self.encoder, self.head = Encoder(learned=True, norm_first=True), nn.Linear(D, V)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], dtype=self.encoder.position.dtype)
        x = self.encoder.embedding(ids) + self.encoder.position[: ids.shape[1]]
        for layer in self.encoder.layers.layers:
            x = checkpoint(layer, x, mask, use_reentrant=False)
        return self.head(x)


class Transformer(nn.Module):
    """A decoder or encoder with a choice of positions: none, learned, zero (learned, from zero), sinusoidal, alibi or rope."""

    def __init__(self, positions, *, layers=2, causal=True, norm_first=True, std=None):
        super().__init__()
        self.positions, self.causal, self.norm_first = positions, causal, norm_first
        self.embedding, self.head = nn.Embedding(V, D), nn.Linear(D, V)
        if positions in ("learned", "zero"):
            self.position = nn.Parameter(torch.zeros(T, D) if positions == "zero" else 0.02 * torch.randn(T, D))
        self.mix = nn.ModuleList(nn.Linear(D, 3 * D) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(D, D) for _ in range(layers))
        self.feed = nn.ModuleList(nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.Linear(64, D)) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(2 * layers + 1))
        for p in self.parameters() if std else ():
            if p.ndim > 1 and p.any():
                nn.init.normal_(p, std=std)

    def attend(self, x_BTD, mix):
        q, k, v = (part.unflatten(-1, (N, -1)).transpose(1, 2) for part in mix(x_BTD).chunk(3, -1))
        at = torch.arange(x_BTD.shape[1])
        back = at[:, None] - at
        bias = torch.zeros(N, len(at), len(at), dtype=x_BTD.dtype)
        if self.positions == "alibi":
            bias = bias - 2.0 ** (-2 * torch.arange(1, N + 1))[:, None, None] * back.abs()
        if self.positions == "rope":
            half = q.shape[-1] // 2
            angle = at[:, None] * 100.0 ** (-torch.arange(half) / half)
            turn = torch.polar(torch.ones_like(angle), angle).to(torch.complex64)
            q, k = (torch.view_as_real(torch.complex(*x.float().chunk(2, -1)) * turn).flatten(-2).to(v.dtype) for x in (q, k))
        if self.causal:
            bias = bias.masked_fill(back < 0, -math.inf)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(v.dtype)).transpose(1, 2).flatten(-2)

    def forward(self, ids):
        x = self.embedding(ids)
        if self.positions in ("learned", "zero"):
            x = x + self.position[: ids.shape[1]]
        if self.positions == "sinusoidal":
            angle = torch.arange(ids.shape[1])[:, None] * 100.0 ** (-torch.arange(0, D, 2) / D)
            x = x + torch.cat([angle.sin(), angle.cos()], 1).to(x.dtype)
        for i, (mix, out, feed) in enumerate(zip(self.mix, self.out, self.feed, strict=True)):
            for norm, branch in ((self.norms[2 * i], lambda h, mix=mix, out=out: out(self.attend(h, mix))), (self.norms[2 * i + 1], feed)):
                x = x + branch(norm(x)) if self.norm_first else norm(x + branch(x))
        return self.head(self.norms[-1](x))


def text(rows=4, vocabulary=V):
    return torch.randint(0, vocabulary, (rows, T + 1), generator=torch.Generator().manual_seed(1))


def cross_entropy(model, ids, *, ahead=1, logits=lambda z: z, **options):
    """Of the token ``ahead`` places on; -1 is padding."""
    z = logits(model(ids[:, :-1]))
    z, y = (z[:, : 1 - ahead] if ahead > 1 else z), ids[:, ahead : T + ahead]
    return F.cross_entropy(z.flatten(0, 1), y.flatten(), ignore_index=-1, **options)


def hf_loss(model, batch):
    return model(**batch).loss


def classified(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1])
