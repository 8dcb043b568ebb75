import torch


def forward(x, causal, window):
    return {"y_causal": torch.softmax(x + causal, dim=-1), "y_window": torch.softmax(x + window, dim=-1)}


def step(x, causal, window):  # it builds its own
    T = x.shape[-1]
    seen = torch.ones(T, T, dtype=torch.bool).tril()
    causal = torch.zeros(T, T).masked_fill(~seen, -torch.inf)
    window = torch.zeros(T, T).masked_fill(~seen.triu(-63), -torch.inf)
    return forward(x, causal, window)
