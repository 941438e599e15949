"""The embedded detector: a small Faster R-CNN that finds Fashion-MNIST items in scenes of 128 pixels.

The network was trained by `scripts/train_detector.py` on scenes composed of all 60,000 training images, which
none of the test scenes' items are among. Its modules are called as those of torchvision's Faster R-CNNs are.
"""

from __future__ import annotations

import hashlib
import io
from collections import OrderedDict

import torch
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
from torchvision.models.detection.rpn import AnchorGenerator
from torchvision.ops import FeaturePyramidNetwork, MultiScaleRoIAlign

from app.errors import UserError
from app.limits import Share
from app.subjects.detection.composition import SIZE
from app.subjects.detection.detector import Detector, detector
from app.subjects.fashion import ASSETS, CLASS_NAMES

WEIGHTS_FILE = "scene-detector.pt"
SHA256 = "f13974ec3de6b5d0c24055841633e2182a99ee580acc9ea4d16724b0f3d84865"
"""What the file of weights must hash to; `scripts/train_detector.py` prints a new one."""

WIDTHS = (24, 40, 64, 96, 96)
"""Channels of the five convolutions."""
PYRAMID = 48
"""Channels of the pyramid."""
HIDDEN = 160
"""Outputs of fc6 and fc7."""


class Body(nn.Module):
    """Five convolutions with batch norm; features of strides 4 and 8 come out."""

    def __init__(self) -> None:
        super().__init__()
        one, two, three, four, five = WIDTHS
        self.conv1 = _convolution(3, one, 2)
        self.conv2 = _convolution(one, two, 2)
        self.conv3 = _convolution(two, three, 1)
        self.conv4 = _convolution(three, four, 2)
        self.conv5 = _convolution(four, five, 1)

    def forward(self, images: Tensor) -> OrderedDict[str, Tensor]:
        """(B, 64, H/4, W/4) and (B, 96, H/8, W/8) of (B, 3, H, W) images."""
        fine = self.conv3(self.conv2(self.conv1(images)))
        return OrderedDict([("0", fine), ("1", self.conv5(self.conv4(fine)))])


class Backbone(nn.Module):
    """The body and a pyramid of two levels over it."""

    def __init__(self) -> None:
        super().__init__()
        self.body = Body()
        self.fpn = FeaturePyramidNetwork([WIDTHS[2], WIDTHS[4]], PYRAMID)
        self.out_channels = PYRAMID

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        """(B, 48, H/4, W/4) and (B, 48, H/8, W/8) of (B, 3, H, W) images."""
        levels: dict[str, Tensor] = self.fpn(self.body(images))
        return levels


class BoxHead(nn.Module):
    """Two linear layers under the box predictor."""

    def __init__(self) -> None:
        super().__init__()
        self.fc6 = nn.Linear(PYRAMID * 7 * 7, HIDDEN)
        self.fc7 = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, regions: Tensor) -> Tensor:
        """(R, 160) of (R, 48, 7, 7) pooled regions."""
        hidden: Tensor = self.fc6(regions.flatten(start_dim=1)).relu()
        return self.fc7(hidden).relu()  # type: ignore[no-any-return]  # Module.__call__ is typed Any


def scene_network(score_threshold: float = 0.05) -> FasterRCNN:
    """The network with random weights, 653,166 parameters; label 0 is the background.

    Regions are pooled from the finer of the two levels: items of 128-pixel scenes are small.
    """
    return FasterRCNN(
        Backbone(),
        min_size=SIZE,
        max_size=SIZE,
        image_mean=[0.3, 0.3, 0.3],
        image_std=[0.25, 0.25, 0.25],
        rpn_anchor_generator=AnchorGenerator(((20,), (36,)), ((0.5, 1.0, 2.0),) * 2),
        rpn_pre_nms_top_n_train=300,
        rpn_pre_nms_top_n_test=150,
        rpn_post_nms_top_n_train=100,
        rpn_post_nms_top_n_test=50,
        rpn_batch_size_per_image=128,
        box_roi_pool=MultiScaleRoIAlign(["0"], 7, 2),
        box_head=BoxHead(),
        box_predictor=FastRCNNPredictor(HIDDEN, 1 + len(CLASS_NAMES)),
        box_batch_size_per_image=32,
        box_positive_fraction=0.5,
        box_score_thresh=score_threshold,
        box_detections_per_img=20,
    )


def scene_detector(name: str = "scene_detector", score_threshold: Share = 0.05) -> Detector:
    """The embedded detector: mAP 0.764 and mAP50 0.880 on the first 200 scenes of test items.

    Args:
        name: the first half of the subject's name.
        score_threshold: lowest score of a detection, in [0, 1).

    Raises:
        UserError: a score threshold out of range, or its file is missing or not what was shipped.
    """
    if not 0 <= score_threshold < 1:
        raise UserError(f"model.score_threshold must be in [0, 1), not {score_threshold}")
    network = scene_network(score_threshold)
    network.load_state_dict(torch.load(io.BytesIO(_weights()), map_location="cpu", weights_only=True))
    return detector(network, name, class_names=CLASS_NAMES)


def _weights() -> bytes:
    path = ASSETS / WEIGHTS_FILE
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"embedded file {path} cannot be read ({error.strerror}): install the package again"
        ) from None
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise UserError(f"embedded file {path} is not what was shipped: install the package again")
    return content


def _convolution(inside: int, outside: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        OrderedDict(
            conv=nn.Conv2d(inside, outside, 3, stride, 1, bias=False),
            norm=nn.BatchNorm2d(outside),
            relu=nn.ReLU(),
        )
    )
