"""Models that do not run on images as they come, and what is said."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from app.inference.refusal import refused


class Rows(nn.Module):
    """Reads the rows of a grey image as a sequence."""

    def __init__(self):
        super().__init__()
        self.lstm, self.fc = nn.LSTM(8, 4, batch_first=True), nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.lstm(x[:, 0])[0][:, -1])


def said(module: nn.Module, *shape: int) -> str:
    batch = torch.zeros(2, *shape)
    with pytest.raises(Exception, match=r".") as caught:
        module(batch)
    line = str(refused(module.eval(), batch, caught.value))
    assert "\n" not in line
    assert not any(layer._forward_pre_hooks for layer in module.modules())
    return line


@pytest.mark.parametrize(
    ("module", "shape", "sentence"),
    [
        (nn.Conv2d(1, 4, 3), (3, 8, 8), "takes 1 channel, but images come with 3 (mode RGB): set mode: L"),
        (
            nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(1, 4, 3)),
            (3, 8, 8),
            "first layer 1 takes 1 channel, .* with mean and std of 1 number",
        ),
        (nn.Sequential(nn.Conv2d(3, 4, 3)), (1, 8, 8), "come with 1 (mode L): set mode: RGB .* of 3 numbers"),
        (nn.Sequential(nn.Conv2d(4, 4, 3)), (3, 8, 8), "takes 4 channels, .*given as mode: RGB (3 channels) or L (1)"),
        (
            nn.Sequential(nn.Flatten(), nn.Linear(64, 2)),
            (3, 10, 9),
            "layer 1 takes 64 numbers and gets 270 from images of 10x9 pixels .*such as resize: [8, 8] and mode: L",
        ),
        (nn.Sequential(nn.Flatten(), nn.Linear(192, 2)), (3, 9, 9), "such as resize: [8, 8] and mode: RGB"),
        (
            nn.Sequential(nn.Conv2d(3, 2, 3), nn.Flatten(), nn.Linear(72, 2)),
            (3, 9, 9),
            "layer 2 takes 72 numbers and gets 98 .*to those of training",
        ),
        (Rows(), (1, 9, 9), "cannot run on preprocessed images of shape (1, 9, 9): .*check model.preprocess"),
        (nn.Conv2d(3, 2, 3).half(), (3, 9, 9), "weights are float16, but images come as float32"),
    ],
)  # fmt: skip
def test_the_line_names_layer_and_remedy(module, shape, sentence):
    line = said(module, *shape)
    place = 0
    for part in sentence.split(".*"):
        assert part in line[place:], line
        place = line.index(part, place)
