import torch


def update_stall(weight, grad):
    master = torch.nn.Parameter(weight.to(torch.promote_types(weight.dtype, torch.float32)))
    optimizer = torch.optim.SGD([master], lr=2**-10)
    for _ in range(100):
        optimizer.zero_grad()
        (master.to(grad.dtype) * grad).sum().backward()
        optimizer.step()
    weight = master.to(grad.dtype)
    return {"ones": weight[:1], "random": weight[1:]}
