import torch


def _statistics(draw, seed, least, low, high, beyond):
    torch.manual_seed(seed)
    x, following = draw(), draw()
    torch.manual_seed(seed)
    same = torch.equal(x, draw())
    x = x.double()
    facts = [(x >= low).all() and (x < high).all(), x.unique().numel() >= least, same, not torch.equal(x, following.double())]
    return torch.tensor([x.mean(), x.var(), beyond(x).double().mean(), *facts], dtype=torch.float64)


def uniform(like, seed, count, least, low, high):
    def draw():
        return torch.empty(count, dtype=like.dtype).uniform_(low, high)

    return _statistics(draw, seed, least, low, high, lambda x: x > low + 0.75 * (high - low))


def normal(like, seed, count, least, mean, spread):
    def draw():
        return torch.empty(count, dtype=like.dtype).normal_(mean, spread)

    return _statistics(draw, seed, least, -100.0, 100.0, lambda x: (x - mean).abs() > 2 * spread)


def truncated_normal(like, seed, count, least):
    def draw():
        return torch.nn.init.trunc_normal_(torch.empty(count, dtype=like.dtype))

    return _statistics(draw, seed, least, -2.0, 2.001, lambda x: x.abs() > 1.5)


def whole(like, seed, count, low, high):
    torch.manual_seed(seed)
    x = torch.randint(low, high, (count,), dtype=like.dtype)
    return torch.stack([*((x == n).double().mean() for n in range(low, high)), ((x < low) | (x >= high)).double().mean()])


def bernoulli(like, seed, count, p):
    torch.manual_seed(seed)
    x = torch.bernoulli(torch.full((count,), p, dtype=like.dtype)).double()
    return torch.stack([(x == 1).double().mean(), ((x != 1) & (x != 0)).double().mean()])


def dropout(like, seed, count, rate):
    torch.manual_seed(seed)
    y = torch.nn.functional.dropout(torch.ones(count, dtype=like.dtype), rate).double()
    return torch.stack([y.mean(), (y == 0).double().mean(), y.max()])


def categorical(weights, seed, count):
    torch.manual_seed(seed)
    x = torch.multinomial(weights, count, replacement=True)
    return torch.bincount(x, minlength=len(weights)).double() / count


def without_return(weights, seed, count):
    torch.manual_seed(seed)
    may = int((weights > 0).sum())
    x = torch.multinomial(weights.expand(count, -1), may, replacement=False)
    once = (x.sort(dim=1).values == torch.nonzero(weights).flatten()).all(dim=1).double().mean()
    first = torch.bincount(x[:, 0], minlength=len(weights)).double() / count
    return torch.cat([once[None], first])


def permutation(like, seed, count):
    torch.manual_seed(seed)
    x, ordered = torch.randperm(count, dtype=like.dtype), torch.arange(count)
    return torch.tensor([torch.equal(x.sort().values, ordered), not torch.equal(x, ordered)])
