from io import BytesIO

import torch
import torch.nn.functional as F

STEPS, AFTER = 6, 3


def _train(make, x, target, w, stop):
    model = torch.nn.Linear(6, 5, bias=False, dtype=w.dtype)
    model.load_state_dict({"weight": w})
    optimizer, losses = make(model.parameters()), []
    for i in range(STEPS):
        if i == stop:
            file = BytesIO()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
            file.seek(0)
            saved = torch.load(file)
            model = torch.nn.Linear(6, 5, bias=False, dtype=w.dtype)
            model.load_state_dict(saved["model"])
            optimizer = make(model.parameters())
            optimizer.load_state_dict(saved["optimizer"])
        optimizer.zero_grad()
        loss = F.mse_loss(torch.tanh(model(x[i])), target[i])
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses), model.weight.detach()


def _both(make, x, target, w):
    losses, end = _train(make, x, target, w, stop=None)
    resumed, resumed_end = _train(make, x, target, w, stop=AFTER)
    return {"losses": losses, "w": end, "loss_quotient": (resumed / losses)[AFTER:], "w_quotient": resumed_end / end}


def adamw(x, target, w):
    return _both(lambda p: torch.optim.AdamW(p, lr=2.0**-5, betas=(0.9, 0.999), eps=1e-8, weight_decay=2.0**-4), x, target, w)


def momentum(x, target, w):
    return _both(lambda p: torch.optim.SGD(p, lr=2.0**-5, momentum=0.9), x, target, w)
