"""A small classifier of shoes: the module that Assay builds and fills with the weights of best.pt."""

from torch import Tensor, nn


class ShoeNet(nn.Module):
    """Two convolutions and a linear layer; logits of three classes come out of (B, 1, 28, 28)."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(4),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(3),
        )
        self.head = nn.Linear(2 * width * 9, 3)

    def forward(self, images: Tensor) -> Tensor:
        """Logits."""
        return self.head(self.features(images).flatten(1))
