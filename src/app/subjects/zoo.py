"""Models of torchvision and timm, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError

from torch import nn

from app.errors import UserError
from app.limits import MoreThanNothing, Positive, Weights
from app.subjects.checkpoint import read_weights
from app.subjects.formats import MAX_GIGABYTES, locate
from app.subjects.model import Model, Output, assemble
from app.subjects.preprocess import Preprocess
from app.subjects.weights import fit, tensors_in
from app.tables import read_class_names


def torchvision_model(
    builder: str,
    weights: Weights | Path,
    *,
    weights_key: str | None = None,
    num_classes: Positive | None = None,
    name: str | None = None,
    class_names: str | Sequence[str] | None = None,
    preprocess: Preprocess | Mapping[str, Any] | None = None,
    output: Output = "logits",
    output_key: str | int | None = None,
    allow_unsafe_load: bool = False,
    max_gigabytes: MoreThanNothing = MAX_GIGABYTES,
) -> Model:
    """A classification model of torchvision.

    Args:
        builder: such as ``resnet18``.
        weights: a file, or the name of published weights such as ``DEFAULT`` or ``IMAGENET1K_V1``, which
            torchvision downloads once; those bring their own preprocessing and class names.
        weights_key: which weights of the file, where several fit, such as ``state_dict_ema`` or ``student``.
        num_classes: outputs of the last layer; None takes the number of class names, or ImageNet's 1,000.
        name: None takes the builder's.
        class_names: names of the outputs in training order: a list or a file.
        preprocess: or its fields by name; None takes ImageNet's.
        output: auto, logits, probs or binary (one number an image, the second class's).
        output_key: which of several outputs the class scores are, by name or place.
        allow_unsafe_load: let the file run code if it needs more than tensors.
        max_gigabytes: what a file may hold at most once it is unpacked.

    Raises:
        UserError: an unknown builder, unreadable weights, or weights that do not fit.
    """
    from torchvision import models  # noqa: PLC0415  # takes seconds, which other models need not pay

    names = None if class_names is None else read_class_names(class_names, "model.class_names")

    if builder not in models.list_models(module=models):
        raise UserError(
            _unknown(builder, "torchvision's classification models", models.list_models(module=models))
        )
    published = models.get_model_weights(builder)
    if str(weights) in {"DEFAULT", *published.__members__} and not Path(weights).is_file():
        chosen = published[str(weights)]
        if not chosen.meta["categories"]:
            raise UserError(f"weights {chosen} of {builder} have no classes: they are for features only")
        try:
            module: nn.Module = models.get_model(builder, weights=chosen)
        except (URLError, OSError) as error:
            raise UserError(
                f"weights {chosen} of {builder} cannot be downloaded ({error}): give a file"
            ) from None
        preset = chosen.transforms()
        preprocess = preprocess or Preprocess(
            resize=tuple(preset.resize_size) if len(preset.resize_size) > 1 else preset.resize_size[0],
            crop=preset.crop_size[0],
            mean=tuple(preset.mean),
            std=tuple(preset.std),
            interpolation=preset.interpolation.value,
        )
        return assemble(
            module,
            name or builder,
            class_names=names or chosen.meta["categories"],
            preprocess=preprocess,
            output=output,
            output_key=output_key,
        )
    path = locate(weights, max_gigabytes)
    content = read_weights(path, allow_unsafe_load)
    options: dict[str, Any] = {}
    if builder in {"googlenet", "inception_v3"}:  # trained with or without classifiers beside the main one
        options = {
            "init_weights": False,
            "aux_logits": any("aux" in name.lower() for name in tensors_in(content)),
        }
    wanted = num_classes or (len(names) if names else 1000)
    module = models.get_model(builder, weights=None, num_classes=wanted, **options)
    remedy = f"; model.num_classes is {wanted}" + ("" if num_classes else ", set it to what the file holds")
    notes = fit(module, content, str(path), remedy, weights_key)
    return assemble(
        module,
        name or builder,
        class_names=names,
        preprocess=preprocess,
        output=output,
        output_key=output_key,
        notes=notes,
    )


def timm_model(
    builder: str,
    weights: Weights | Path,
    *,
    weights_key: str | None = None,
    num_classes: Positive | None = None,
    name: str | None = None,
    class_names: str | Sequence[str] | None = None,
    preprocess: Preprocess | Mapping[str, Any] | None = None,
    output: Output = "logits",
    output_key: str | int | None = None,
    allow_unsafe_load: bool = False,
    max_gigabytes: MoreThanNothing = MAX_GIGABYTES,
) -> Model:
    """A classification model of timm, with the preprocessing that timm states for it.

    Args:
        builder: such as ``convnext_tiny``.
        weights: a file, or ``pretrained`` for timm's own, which timm downloads.
        weights_key: which weights of the file, where several fit, such as ``state_dict_ema`` or ``student``.
        num_classes: outputs of the last layer; None takes the number of class names, or what timm's model
            has.
        name: None takes the builder's.
        class_names: names of the outputs in training order: a list or a file.
        preprocess: or its fields by name; None takes what timm states.
        output: auto, logits, probs or binary (one number an image, the second class's).
        output_key: which of several outputs the class scores are, by name or place.
        allow_unsafe_load: let the file run code if it needs more than tensors.
        max_gigabytes: what a file may hold at most once it is unpacked.

    Raises:
        UserError: timm is not installed, an unknown builder, unreadable weights, or weights that do not fit.
    """
    try:
        import timm  # noqa: PLC0415  # optional
    except ImportError:
        raise UserError("model=timm needs the package timm: pip install 'assay[timm]'") from None
    if not timm.is_model(builder.partition(".")[0]):
        raise UserError(_unknown(builder, "timm's models", timm.list_models()))
    names = None if class_names is None else read_class_names(class_names, "model.class_names")
    wanted = num_classes or (len(names) if names else None)
    options = {} if wanted is None else {"num_classes": wanted}
    published = str(weights) == "pretrained"
    path = None if published else locate(weights, max_gigabytes)
    try:
        module: nn.Module = timm.create_model(builder, pretrained=published, **options)
    except (RuntimeError, OSError) as error:
        raise UserError(f"timm cannot make {builder} ({str(error).partition(chr(10))[0]})") from None
    remedy = "" if num_classes else "; set model.num_classes to what the file holds"
    notes = (
        ()
        if path is None
        else fit(module, read_weights(path, allow_unsafe_load), str(path), remedy, weights_key)
    )
    if preprocess is None:
        preprocess = _timm_preprocess(timm.data.resolve_model_data_config, module)
    return assemble(
        module,
        name or builder,
        class_names=names,
        preprocess=preprocess,
        output=output,
        output_key=output_key,
        notes=notes,
    )


def _timm_preprocess(stated_of: Callable[[nn.Module], dict[str, Any]], module: nn.Module) -> Preprocess:
    """Timm states the crop and what share of the resized picture it is."""
    stated = stated_of(module)
    channels, height, width = stated["input_size"]
    share = stated.get("crop_pct", 1.0)
    return Preprocess(
        resize=int(height / share) if height == width else (int(height / share), int(width / share)),
        crop=(height, width),
        mode="L" if channels == 1 else "RGB",
        mean=tuple(stated["mean"]),
        std=tuple(stated["std"]),
        interpolation=stated.get("interpolation", "bicubic"),
    )


def _unknown(builder: str, family: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(builder, known, n=3)
    return f"{builder!r} is none of {family}" + (f"; close are {', '.join(close)}" if close else "")
