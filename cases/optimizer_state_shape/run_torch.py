import torch
import torch.nn.functional as F

LENGTHS = (16, 24, 17, 33, 16, 8, 40, 17, 1, 29)


def run(x, target, w, position):
    w, position = torch.nn.Parameter(w.clone()), torch.nn.Parameter(position.clone())
    optimizer = torch.optim.AdamW([w, position], lr=2.0**-5, betas=(0.9, 0.999), eps=1e-8, weight_decay=2.0**-4)
    losses = []
    for i, length in enumerate(LENGTHS):
        optimizer.zero_grad()
        y = torch.tanh(F.linear(x[i, :length] + position[:length], w))
        loss = F.mse_loss(y, target[i, :length])
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return {"losses": torch.stack(losses), "w": w, "position": position}
