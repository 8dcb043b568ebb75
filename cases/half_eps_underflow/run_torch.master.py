"""Weights and moments in float32, given back in the asked type."""

import torch


def adam(w, g):
    master = torch.nn.Parameter(w.float())
    optimizer = torch.optim.AdamW([master], lr=2**-4, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)
    for grad in g:
        optimizer.zero_grad()
        (master.to(w.dtype) * grad).sum().backward()
        optimizer.step()
    return {"after": master.to(w.dtype)}
