import torch


def step(w, g):
    w = torch.nn.Parameter(w.clone())
    optimizer = torch.optim.AdamW([w], lr=2**-10, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.125)
    for _ in range(40):
        optimizer.zero_grad()
        (w * g).sum().backward()
        optimizer.step()
    return {"after": w}
