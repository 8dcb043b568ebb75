"""A model whose answers are known: all that it knows is the token before."""

import torch

from trainer import config

VOCAB = 50


class Table(torch.nn.Module):
    """Its next-token logits are a table's row."""

    def __init__(self, table_VV, length=16):
        super().__init__()
        self.table_VV = table_VV
        self.config = config.nano(vocab_size=len(table_VV), length=length)

    def forward(self, tokens_BT):
        return self.table_VV[tokens_BT]


def knows_the_rule():
    """Each token is the one before plus 3."""
    return Table(8 * torch.eye(VOCAB).roll(3, 1))
