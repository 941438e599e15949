"""The embedded subject: a small convolutional network and a part of Fashion-MNIST, both inside the package.

The network was trained by `scripts/train_classifier.py` on all 60,000 training images (Xiao, Rasul and
Vollgraf, 2017, MIT). The embedded images are a stratified subset: 2,000 of the test and 4,000 of the training
images.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from app.errors import UserError
from app.limits import NotNegative, Positive
from app.subjects.dataset import ImageDataset
from app.subjects.model import Model, assemble
from app.subjects.pixels import from_pixels
from app.subjects.preprocess import Preprocess

CLASS_NAMES = (
    "t-shirt_top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle_boot",
)
"""The ten classes, in the order of the labels 0 to 9."""

PREPROCESS = Preprocess(resize=None, crop=None, mode="L", mean=(0.2860,), std=(0.3530,))
"""What the network was trained with: 28 by 28 grey pixels, standardised by the training images' mean and
deviation."""

ASSETS = Path(__file__).parent / "assets"
IMAGES_FILE = "fashion-mnist.npz"
WEIGHTS_FILE = "fashion-cnn.pt"
SHA256 = {
    IMAGES_FILE: "0bd703b35ea0fc721e8c49c29cb7a7ff84af0352fc5a6a229a8a407dcdc6a66a",
    WEIGHTS_FILE: "9c719ea7b4fb239cd54334c2f2e9c1637b30a34057435497e6869f494dacb6ae",
}
"""What the two files must hash to; `scripts/train_classifier.py` prints new ones."""


class FashionCNN(nn.Module):
    """Three convolutions and two linear layers, 98,442 parameters; logits of the ten classes come out.

    Every activation is a module of its own and dropout stands before the last layer, so that each kind of
    operator has something to change.
    """

    def __init__(self, dropout: float = 0.25) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.relu1 = nn.ReLU()
        self.pool1 = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.relu2 = nn.ReLU()
        self.pool2 = nn.MaxPool2d(2)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.relu3 = nn.ReLU()
        self.pool3 = nn.MaxPool2d(2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Linear(64 * 3 * 3, 128)
        self.relu4 = nn.ReLU()
        self.dropout = nn.Dropout(dropout)
        self.fc2 = nn.Linear(128, len(CLASS_NAMES))

    def forward(self, images: Tensor) -> Tensor:
        """(B, 10): the logits of (B, 1, 28, 28) standardised images."""
        x: Tensor = self.pool1(self.relu1(self.conv1(images)))
        x = self.pool2(self.relu2(self.conv2(x)))
        x = self.pool3(self.relu3(self.conv3(x)))
        x = self.relu4(self.fc1(self.flatten(x)))
        return self.fc2(self.dropout(x))  # type: ignore[no-any-return]  # Module.__call__ is typed Any


def fashion_cnn(name: str = "fashion_cnn") -> Model:
    """The embedded model: 91.3 % accurate on all 10,000 test images of Fashion-MNIST.

    Raises:
        UserError: its file is missing or not what was shipped.
    """
    module = FashionCNN()
    module.load_state_dict(
        torch.load(io.BytesIO(_asset(WEIGHTS_FILE)), map_location="cpu", weights_only=True)
    )
    return assemble(module, name, class_names=CLASS_NAMES, preprocess=PREPROCESS, output="logits")


def fashion(
    split: Literal["test", "train"] = "test",
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
) -> ImageDataset:
    """The embedded part of Fashion-MNIST; a path such as ``test/00042`` holds the original index.

    Args:
        split: 2,000 of the test or 4,000 of the training images, equally many of each class.
        max_samples: keep a stratified sample of so many.
        seed: of the sample.
        name: None gives ``fashion_test`` or ``fashion_train``.

    Raises:
        UserError: an unknown split, or the file is missing or not what was shipped.
    """
    if split not in {"test", "train"}:
        raise UserError(f"dataset.split must be test or train, not {split!r}")
    with np.load(io.BytesIO(_asset(IMAGES_FILE)), allow_pickle=False) as packed:
        images, labels, indices = (packed[f"{split}_{key}"] for key in ("images", "labels", "indices"))
    paths = [f"{split}/{index:05d}" for index in indices]
    return from_pixels(name or f"fashion_{split}", CLASS_NAMES, labels, images, paths=paths).sample(
        max_samples, seed
    )


def _asset(name: str) -> bytes:
    path = ASSETS / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"embedded file {path} cannot be read ({error.strerror}): install the package again"
        ) from None
    if hashlib.sha256(content).hexdigest() != SHA256[name]:
        raise UserError(f"embedded file {path} is not what was shipped: install the package again")
    return content
