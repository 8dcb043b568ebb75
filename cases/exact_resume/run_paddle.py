from io import BytesIO

import paddle
import paddle.nn.functional as F
from paddle.utils import unique_name

STEPS, AFTER = 6, 3


def _layer(w):
    layer = paddle.nn.Linear(6, 5, bias_attr=False)
    layer.to(dtype=w.dtype)
    layer.weight.set_value(w.T)  # paddle stores [in, out]
    return layer


def _steps(layer, optimizer, x, target):
    losses = []
    for batch, wanted in zip(x, target, strict=True):
        loss = F.mse_loss(paddle.tanh(layer(batch)), wanted)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.detach())
    return losses


def _train(make, x, target, w, stop):
    with unique_name.guard():
        layer = _layer(w)
        optimizer = make(layer.parameters())
        losses = _steps(layer, optimizer, x[:stop], target[:stop])
    files = BytesIO(), BytesIO()
    for state, file in zip((layer.state_dict(), optimizer.state_dict()), files, strict=True):
        paddle.save(state, file)
        file.seek(0)
    with unique_name.guard():  # state is kept by the parameters' names: they begin again, as in a new process
        layer = _layer(paddle.zeros_like(w))
        layer.set_state_dict(paddle.load(files[0]))
        optimizer = make(layer.parameters())
        optimizer.set_state_dict(paddle.load(files[1]))
        losses += _steps(layer, optimizer, x[stop:], target[stop:])
    return paddle.stack(losses), layer.weight.detach().T


def _both(make, x, target, w):
    losses, end = _train(make, x, target, w, stop=STEPS)
    resumed, resumed_end = _train(make, x, target, w, stop=AFTER)
    return {"losses": losses, "w": end, "loss_quotient": (resumed / losses)[AFTER:], "w_quotient": resumed_end / end}


def adamw(x, target, w):
    def make(parameters):
        return paddle.optimizer.AdamW(2.0**-5, 0.9, 0.999, 1e-8, parameters=parameters, weight_decay=2.0**-4)

    return _both(make, x, target, w)


def momentum(x, target, w):
    return _both(lambda parameters: paddle.optimizer.Momentum(2.0**-5, 0.9, parameters=parameters), x, target, w)
