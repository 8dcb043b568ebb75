import torch


def slice_set(a, b, dy):
    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
    y = torch.zeros_like(dy)
    y[:, :3] = a
    y[:, 3:] = b
    y.backward(dy)
    return {"y": y, "da": a.grad, "db": b.grad}


def masked_loss(x, w, dy):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    y = x * w
    y[:1] = 0
    y.backward(dy)
    return {"y": y, "dx": x.grad, "dw": w.grad}


def kv_cache(q, k, v, dy):
    def append(cache, chunks):
        cache[:, :, :4], cache[:, :, 4:] = chunks
        return cache

    return _attention(q, k, v, dy, lambda x: append(torch.zeros_like(x), x.split([4, 1], dim=2)))


def concat_kv_cache(q, k, v, dy):
    return _attention(q, k, v, dy, lambda x: torch.cat(x.split([4, 1], dim=2), dim=2))


def gradient_penalty(x, w, v):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    (y,) = torch.autograd.grad((w * x.square().square()).sum(), x, create_graph=True)
    (v * y).sum().backward()
    return {"y": y, "dx": x.grad, "dw": w.grad}


def _attention(q, k, v, dy, through_cache):
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    y = q @ through_cache(k).mT @ through_cache(v)
    y.backward(dy)
    return {"y": y, "dq": q.grad, "dk": k.grad, "dv": v.grad}
