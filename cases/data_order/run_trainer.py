import torch

from trainer.order import windows


def epoch(sample, label):
    def order(seed, first):
        return torch.tensor(
            [int(windows(first + step, seed=seed, rows=slice(0, 1), batch=1, count=len(sample))[0]) for step in range(len(sample))]
        )

    first, again, following = order(0, 0), order(0, 0), order(0, len(sample))
    label_seen = torch.zeros_like(label)
    label_seen[first] = label[first]
    return {
        "times_seen": torch.bincount(first, minlength=len(sample)),
        "label_seen": label_seen,
        "same_from_the_seed": (first == again).sum().reshape(1),
        "other_than_storage": (first != sample).any().long().reshape(1),
        "other_next_epoch": (first != following).any().long().reshape(1),
    }
