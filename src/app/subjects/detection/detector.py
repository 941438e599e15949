"""Detectors: a module that finds boxes, with what is needed to feed it and to read its labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from app.errors import UserError
from app.limits import ModelFile, MoreThanNothing
from app.subjects.formats import MAX_GIGABYTES
from app.subjects.model import digest_of, from_state_dict
from app.subjects.preprocess import Preprocess
from app.subjects.readiness import ready
from app.tables import read_class_names

Mode = Literal["RGB", "L"]

BACKGROUND_NAMES = ("__background__", "background")
"""What a first class of no class is called."""
GAP = "N/A"
"""What a label that is not in use is called."""
WHOLE = Preprocess(resize=None, crop=None, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
"""No preprocessing: detectors do their own."""


@dataclass(frozen=True)
class Detector:
    """A detector under test.

    Its module takes a list of pictures as `to_images` makes them and returns a list of dicts, one a picture,
    with ``boxes`` (K, 4) x1, y1, x2, y2 in pixels of the picture, ``labels`` (K,) and ``scores`` (K,).
    """

    name: str
    """The first half of the subject's name; stays the same when the model is trained again."""
    module: nn.Module
    """In evaluation mode, on the CPU."""
    digest: str
    """SHA-256 of the weights: names, types, shapes and bytes."""
    class_names: tuple[str, ...] | None = None
    """(C,): names of the classes **without** the background; None if unknown."""
    class_labels: tuple[int, ...] | None = None
    """(C,): what the module's output calls each class: 1..C if label 0 is the background, 0..C-1 if there is
    none, with gaps where it has labels that are not in use. None with `class_names`."""
    background: bool = True
    """Whether label 0 of the module is the background; decides the labels where no names are known."""
    mode: Mode = "RGB"
    """Of the pictures that the module takes: three channels, or one."""
    notes: tuple[str, ...] = ()
    """What a reader of the report should know about how the model was loaded."""

    @property
    def shown_input(self) -> str:
        """What is done to a picture, in words."""
        return f"{self.mode}, whole"

    @property
    def shown_output(self) -> str:
        """How labels are read, in words."""
        return "label 0 is the background" if self.background else "labels without a background"

    def to_images(self, pictures: Sequence[Image.Image]) -> list[Tensor]:
        """(C, H, W) float32 in [0, 1] of each picture, at its own size: the module normalises and resizes."""
        return [to_image(picture, self.mode) for picture in pictures]

    def to_classes(self, labels: NDArray[np.integer]) -> NDArray[np.int64]:
        """(K,): indices into the class names for the module's labels; -1 for labels that are no class.

        Without class names, a label minus one if there is a background, else the label itself.
        """
        given = np.asarray(labels, dtype=np.int64)
        if self.class_labels is None:
            return np.maximum(given - int(self.background), -1)
        known = np.array(self.class_labels, dtype=np.int64)
        order = np.argsort(known)
        place = np.minimum(np.searchsorted(known[order], given), len(known) - 1)
        return np.where(known[order[place]] == given, order[place], -1)


def to_image(picture: Image.Image, mode: Mode = "RGB") -> Tensor:
    """(C, H, W) float32 in [0, 1] of a picture."""
    pixels = np.array(picture.convert(mode), dtype=np.uint8)
    channels = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    return torch.from_numpy(np.ascontiguousarray(channels)).float() / 255


def detector(
    module: nn.Module,
    name: str,
    *,
    class_names: str | Sequence[str] | None = None,
    background: bool = True,
    mode: Mode = "RGB",
    notes: Sequence[str] = (),
) -> Detector:
    """The detector made of a loaded module, which is put in evaluation mode.

    Args:
        module: the network, its weights loaded.
        name: letters and digits, without ``@``.
        class_names: in training order, or a file of them. One called ``__background__`` (first) or ``N/A`` holds the
            place of a label that is no class; if the first is a background, names are numbered from it as label 0.
        background: whether label 0 is the background, so that the first name that is none is label 1.
        mode: RGB or L.
        notes: remarks for the report.

    Raises:
        UserError: a bad name or mode, or repeated, empty or no class names.
    """
    if not name or "@" in name:
        raise UserError(f"model.name must not be empty nor hold '@': {name!r}")
    if mode not in get_args(Mode):
        raise UserError(f"model.mode must be RGB or L, not {mode!r}")
    names, labels = _classes(class_names, background)
    module = ready(module, name)
    return Detector(name, module, digest_of(module), names, labels, background, mode, tuple(notes))


def detector_state_dict(
    factory: nn.Module | Callable[[], nn.Module],
    weights: ModelFile | Path | None,
    *,
    weights_key: str | None = None,
    name: str | None = None,
    class_names: str | Sequence[str] | None = None,
    background: bool = True,
    mode: Mode = "RGB",
    allow_unsafe_load: bool = False,
    max_gigabytes: MoreThanNothing = MAX_GIGABYTES,
) -> Detector:
    """The detector of a factory and a file of weights: a state_dict, a Lightning checkpoint or safetensors.

    Args:
        factory: the module itself or what makes it when called without arguments; any module that returns
            detections as torchvision's do.
        weights: the file; None keeps the weights that the factory gives, which then is noted.
        weights_key: which weights of the file, where several fit, such as ``state_dict_ema`` or ``student``.
        name: None takes the module's class name.
        class_names: in training order (or a file); a first ``__background__`` and gaps called ``N/A`` are understood.
        background: whether label 0 is the background.
        mode: of the pictures that the module takes, RGB or L.
        allow_unsafe_load: let the file run code if it needs more than tensors.
        max_gigabytes: what a file may hold at most once it is unpacked.

    Raises:
        UserError: a factory that makes no module, a file that cannot be read, or weights that do not fit.
    """
    loaded = from_state_dict(
        factory,
        weights,
        weights_key=weights_key,
        name=name,
        preprocess=WHOLE,
        allow_unsafe_load=allow_unsafe_load,
        max_gigabytes=max_gigabytes,
    )
    return detector(
        loaded.module,
        loaded.name,
        class_names=class_names,
        background=background,
        mode=mode,
        notes=loaded.notes,
    )


def _classes(
    given: str | Sequence[str] | None, background: bool
) -> tuple[tuple[str, ...] | None, tuple[int, ...] | None]:
    """Names of the classes and what the module calls them."""
    if given is None:
        return None, None
    listed = read_class_names(given, "model.class_names", unique=False)
    counted_from = int(background)
    if listed and listed[0] in BACKGROUND_NAMES:
        if not background:
            raise UserError(
                f"model.class_names begins with {listed[0]!r}, but model.background is false: drop one of them"
            )
        counted_from = 0
    kept = [
        (name, counted_from + i)
        for i, name in enumerate(listed)
        if name != GAP and (i or name not in BACKGROUND_NAMES)
    ]
    names = [name for name, _ in kept]
    if not names:
        raise UserError("model.class_names names no class: give one name a class, or null")
    for name in names:
        if not name or names.count(name) > 1:
            raise UserError(f"model.class_names must be different and not empty, but holds {name!r}")
    return tuple(names), tuple(label for _, label in kept)
