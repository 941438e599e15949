"""Small models and images for the inference tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
import torchvision
from PIL import Image
from torch import Tensor, nn
from torchvision.models.resnet import BasicBlock, ResNet
from torchvision.models.vision_transformer import VisionTransformer

SIDE = 32


@dataclass(frozen=True)
class Pictures:
    """N random pictures."""

    pixels: np.ndarray

    def __len__(self) -> int:
        return len(self.pixels)

    def load(self, index: int) -> Image.Image:
        return Image.fromarray(self.pixels[index])


def to_batch(images: Sequence[Image.Image]) -> Tensor:
    pixels = np.stack([np.asarray(image) for image in images]).astype(np.float32)
    return torch.from_numpy(pixels).permute(0, 3, 1, 2) / 127.5 - 1


class LeNet(nn.Module):
    """Functional pooling between modules, in-place activations, dropout before the last layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5)
        self.relu1, self.relu2, self.relu3 = nn.ReLU(inplace=True), nn.ReLU(inplace=True), nn.ReLU()
        self.fc1, self.dropout, self.fc2 = nn.Linear(400, 32), nn.Dropout(0.3), nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = nn.functional.max_pool2d(self.relu1(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(self.relu2(self.conv2(x)), 2)
        return self.fc2(self.dropout(self.relu3(self.fc1(torch.flatten(x, 1)))))


def build(name: str) -> nn.Module:
    """A model with random weights, the same ones each time."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        models = {
            "lenet": LeNet,
            "resnet": lambda: ResNet(BasicBlock, [1, 1, 1, 1], num_classes=10),
            "mobilenet_v3": lambda: torchvision.models.mobilenet_v3_small(num_classes=10),
            "vit": lambda: VisionTransformer(SIDE, 16, 2, 2, 32, 64, num_classes=10),
        }
        return models[name]().eval()


@pytest.fixture(scope="module")
def pictures() -> Pictures:
    rng = np.random.default_rng(3)
    return Pictures(rng.integers(0, 256, size=(7, SIDE, SIDE, 3), dtype=np.uint8))
