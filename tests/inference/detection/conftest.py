"""Tiny detectors with random weights, and noise images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torchvision.models import detection, resnet18
from torchvision.models.detection.backbone_utils import BackboneWithFPN

CLASSES = 5


@dataclass(frozen=True)
class Pictures:
    """N noise images of two sizes in turn."""

    count: int
    sizes: tuple[tuple[int, int], ...] = ((40, 32), (32, 48))

    def __len__(self) -> int:
        return self.count

    def load(self, index: int) -> Image.Image:
        width, height = self.sizes[index % len(self.sizes)]
        pixels = np.random.default_rng(index).integers(0, 256, (height, width, 3), dtype=np.uint8)
        return Image.fromarray(pixels)


def to_images(pictures: Sequence[Image.Image]) -> list[Tensor]:
    return [torch.from_numpy(np.array(each).transpose(2, 0, 1)).float() / 255 for each in pictures]


class Blobs(nn.Module):
    """A user's own detector: one box an image around what is bright; it gives class rows if asked to."""

    def __init__(self, rows: bool = False) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.relu = nn.ReLU()
        self.rows = rows
        with torch.no_grad():
            self.conv.weight.copy_(torch.linspace(-0.1, 0.1, 108).view(4, 3, 3, 3))
            self.conv.bias.fill_(0.1)

    def forward(self, images: list[Tensor]) -> list[dict[str, Tensor]]:
        return [self.one(image) for image in images]

    def one(self, image: Tensor) -> dict[str, Tensor]:
        rows = self.relu(self.conv(image[None])).mean(dim=(2, 3)).softmax(dim=1)
        scores, labels = rows.max(dim=1)
        ys, xs = torch.nonzero(image.sum(0) >= image.sum(0).mean(), as_tuple=True)
        box = torch.stack([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]).float()[None]
        found = {"boxes": box, "labels": labels, "scores": scores}
        return found | {"probs": rows} if self.rows else found


def scattered(model: nn.Module) -> nn.Module:
    """Class logits that differ from place to place, as random weights alone do not give."""
    for name, module in model.named_modules():
        of_classes = name.startswith("head.classification_head") and isinstance(module, nn.Conv2d)
        if of_classes and module.bias is not None and module.out_channels % CLASSES == 0:
            nn.init.normal_(module.weight, std=0.1)
            nn.init.constant_(module.bias, -2.0)
    return model.eval()


def built(name: str, **options: object) -> nn.Module:
    """One of torchvision's builders with random weights, small images and few proposals."""
    few: dict[str, object] = {"score_thresh": 0.05}
    if "rcnn" in name:
        few = {"box_score_thresh": 0.05, "rpn_post_nms_top_n_test": 12, "box_detections_per_img": 20}
    if "ssd" not in name:
        few["min_size"] = 48
    with torch.random.fork_rng():
        torch.manual_seed(3)
        make = getattr(detection, name)
        return scattered(make(weights=None, weights_backbone=None, num_classes=CLASSES, **(few | options)))


def small(family: str) -> nn.Module:
    """A detector of a family, over a small backbone where the builder's is large."""
    if family in ("ssd", "roi"):
        mobile = {"ssd": "ssdlite320_mobilenet_v3_large", "roi": "fasterrcnn_mobilenet_v3_large_320_fpn"}
        return alive(built(mobile[family]))
    with torch.random.fork_rng():
        torch.manual_seed(3)
        layers = {"layer2": "0", "layer3": "1", "layer4": "2"}
        backbone = BackboneWithFPN(resnet18(weights=None), layers, [128, 256, 512], 64)
        options = {"min_size": 48, "score_thresh": 0.05, "detections_per_img": 20}
        if family == "retinanet":
            sizes = tuple((x, int(x * 1.3), int(x * 1.6)) for x in (16, 32, 64, 128))
            anchors = detection.anchor_utils.AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * 4)
            return scattered(detection.RetinaNet(backbone, CLASSES, anchor_generator=anchors, **options))
        anchors = detection.anchor_utils.AnchorGenerator(((8,), (16,), (32,), (64,)), ((1.0,),) * 4)
        return scattered(detection.FCOS(backbone, CLASSES, anchor_generator=anchors, **options))


def alive(model: nn.Module) -> nn.Module:
    """Activations that do not die out with depth, as they do with random weights alone."""
    for module in model.backbone.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(
                module.weight, generator=torch.Generator().manual_seed(module.weight.numel())
            )
    return model


@pytest.fixture(scope="session", params=["roi", "retinanet", "fcos", "ssd"])
def family(request) -> tuple[str, nn.Module]:
    return request.param, small(request.param)


@pytest.fixture(scope="session")
def roi() -> nn.Module:
    return small("roi")
