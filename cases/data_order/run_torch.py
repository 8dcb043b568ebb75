import torch
from torch.utils.data import DataLoader, TensorDataset, random_split


def _loader(data, seed, num_workers=0):
    generator = torch.Generator().manual_seed(seed)
    return DataLoader(data, batch_size=5, shuffle=True, generator=generator, num_workers=num_workers)


def _epoch(loader):
    """Samples and labels in the order they came."""
    samples, labels = zip(*loader, strict=True)
    return torch.cat(samples), torch.cat(labels)


def _by_sample(order, labels, size):
    found = torch.zeros(size, dtype=labels.dtype)
    found[order] = labels
    return {"times_seen": torch.bincount(order, minlength=size), "label_seen": found}


def _shuffled(sample, label, num_workers):
    loader = _loader(TensorDataset(sample, label), 0, num_workers)
    (order, labels), (following, _) = _epoch(loader), _epoch(loader)
    again, _ = _epoch(_loader(TensorDataset(sample, label), 0))  # workers, too, are held against a loader without any
    return {
        **_by_sample(order, labels, len(sample)),
        "same_from_the_seed": (order == again).sum().reshape(1),
        "other_than_storage": (order != sample).any().long().reshape(1),
        "other_next_epoch": (order != following).any().long().reshape(1),
    }


def epoch(sample, label):
    return _shuffled(sample, label, 0)


def workers(sample, label):
    return _shuffled(sample, label, 2)


def split(sample, label):
    rest, kept = random_split(TensorDataset(sample, label), [len(sample) - 4, 4], generator=torch.Generator().manual_seed(0))
    loaders = [_loader(rest, 1), DataLoader(kept, batch_size=5)]
    trained, held = ([_epoch(loader) for _ in range(2)] for loader in loaders)
    orders, labels = (torch.cat(parts) for parts in zip(*trained, *held, strict=True))
    apart = not set(held[0][0].tolist()) & set(torch.cat([order for order, _ in trained]).tolist())
    return {**_by_sample(orders, labels, len(sample)), "apart": torch.tensor([int(apart)]), "held_out": torch.tensor([len(held[0][0])])}
