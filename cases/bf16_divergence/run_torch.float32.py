import torch
import torch.nn.functional as F


def embedding_grad(ids, dy):
    table = torch.zeros(8, 4, dtype=dy.dtype, requires_grad=True)
    wide = table.to(torch.promote_types(dy.dtype, torch.float32))  # the gradients meet in float32
    F.embedding(ids, wide).to(dy.dtype).backward(dy)
    return {"ones": table.grad[:, :2], "random": table.grad[:, 2:]}
