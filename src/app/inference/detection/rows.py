"""Whole class rows of torchvision's detectors, which themselves give the score of one class only.

For the length of a `with` block a detector's own postprocessing is replaced by one that takes the same steps and
also remembers from which row of the class head each kept detection came; its boxes, scores and labels stay the same
to the bit, and each image's result gets an entry `probs`. What it is: for detectors with a box head and for SSD a
softmax whose class 0 is the background; for RetinaNet one sigmoid a class; for FCOS √(sigmoid · centreness) (each as
the detector itself scores). Results that are NaN or infinite on the way raise, since a threshold would hide them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torchvision.models.detection.fcos import FCOS
from torchvision.models.detection.generalized_rcnn import GeneralizedRCNN
from torchvision.models.detection.retinanet import RetinaNet
from torchvision.models.detection.roi_heads import RoIHeads
from torchvision.models.detection.rpn import RegionProposalNetwork
from torchvision.models.detection.ssd import SSD
from torchvision.ops import boxes as box_ops

Semantics = Literal["softmax_background", "sigmoid"]
Found = tuple[Tensor, Tensor, Tensor, Tensor]
"""Boxes, scores, labels and class rows of one image."""


class NotFiniteError(RuntimeError):
    """A detector's heads gave NaN or infinity."""


@dataclass
class ClassRows:
    """Class rows of one torchvision detector, inside `kept`.

    Attributes:
        detector: the torchvision model, which may be a part of the user's.
        semantics: what its rows are.
    """

    detector: nn.Module
    semantics: Semantics
    _last: list[Tensor] = field(default_factory=list)  # rows of the pass that is under way, one an image

    @contextmanager
    def kept(self) -> Iterator[None]:
        """While active the detector's results carry `probs`; masks and keypoints are not computed."""
        with ExitStack() as undo:
            for owner, name, value in self._replacements():
                _set(owner, name, value, undo)
            yield

    def _replacements(self) -> list[tuple[nn.Module, str, Any]]:
        model = self.detector
        replaced: list[tuple[nn.Module, str, Any]] = [
            (model, "eager_outputs", lambda _, detections: self._with_rows(detections))
        ]
        if isinstance(model, GeneralizedRCNN):
            heads = model.roi_heads
            replaced += [
                (heads, "postprocess_detections", self._from_proposals),
                (heads, "has_mask", lambda: False),
                (heads, "keypoint_roi_pool", None),
            ]
            if isinstance(model.rpn, RegionProposalNetwork):
                replaced.append(
                    (model.rpn, "filter_proposals", _checked_proposals(model.rpn.filter_proposals))
                )
        else:
            ours = self._from_priors if isinstance(model, SSD) else self._from_levels
            replaced.append((model, "postprocess_detections", ours))
        return replaced

    def _with_rows(self, detections: list[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        for each, rows in zip(detections, self._last, strict=True):
            each["probs"] = rows
        self._last = []
        return detections

    def _remember(self, found: list[Found]) -> list[dict[str, Tensor]]:
        self._last = [rows for _, _, _, rows in found]
        return [{"boxes": boxes, "scores": scores, "labels": labels} for boxes, scores, labels, _ in found]

    # -- each in the place of a method of its family ----------------------------------------------------------------

    def _from_proposals(
        self,
        class_logits: Tensor,
        box_regression: Tensor,
        proposals: list[Tensor],
        image_shapes: list[tuple[int, int]],
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Of `RoIHeads`: every class of every proposal is a candidate."""
        _check(class_logits, box_regression)
        heads: Any = self.detector.roi_heads
        counts = [len(each) for each in proposals]
        per_image = zip(
            torch.split(heads.box_coder.decode(box_regression, proposals), counts),
            torch.split(functional.softmax(class_logits, -1), counts),
            image_shapes,
            strict=True,
        )
        found = [_of_proposals(heads, boxes, rows, shape) for boxes, rows, shape in per_image]
        self._last = [rows for _, _, _, rows in found]
        return [each[0] for each in found], [each[1] for each in found], [each[2] for each in found]

    def _from_levels(
        self,
        head_outputs: dict[str, list[Tensor]],
        anchors: list[list[Tensor]],
        image_shapes: list[tuple[int, int]],
    ) -> list[dict[str, Tensor]]:
        """Of `RetinaNet` and `FCOS`: the best candidates of each pyramid level."""
        _check(*(each for outputs in head_outputs.values() for each in outputs))
        return self._remember(
            [
                _of_levels(
                    self.detector,
                    {name: [each[image] for each in outputs] for name, outputs in head_outputs.items()},
                    anchors[image],
                    shape,
                )
                for image, shape in enumerate(image_shapes)
            ]
        )

    def _from_priors(
        self,
        head_outputs: dict[str, Tensor],
        image_anchors: list[Tensor],
        image_shapes: list[tuple[int, int]],
    ) -> list[dict[str, Tensor]]:
        """Of `SSD`: the best candidates of each class."""
        _check(*head_outputs.values())
        per_image = zip(
            head_outputs["bbox_regression"],
            functional.softmax(head_outputs["cls_logits"], dim=-1),
            image_anchors,
            image_shapes,
            strict=True,
        )
        return self._remember([_of_priors(self.detector, *each) for each in per_image])


def find_class_rows(module: nn.Module) -> ClassRows | None:
    """How to get class rows of a model that is, or holds, one torchvision detector with its own postprocessing.

    Returns:
        None for any other model.
    """
    families = (GeneralizedRCNN, RetinaNet, FCOS, SSD)
    inside = [each for each in module.modules() if isinstance(each, families)]
    if len(inside) != 1:
        return None
    (detector,) = inside
    owner = detector.roi_heads if isinstance(detector, GeneralizedRCNN) else detector
    stock = (RoIHeads, RetinaNet, FCOS, SSD)
    if not any(
        type(owner).postprocess_detections is kind.postprocess_detections
        for kind in stock
        if isinstance(owner, kind)
    ):
        return None
    return ClassRows(detector, "sigmoid" if isinstance(detector, RetinaNet | FCOS) else "softmax_background")


def _of_proposals(heads: Any, boxes: Tensor, rows: Tensor, shape: tuple[int, int]) -> Found:
    foreground = rows.shape[1] - 1
    candidates = box_ops.clip_boxes_to_image(boxes, shape)[:, 1:].reshape(-1, 4)
    scores = rows[:, 1:].reshape(-1)
    index = torch.where(scores > heads.score_thresh)[0]
    index = index[box_ops.remove_small_boxes(candidates[index], min_size=1e-2)]
    labels = index % foreground + 1
    keep = box_ops.batched_nms(candidates[index], scores[index], labels, heads.nms_thresh)
    keep = keep[: heads.detections_per_img]
    index = index[keep]
    return candidates[index], scores[index], labels[keep], rows[index // foreground]


def _of_levels(
    model: Any, outputs: dict[str, list[Tensor]], anchors: list[Tensor], shape: tuple[int, int]
) -> Found:
    centred = "bbox_ctrness" in outputs
    decode = model.box_coder.decode if centred else model.box_coder.decode_single
    parts: list[Found] = []
    for level, logits in enumerate(outputs["cls_logits"]):
        rows = torch.sigmoid(logits)
        if centred:
            rows = torch.sqrt(rows * torch.sigmoid(outputs["bbox_ctrness"][level]))
        scores = rows.flatten()
        index = torch.where(scores > model.score_thresh)[0]
        best, order = scores[index].topk(min(len(index), model.topk_candidates))
        index = index[order]
        anchor = torch.div(index, rows.shape[1], rounding_mode="floor")
        boxes = decode(outputs["bbox_regression"][level][anchor], anchors[level][anchor])
        boxes = box_ops.clip_boxes_to_image(boxes, shape)
        parts.append((boxes, best, index % rows.shape[1], rows[anchor]))
    return _suppressed(model, parts)


def _of_priors(
    model: Any, regression: Tensor, rows: Tensor, anchors: Tensor, shape: tuple[int, int]
) -> Found:
    boxes = box_ops.clip_boxes_to_image(model.box_coder.decode_single(regression, anchors), shape)
    parts: list[Found] = []
    for label in range(1, rows.shape[1]):
        index = torch.where(rows[:, label] > model.score_thresh)[0]
        best, order = rows[index, label].topk(min(len(index), model.topk_candidates))
        index = index[order]
        parts.append((boxes[index], best, torch.full_like(index, label), index))
    kept, scores, labels, index = _suppressed(model, parts)
    return kept, scores, labels, rows[index]


def _suppressed(model: Any, parts: list[Found]) -> Found:
    boxes, scores, labels, rows = (torch.cat(column) for column in zip(*parts, strict=True))
    keep = box_ops.batched_nms(boxes, scores, labels, model.nms_thresh)[: model.detections_per_img]
    return boxes[keep], scores[keep], labels[keep], rows[keep]


def _checked_proposals(inner: Callable[..., Any]) -> Callable[..., Any]:
    def filter_proposals(proposals: Tensor, objectness: Tensor, *others: Any) -> Any:
        _check(proposals, objectness)
        return inner(proposals, objectness, *others)

    return filter_proposals


def _check(*values: Tensor) -> None:
    if not all(bool(torch.isfinite(value).all()) for value in values):
        raise NotFiniteError("the detector's heads give NaN or infinity")


def _set(owner: nn.Module, name: str, value: Any, undo: ExitStack) -> None:
    own = vars(owner)
    if name in own:
        undo.callback(own.__setitem__, name, own[name])
    else:
        undo.callback(own.pop, name, None)
    own[name] = value
