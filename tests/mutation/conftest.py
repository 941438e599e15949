"""Tiny models that the tests of this room mutate."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn


class Net(nn.Module):
    """Two convolutions, an in-place ReLU used twice, dropout and a linear head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)
        self.relu = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(4, 5)

    def forward(self, images: Tensor) -> Tensor:
        x = self.relu(self.bn(self.conv1(images)))
        x = self.relu(self.conv2(x) + x)
        return self.head(self.drop(x.mean((2, 3))))


class Tied(nn.Module):
    """An encoder and a decoder with one weight, and one block under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.decoder = nn.Linear(4, 4)
        self.decoder.weight = self.encoder.weight
        self.block = nn.Linear(4, 4)
        self.again = self.block

    def forward(self, x: Tensor) -> Tensor:
        return self.again(self.block(self.decoder(self.encoder(x))))


class Attention(nn.Module):
    """Self-attention over four patches, as in a vision transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Dropout(0.0), nn.Linear(8, 8))
        self.head = nn.Linear(8, 5)

    def forward(self, images: Tensor) -> Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.head((x + self.mlp(x)).mean(1))


@pytest.fixture(scope="session")
def exported() -> nn.Module:
    """The net after a round trip through an exported program; expensive, and left as it is by every test."""
    torch.manual_seed(0)
    return torch.export.unflatten(torch.export.export(Net().eval(), (torch.zeros(6, 3, 8, 8),)))


@pytest.fixture
def net() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


@pytest.fixture
def tied() -> nn.Module:
    torch.manual_seed(1)
    return Tied().eval()


@pytest.fixture
def attention() -> nn.Module:
    torch.manual_seed(2)
    return Attention().eval()


@pytest.fixture
def images() -> Tensor:
    return torch.randn(6, 3, 8, 8, generator=torch.Generator().manual_seed(3))
