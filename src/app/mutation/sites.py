"""Where a stochastic operator acts when nobody names a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from torch import nn

from app.errors import UserError
from app.mutation.mutant import ROOT, Value
from app.mutation.targets import Layers, Targets, is_a

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
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
    """Where `mc_dropout` acts: by `auto` its own dropout layers, else what enters its last linear layer.

    Dropout layers with rate 0 do not count: no dropout happened there in training.

    Raises:
        UserError: TorchScript, a pattern that matches nothing, or a model with neither kind of layer.
    """
    if site != "auto":
        return _named(targets, site)
    targets.refuse_script("activations")
    own = [
        name for name, module in _plain(targets) if is_a(module, *_DROPOUTS) and getattr(module, "p", 0) > 0
    ]
    if own:
        return Place(tuple(own), "output", _label(own, "dropout"))
    linear = [name for name, module in _plain(targets) if is_a(module, nn.Linear)]
    if not linear:
        raise UserError("the model has no dropout and no linear layer; name a module in site for mc_dropout")
    return Place((linear[-1],), "input", linear[-1] or ROOT)


def block_place(targets: Targets, site: Layers) -> Place:
    """Where `mc_dropblock` acts: by `auto` what comes out of the last convolution.

    Raises:
        UserError: TorchScript, a pattern that matches nothing, or a model without convolutions.
    """
    if site != "auto":
        return _named(targets, site)
    targets.refuse_script("activations")
    convolutions = [name for name, module in _plain(targets) if is_a(module, *_CONVOLUTIONS)]
    if not convolutions:
        raise UserError("the model has no convolution; name a module in site for mc_dropblock")
    return Place((convolutions[-1],), "output", convolutions[-1] or ROOT)


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
