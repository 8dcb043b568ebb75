import torch


def relu(x):
    return torch.relu(x)


def gelu_tanh(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def mul(a, b):
    return a * b
