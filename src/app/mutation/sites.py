"""Where a stochastic operator acts when nobody names a module: by itself, or at the `head` or `fpn` of a detector.

torchvision's detectors have two places of their own. `head` is what decides about boxes and classes: the linear
layers of the box head; the towers of RetinaNet (each block) and of FCOS (each ReLU); the ReLUs of fc6 and fc7 in the
last part of SSD300's backbone; the first block of each of SSDlite's predictors. DropBlock needs maps, so in a box head
it takes the convolutions, or without any the pooled 7 x 7 maps that go in. `fpn` is the pyramid: what comes out of
each of its inner and layer blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from torch import nn

from app.errors import UserError
from app.mutation.mutant import ROOT, Value
from app.mutation.targets import Layers, Targets, is_a

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
_TORCHVISION = "torchvision.models.detection."
_AUXILIARY = re.compile(r"(^|\.)aux", re.IGNORECASE)  # classifiers beside the main one run in training only


@dataclass(frozen=True)
class Place:
    """The modules a stochastic operator perturbs together."""

    sites: tuple[str, ...]
    """Dotted module names."""
    position: Literal["output", "input"]
    """Whether it perturbs what comes out of them or what goes in."""
    label: str
    """What a report shows."""

    @property
    def params(self) -> dict[str, Value]:
        """What a mutant's parameters say about it: the position, where it is not the output."""
        return {"position": "input"} if self.position == "input" else {}


def dropout_place(targets: Targets, site: Layers) -> Place:
    """Where `mc_dropout` acts: by `auto` its own dropout layers, else a detector's head, else its last linear layer.

    Of a linear layer it is what goes in. Dropout layers with rate 0 do not count: no dropout happened there in
    training.

    Raises:
        UserError: TorchScript, a pattern that matches nothing, or a model with neither kind of layer.
    """
    detector = _detector(targets)
    if site in ("head", "fpn") and detector is not None:
        return _of_detector(detector, str(site), maps=False)
    if site != "auto":
        return _named(targets, site)
    targets.refuse_script("activations")
    own = [
        name for name, module in _plain(targets) if is_a(module, *_DROPOUTS) and getattr(module, "p", 0) > 0
    ]
    if own:
        return Place(tuple(own), "output", _label(own, "dropout"))
    if detector is not None:
        return _of_detector(detector, "head", maps=False)
    linear = [name for name, module in _plain(targets) if is_a(module, nn.Linear)]
    if not linear:
        raise UserError("the model has no dropout and no linear layer; name a module in site for mc_dropout")
    return Place((linear[-1],), "input", linear[-1] or ROOT)


def block_place(targets: Targets, site: Layers) -> Place:
    """Where `mc_dropblock` acts: by `auto` a detector's head, else what comes out of the last convolution.

    Raises:
        UserError: TorchScript, a pattern that matches nothing, or a model without convolutions.
    """
    detector = _detector(targets)
    if detector is not None and (site in ("auto", "head", "fpn")):
        return _of_detector(detector, "fpn" if site == "fpn" else "head", maps=True)
    if site != "auto":
        return _named(targets, site)
    targets.refuse_script("activations")
    convolutions = [name for name, module in _plain(targets) if is_a(module, *_CONVOLUTIONS)]
    if not convolutions:
        raise UserError("the model has no convolution; name a module in site for mc_dropblock")
    return Place((convolutions[-1],), "output", convolutions[-1] or ROOT)


@dataclass(frozen=True)
class _Detector:
    """A torchvision detector that a model is, or holds."""

    name: str
    """Its own dotted name in the model; empty if it is the model."""
    module: nn.Module
    """It."""

    def inside(self, name: str) -> nn.Module | None:
        """A module of it, None where it has none of that name."""
        try:
            return self.module.get_submodule(name)
        except AttributeError:
            return None

    def children(self, name: str, *types: type[nn.Module]) -> list[str]:
        """Dotted names in the detector of a module's children, of some types only if any are given."""
        parent = self.inside(name)
        children = () if parent is None else parent.named_children()
        return [f"{name}.{child}" for child, module in children if not types or isinstance(module, types)]


def _family(module: nn.Module) -> str | None:
    """The class of torchvision's detectors that a module is of, None for any other."""
    bases = (kind for kind in type(module).__mro__ if kind.__module__.startswith(_TORCHVISION))
    return next((kind.__name__ for kind in bases if kind.__name__ in _HEADS), None)


def _detector(targets: Targets) -> _Detector | None:
    found = [_Detector(name, module) for name, module in targets.modules.items() if _family(module)]
    return found[0] if len(found) == 1 else None


def _of_detector(detector: _Detector, place: str, *, maps: bool) -> Place:
    family = str(_family(detector.module))
    if place == "fpn":
        sites = detector.children("backbone.fpn.inner_blocks") + detector.children(
            "backbone.fpn.layer_blocks"
        )
        remedy = "it has no module backbone.fpn; say head, or name its modules"
    else:
        sites = _HEADS[family](detector, maps)
        remedy = "it has another head than torchvision's; name its modules"
    if not sites:
        raise UserError(f"site={place} is not known of this {family}: {remedy}")
    return Place(tuple(f"{detector.name}.{site}".lstrip(".") for site in sites), "output", place)


def _box_head(detector: _Detector, maps: bool) -> list[str]:
    name = "roi_heads.box_head"
    if not maps:
        return detector.children(name, nn.Linear)
    # torchvision's block of a convolution, its norm and its activation is a sequence
    blocks = detector.children(name, nn.Sequential, *_CONVOLUTIONS)
    pooled = [] if detector.inside("roi_heads.box_roi_pool") is None else ["roi_heads.box_roi_pool"]
    return blocks or pooled


def _towers(*types: type[nn.Module]) -> Callable[[_Detector, bool], list[str]]:
    """What each step of both towers gives, of some types only if any are given."""

    def found(detector: _Detector, _: bool) -> list[str]:
        parts = ("head.classification_head.conv", "head.regression_head.conv")
        return [name for part in parts for name in detector.children(part, *types)]

    return found


def _predictors(detector: _Detector, _: bool) -> list[str]:
    """SSDlite's predictors begin with a block of their own; SSD's are single convolutions after fc6 and fc7."""
    lists = ("head.classification_head.module_list", "head.regression_head.module_list")
    blocks = [
        name for each in lists for part in detector.children(each) for name in detector.children(part)[:1]
    ]
    last = detector.children("backbone.extra.0")[-1:]
    return blocks or [name for part in last for name in detector.children(part, nn.ReLU)]


_HEADS: dict[str, Callable[[_Detector, bool], list[str]]] = {
    "GeneralizedRCNN": _box_head,
    "RetinaNet": _towers(),
    "FCOS": _towers(nn.ReLU),
    "SSD": _predictors,
}
"""How to find the head of each family: from the detector and whether only maps will do."""


def _named(targets: Targets, site: Layers) -> Place:
    if site is None:
        raise ValueError("site must be auto, a module name, a pattern, or several")
    targets.refuse_script("activations")
    found = targets.resolve(site, targets.modules, "module")
    outer = [name for name in found if not any(other != name and _inside(name, other) for other in found)]
    return Place(tuple(outer), "output", _label(outer, site if isinstance(site, str) else "+".join(site)))


def _label(sites: list[str], group: str) -> str:
    return (sites[0] or ROOT) if len(sites) == 1 else group


def _inside(name: str, outer: str) -> bool:
    return not outer or name.startswith(f"{outer}.")


def _plain(targets: Targets) -> Iterator[tuple[str, nn.Module]]:
    """Modules that run as modules: fused attention reads the weights of its parts and never calls them."""
    fused = [
        name
        for name, module in targets.modules.items()
        if is_a(module, nn.MultiheadAttention, nn.TransformerEncoderLayer)
    ]
    for name, module in targets.modules.items():
        inside = any(name != outer and _inside(name, outer) for outer in fused)
        if not inside and not _AUXILIARY.search(name):
            yield name, module
