"""Running a detector from the middle: lists of images in, ragged lists of proposals and detections inside."""

from __future__ import annotations

import logging
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import SUPPORTED_NODES, register_pytree_node
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import box_iou

from app.inference import copies
from app.inference.copies import Growth
from app.inference.replay import INPUT_CALL, OUTPUT_CALL, Replay, ReplayError, Start

log = logging.getLogger(__name__)

ALIKE = 0.9
"""Share of detections that must be found again among those of copies that ran side by side: with other last bits
a few near the thresholds come and go, while a model that mixes the images of a batch finds other ones altogether."""

if (
    ImageList not in SUPPORTED_NODES
):  # torch looks into it as into a list: what the first module call gives is no secret
    register_pytree_node(
        ImageList, lambda each: ([each.tensors, each.image_sizes], None), lambda parts, _: ImageList(*parts)
    )


class DetectorReplay(Replay):
    """A replay that knows how each recorded value of a detector grows with the number of images."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module, alike_detections)
        self._growths: dict[int, Growth] = {}

    def rest(self) -> None:
        """Let go of the survey's recording, which holds every activation; the next new start makes it again."""
        self._slice_kept = {}

    def share(self, start: Start) -> float:
        """The share of the model's multiplications that a pass from there does again; NaN if it has none."""
        work = self._tree.work
        again = sum(done for call, done in work.items() if call >= start.limit or call in start.skip)
        return again / sum(work.values()) if any(work.values()) else float("nan")

    def largest(self, start: Start) -> int:
        """Bytes of the largest value that a pass of the surveyed image from there reads or makes."""
        sizes = self._tree.sizes.items()
        return max((size for call, size in sizes if call >= start.limit or call in start.read), default=0)

    def _look_again(self) -> None:
        """Learn how the output of each call grows with the number of images; what is unclear has none."""
        self._growths = {INPUT_CALL: copies.ITEMS}
        if self.reason is not None:
            return
        once = self._kept
        twice, output = self._trace(copies.spread(self._slice, copies.ITEMS, 2, copies.tile), None, None)
        if twice.names != self._tree.names:
            log.info("two copies of an image take another way through the model than one")
            return
        pairs = {call: (value, self._kept.get(call)) for call, value in once.items()}
        for call, (value, other) in (pairs | {OUTPUT_CALL: (self._reference, output)}).items():
            try:
                self._growths[call] = copies.learn(value, other)
            except ValueError as error:
                log.debug("%s does not grow with the batch: %s", self._name(call), error)

    def _growth(self, call: int) -> Growth | None:
        if call not in self._growths:
            raise ReplayError(f"what {self._name(call)} gives for several images is unclear")
        return self._growths[call]


def alike_detections(found: Any, expected: Any) -> bool:
    """Whether nearly all detections of both sides are on the other side too, image by image."""
    if not isinstance(found, list) or len(found) != len(expected):
        return False
    total = again = 0
    for ours, theirs in zip(found, expected, strict=True):
        total += len(ours["boxes"]) + len(theirs["boxes"])
        again += _found(ours, theirs) + _found(theirs, ours)
    return again >= ALIKE * total


def _found(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> int:
    """How many of our detections have their like among theirs."""
    if not len(ours["boxes"]) or not len(theirs["boxes"]):
        return 0
    near = box_iou(ours["boxes"], theirs["boxes"]) > 0.99
    near |= (ours["boxes"][:, None] - theirs["boxes"]).abs().amax(dim=2) < 0.01
    near &= (ours["scores"][:, None] - theirs["scores"]).abs() < 1e-3
    near &= ours["labels"][:, None] == theirs["labels"]
    return int(near.any(dim=1).sum())
