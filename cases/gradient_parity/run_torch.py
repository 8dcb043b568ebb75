import torch.nn.functional as F

HEADS = 2


def _block(x, norm1_w, norm1_b, w_q, w_k, w_v, w_o, norm2_w, norm2_b, w_up, b_up, w_down, b_down):
    B, T, C = x.shape
    h = F.layer_norm(x, (C,), norm1_w, norm1_b, 2.0**-17)
    q, k, v = (F.linear(h, w).view(B, T, HEADS, C // HEADS).transpose(1, 2) for w in (w_q, w_k, w_v))
    a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + F.linear(a.transpose(1, 2).reshape(B, T, C), w_o)
    h = F.layer_norm(x, (C,), norm2_w, norm2_b, 2.0**-17)
    return x + F.linear(F.gelu(F.linear(h, w_up, b_up), approximate="tanh"), w_down, b_down)


def run(dy, **tensors):
    leaves = {name: t.detach().requires_grad_() for name, t in tensors.items()}
    y = _block(**leaves)
    y.backward(dy)
    return {"y": y, **{f"d{name}": t.grad for name, t in leaves.items() if t.grad is not None}}
