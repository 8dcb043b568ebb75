from tinygrad import dtypes, nn
from tinygrad.helpers import Context


def update_stall(weight, grad):
    master = weight.cast(dtypes.float32).contiguous() if weight.dtype == dtypes.bfloat16 else weight
    optimizer = nn.optim.SGD([master], lr=2**-10)
    with Context(TRAINING=1):
        for _ in range(100):
            optimizer.zero_grad()
            (master.cast(grad.dtype) * grad).sum().backward()
            optimizer.step()
    weight = master.cast(grad.dtype)
    return {"ones": weight[:1], "random": weight[1:]}
