"""The trainer's own split: its model's matrices go to Muon and its embedding to AdamW; a shape that its model has none of is given to Muon alone."""

import torch
import torch.nn.functional as F

from trainer.config import Config
from trainer.model import LM
from trainer.optim import Muon, optimizers

CONFIG = Config(vocab_size=16, layers=1, width=4, heads=2, kv_heads=1, ffn=16, lr=0.02, muon_lr=0.02, weight_decay=0.0)


def linear_wide(grad):
    model = LM(CONFIG).to(grad.dtype)
    return {"update": _step(model, model.layers[0].ffn.gate.weight, grad)}


def linear_tall(grad):
    model = LM(CONFIG).to(grad.dtype)
    return {"update": _step(model, model.layers[0].ffn.down.weight, grad)}


def embedding(grad):
    model = LM(CONFIG).to(grad.dtype)
    table = model.embedding.weight  # rows beyond the vocabulary only pad it
    return {"update": _step(model, table, F.pad(grad, (0, 0, 0, len(table) - len(grad))))[: len(grad)]}


def stack(grad):
    return {"update": _alone(grad)}


def kernel(grad):
    return {"update": _alone(grad)}


def vector(grad):
    return {"update": _alone(grad)}


def _step(model, weight, grad):
    torch.nn.init.zeros_(weight)
    weight.grad = grad
    for optimizer in optimizers(model, CONFIG).values():
        optimizer.step()
    return weight


def _alone(grad):
    weight = torch.nn.Parameter(torch.zeros_like(grad))
    weight.grad = grad
    Muon([weight], lr=0.02, momentum=0.95, weight_decay=0.0).step()
    return weight
