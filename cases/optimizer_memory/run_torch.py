import torch


def forward(w, g):
    return _steps(w, g, 1)


def step(w, g):
    return _steps(w, g, 40)


def _steps(w, g, count):
    w = torch.nn.Parameter(w.clone())
    optimizer = torch.optim.AdamW([w], lr=2**-10, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.125)
    for _ in range(count):
        optimizer.zero_grad()
        ((w.square() * g).sum() / 2).backward()
        optimizer.step()
    return {"after": w}
