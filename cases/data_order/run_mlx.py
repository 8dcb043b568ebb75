import mlx.core as mx


def _orders(seed, sample, epochs):
    mx.random.seed(seed)
    orders = [mx.random.permutation(sample) for _ in range(epochs)]
    return [mx.concatenate([order[i : i + 5] for i in range(0, len(sample), 5)]) for order in orders]


def _by_sample(order, label):
    label_seen = mx.zeros_like(label)
    label_seen[order] = label[order]
    return {"times_seen": mx.zeros_like(label).at[order].add(1), "label_seen": label_seen}


def epoch(sample, label):
    order, following = _orders(0, sample, 2)
    (again,) = _orders(0, sample, 1)
    return {
        **_by_sample(order, label),
        "same_from_the_seed": (order == again).sum().reshape(1),
        "other_than_storage": (order != sample).any().astype(mx.int64).reshape(1),
        "other_next_epoch": (order != following).any().astype(mx.int64).reshape(1),
    }


def split(sample, label):
    (order,) = _orders(2, sample, 1)
    kept, rest = order[:4], order[4:]
    seen = mx.concatenate([kept, kept, *_orders(1, rest, 2)])
    apart = (kept[:, None] != rest).all().astype(mx.int64).reshape(1)
    return {**_by_sample(seen, label), "apart": apart, "held_out": mx.array([len(kept)])}
