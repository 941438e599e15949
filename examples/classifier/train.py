"""Makes what a project has before Assay comes: photos/train and photos/test, one folder a class, and best.pt.

The pictures are shoes of the embedded Fashion-MNIST images. Takes a few seconds.
"""

from pathlib import Path

import torch
from shoes import ShoeNet
from torch import nn
from torchvision.transforms.functional import pil_to_tensor

from app.subjects.fashion import fashion

CLASSES = ("ankle_boot", "sandal", "sneaker")  # in training order


def photos(split: str, per_class: int, root: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Writes PNGs into a folder for each class; returns them as a batch, with their labels."""
    data = fashion(split)
    pixels, labels = [], []
    for label, name in enumerate(CLASSES):
        folder = root / split / name
        folder.mkdir(parents=True, exist_ok=True)
        rows = [i for i, each in enumerate(data.labels) if data.class_names[each] == name]
        for i in rows[:per_class]:
            picture = data.load(i)
            picture.save(folder / f"{Path(data.paths[i]).name}.png")
            pixels.append(pil_to_tensor(picture) / 255)
            labels.append(label)
    return (torch.stack(pixels) - 0.5) / 0.5, torch.tensor(labels)


def main() -> None:
    """Pictures, training, weights."""
    torch.manual_seed(0)
    images, labels = photos("train", 400, Path("photos"))
    test_images, test_labels = photos("test", 100, Path("photos"))
    net = ShoeNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(12):
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
            optimizer.step()
    torch.save(net.state_dict(), "best.pt")
    right = (net.eval()(test_images).argmax(1) == test_labels).float().mean()
    print(f"best.pt: right in {100 * right:.1f} % of {len(test_labels)} test pictures")


if __name__ == "__main__":
    main()
