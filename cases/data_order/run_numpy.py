import numpy as np


def _answer(first, again, second, label):
    order = np.concatenate(first)
    return {
        "times_seen": np.bincount(order, minlength=len(label)).astype(float),
        "label_seen": label[order][np.argsort(order)],
        "same_from_the_seed": np.array([np.sum(order == np.concatenate(again))]),
        "other_than_storage": np.array([int(np.any(order != np.sort(order)))]),
        "other_next_epoch": np.array([int(np.any(order != np.concatenate(second)))]),
    }


def _epochs(seed, sample, count):
    rng = np.random.default_rng(seed)
    return [np.array_split(rng.permutation(sample), range(5, len(sample), 5)) for _ in range(count)]


def epoch(sample, label):
    (first, second), (again,) = _epochs(0, sample, 2), _epochs(0, sample, 1)
    return _answer(first, again, second, label)


def workers(sample, label):
    return epoch(sample, label)


def split(sample, label):
    order = np.random.default_rng(0).permutation(sample)
    kept, rest = order[:4], order[4:]
    seen = np.concatenate([kept, kept, *(batch for batches in _epochs(1, rest, 2) for batch in batches)])
    return {
        "times_seen": np.bincount(seen, minlength=len(label)),
        "label_seen": label[np.unique(seen)],
        "apart": np.array([int(not set(kept) & set(rest))]),
        "held_out": np.array([len(kept)]),
    }
