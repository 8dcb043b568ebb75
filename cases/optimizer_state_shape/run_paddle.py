import paddle
import paddle.nn.functional as F

LENGTHS = (16, 24, 17, 33, 16, 8, 40, 17, 1, 29)


def run(x, target, w, position):
    w, position = w.clone(), position.clone()
    w.stop_gradient = position.stop_gradient = False
    optimizer = paddle.optimizer.AdamW(2.0**-5, 0.9, 0.999, 1e-8, parameters=[w, position], weight_decay=2.0**-4)
    losses = []
    for i, length in enumerate(LENGTHS):
        y = paddle.tanh(paddle.matmul(x[i, :length] + position[:length], w, transpose_y=True))
        loss = F.mse_loss(y, target[i, :length])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.detach())
    return {"losses": paddle.stack(losses), "w": w.detach(), "position": position.detach()}
