from tinygrad import Tensor
from tinygrad.helpers import Context

TRAINING = Tensor.train() if hasattr(Tensor, "train") else Context(TRAINING=1)  # since 0.14 the second


def _statistics(draw, seed, least, low, high, beyond):
    Tensor.manual_seed(seed)
    x, following = draw().realize(), draw().realize()
    Tensor.manual_seed(seed)
    same, other = (x == draw().realize()).all(), (x != following).any()
    ordered = x.sort()[0]
    distinct = 1 + (ordered[1:] != ordered[:-1]).sum()
    x = x.float()
    facts = [((x >= low) * (x < high)).all(), distinct >= least, same, other]
    return Tensor.stack(x.mean(), x.var(correction=0), beyond(x).float().mean(), *(fact.float() for fact in facts))


def uniform(like, seed, count, least, low, high):
    def draw():
        return Tensor.uniform(count, low=low, high=high, dtype=like.dtype)

    return _statistics(draw, seed, least, low, high, lambda x: x > low + 0.75 * (high - low))


def normal(like, seed, count, least, mean, spread):
    def draw():
        return Tensor.normal(count, mean=mean, std=spread, dtype=like.dtype)

    return _statistics(draw, seed, least, -100.0, 100.0, lambda x: (x - mean).abs() > 2 * spread)


def whole(like, seed, count, low, high):
    Tensor.manual_seed(seed)
    x = Tensor.randint(count, low=low, high=high, dtype=like.dtype)
    shares = [(x == n).float().mean() for n in range(low, high)]
    return Tensor.stack(*shares, ((x < low) + (x >= high)).float().mean())


def dropout(like, seed, count, rate):
    Tensor.manual_seed(seed)
    with TRAINING:
        y = Tensor.ones(count, dtype=like.dtype).dropout(rate).double()
    return Tensor.stack(y.mean(), (y == 0).double().mean(), y.max())


def categorical(weights, seed, count):
    Tensor.manual_seed(seed)
    x = weights.multinomial(count, replacement=True)
    return Tensor.stack(*((x == n).float().mean() for n in range(weights.shape[0])))


def permutation(like, seed, count):
    Tensor.manual_seed(seed)
    x, ordered = Tensor.randperm(count, dtype=like.dtype), Tensor.arange(count, dtype=like.dtype)
    return Tensor.stack((x.sort()[0] == ordered).all().float(), (x != ordered).any().float())
