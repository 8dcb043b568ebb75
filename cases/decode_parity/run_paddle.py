import paddle


def _products(state, q, k, v, gate, beta):
    out = []
    for t in range(len(q)):
        state = gate[t, :, None, None] * state
        error = v[t] - paddle.einsum("hk,hkv->hv", k[t], state)
        state = state + paddle.einsum("hk,hv->hkv", k[t], beta[t, :, None] * error)
        out.append(paddle.einsum("hk,hkv->hv", q[t], state))
    return {"out": paddle.stack(out), "state": state}


def exact(**tensors):
    return _products(**tensors)


def tokens(**tensors):
    return _products(**tensors)


def _ordered(weights, state):
    total = weights[:, 0, None] * state[:, 0]
    for i in range(1, state.shape[1]):
        total = total + weights[:, i, None] * state[:, i]
    return total


def sequential(state, q, k, v, gate, beta):
    out = []
    for t in range(len(q)):
        state = gate[t, :, None, None] * state
        correction = beta[t, :, None] * (v[t] - _ordered(k[t], state))
        state = state + k[t, :, :, None] * correction[:, None]
        out.append(_ordered(q[t], state))
    return {"out": paddle.stack(out), "state": state}
