"""Detectors of torchvision, by name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError

from torch import nn

from app.errors import UserError
from app.limits import MoreThanNothing, Positive, Weights
from app.subjects.checkpoint import read_weights
from app.subjects.detection.detector import BACKGROUND_NAMES, Detector, detector
from app.subjects.formats import MAX_GIGABYTES, locate
from app.subjects.weights import fit
from app.tables import read_class_names

_OWN_OPTIONS = {"weights", "weights_backbone", "num_classes", "progress"}
"""Arguments of the builders that have a key of their own here or are fixed."""
_COCO_OUTPUTS = 91
"""Classes of torchvision's published detectors, with the background and gaps."""


def detector_torchvision(
    builder: str,
    weights: Weights | Path,
    *,
    weights_key: str | None = None,
    num_classes: Positive | None = None,
    name: str | None = None,
    class_names: str | Sequence[str] | None = None,
    background: bool = True,
    options: Mapping[str, Any] | None = None,
    allow_unsafe_load: bool = False,
    max_gigabytes: MoreThanNothing = MAX_GIGABYTES,
) -> Detector:
    """A detector of torchvision: Faster R-CNN, Mask R-CNN, RetinaNet, FCOS, SSD or SSDlite.

    Args:
        builder: such as ``fasterrcnn_mobilenet_v3_large_320_fpn``.
        weights: a file of a state_dict, or the name of published weights such as ``DEFAULT`` or ``COCO_V1``,
            which torchvision downloads once and which bring their class names.
        weights_key: which weights of the file, where several fit, such as ``state_dict_ema`` or ``student``.
        num_classes: as torchvision counts them, with the background if there is one; None takes the class
            names, or the 91 of COCO.
        name: None takes the builder's.
        class_names: in training order (or a file); a first ``__background__`` and gaps called ``N/A`` are understood.
        background: whether label 0 is the background; RetinaNet and FCOS can be trained without.
        options: of the builder, such as ``min_size``, ``box_score_thresh`` (R-CNN) or ``score_thresh``
            (the others).
        allow_unsafe_load: let the file run code if it needs more than tensors.
        max_gigabytes: what a file may hold at most once it is unpacked.

    Raises:
        UserError: an unknown builder or option, unreadable weights, or weights that do not fit.
    """
    from torchvision import models  # noqa: PLC0415  # takes seconds, which other subjects need not pay

    known = [each for each in models.list_models(module=models.detection) if not each.startswith("keypoint")]
    if builder not in known:
        close = difflib.get_close_matches(builder, known, n=3) or known
        raise UserError(f"{builder!r} is none of torchvision's detectors; known are {', '.join(close)}")
    listed = None if class_names is None else read_class_names(class_names, "model.class_names", unique=False)
    chosen_options = dict(options or {})
    taken = sorted(_OWN_OPTIONS & set(chosen_options))
    if taken:
        raise UserError(f"model.options must not hold {', '.join(taken)}: use the model's own keys")
    published = models.get_model_weights(builder)
    if str(weights) in {"DEFAULT", *published.__members__} and not Path(weights).is_file():
        chosen = published[str(weights)]
        try:
            module = _made(models, builder, chosen_options, weights=chosen)
        except (URLError, OSError) as error:
            raise UserError(
                f"weights {chosen} of {builder} cannot be downloaded ({error}): give a file"
            ) from None
        names = listed or chosen.meta["categories"]
        return detector(module, name or builder, class_names=names, background=background)
    path = locate(weights, max_gigabytes)
    wanted = num_classes or _outputs(listed, background)
    module = _made(models, builder, chosen_options, weights=None, weights_backbone=None, num_classes=wanted)
    remedy = f"; model.num_classes is {wanted}" + ("" if num_classes else ", set it to what the file holds")
    notes = fit(module, read_weights(path, allow_unsafe_load), str(path), remedy, weights_key)
    made = detector(module, name or builder, class_names=listed, background=background, notes=notes)
    if made.class_labels is not None and max(made.class_labels) >= wanted:
        raise UserError(
            f"model.class_names goes up to label {max(made.class_labels)}, but model.num_classes is {wanted}, "
            f"{'with' if background else 'without'} a background"
        )
    return made


def _outputs(class_names: Sequence[str] | None, background: bool) -> int:
    if not class_names:
        return _COCO_OUTPUTS
    return len(class_names) + int(background and class_names[0] not in BACKGROUND_NAMES)


def _made(models: Any, builder: str, options: Mapping[str, Any], **fixed: Any) -> nn.Module:
    try:
        module: nn.Module = models.get_model(builder, **fixed, **options)
    except (TypeError, ValueError) as error:
        raise UserError(f"model.options do not fit {builder} ({str(error).partition(chr(10))[0]})") from None
    # The builders swallow names that they do not know.
    classes = [each for each in type(module).__mro__ if each not in (nn.Module, object)]
    known = {name for each in classes for name in _parameters(each)}
    unknown = sorted(set(options) - known - _parameters(models.get_model_builder(builder)))
    if unknown:
        close = difflib.get_close_matches(unknown[0], sorted(known), n=3)
        hint = f"; close are {', '.join(close)}" if close else ""
        raise UserError(f"model.options holds {', '.join(unknown)}, which {builder} does not take{hint}")
    return module


def _parameters(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters) - {"self", "args", "kwargs"}
