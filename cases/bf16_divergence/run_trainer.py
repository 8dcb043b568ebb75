"""The trainer's arithmetic for a type is its configuration's: float32 weights under autocast in bfloat16, and float64 refused.

cross_entropy and embedding_grad ask its model without layers and norm, of which each output is one entry of a weight: embedding and head are left.
"""

import torch

from trainer import attention, device
from trainer.config import parse
from trainer.model import LM


def softmax(logits):
    """Its attention, of the last query on all keys: a value's gradient is the probability of its key."""
    q_BTNH = torch.zeros(*logits.shape, 1, 4, dtype=logits.dtype)
    k_BTNH, v_BTNH = q_BTNH.clone(), q_BTNH.clone().requires_grad_()
    q_BTNH[..., 0] = 2  # times the scale, 4 ** -0.5: 1
    k_BTNH[..., 0] = logits[..., None]
    keys = logits.shape[1]
    attention.plan(keys, keys, q_BTNH.device)(q_BTNH, k_BTNH, v_BTNH)[:, -1, 0, 0].sum().backward()
    y = v_BTNH.grad[:, :, 0, 0]
    return {"uniform": y[:1], "random": y[1:]}


def cross_entropy(logits, target):
    loss_uniform, dlogits_uniform = _loss(logits[:1], target[:1])
    loss_random, dlogits_random = _loss(logits[1:], target[1:])
    return {
        "loss_uniform": loss_uniform,
        "loss_random": loss_random,
        "dlogits_uniform": dlogits_uniform,
        "dlogits_random": dlogits_random,
    }


def embedding_grad(ids, dy):
    model = _bare(dy.dtype, vocab_size=8, width=4, length=len(ids), window=len(ids))
    torch.nn.init.eye_(model.head.weight)
    with device.arithmetic(model.config):
        y = model(ids[None])[0, :, :4]
    y.backward(dy.to(y.dtype))
    dtable = model.embedding.weight.grad[:8]
    return {"ones": dtable[:, :2], "random": dtable[:, 2:]}


def _loss(logits, target):
    model = _bare(logits.dtype, vocab_size=logits.shape[1], width=2)
    torch.nn.init.eye_(model.embedding.weight)  # the model reads token 0
    model.head.weight.data = torch.stack([logits[0], torch.zeros_like(logits[0])], dim=1).float()
    with device.arithmetic(model.config):
        nll, count = model.loss(torch.cat([torch.zeros_like(target), target])[None])
    (nll / count).backward()
    return (nll / count).reshape(1), model.head.weight.grad[None, :, 0]


def _bare(dtype, **sizes):
    words = {"dtype": str(dtype).removeprefix("torch."), "heads": 1, "kv_heads": 1, **sizes}
    model = LM(parse([f"--{key}={value}" for key, value in words.items()]))
    model.layers, model.norm = torch.nn.ModuleList(), torch.nn.Identity()
    return model
