"""Nobody waits: the buffer is filled again before it was copied, and the product may begin before the copy."""

import torch


def race(x, w):
    x, busy, copies = x.cuda(), torch.ones(8192, 8192, device="cuda"), torch.cuda.Stream()
    staging = torch.empty(8, 3 << 18, pin_memory=True)
    weight, y = torch.empty_like(staging, device="cuda"), []
    for host in w:
        staging.copy_(host.repeat(1, 1 << 18))
        with torch.cuda.stream(copies):
            busy @ busy  # so that the copy has to wait
            weight.copy_(staging, non_blocking=True)
        y.append((x @ weight)[:, -3:])
    return {"y": torch.stack(y)}
