"""Grad-CAM: where in a picture a classifier finds what it says (Selvaraju et al., ICCV 2017, equations 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from app.inference.batches import limits_of
from app.inference.scores import PLAIN, Scores

FINE = 4
"""A layer with at least so many places each way is preferred to a coarser one behind it."""
EXTRA_TOKENS = 5
"""Tokens before the patches, at most: the class token, registers."""


class NoMaps(Exception):  # noqa: N818  # it is a property of a model, which a report tells, rather than a failure
    """No map can be made; the message says why, as a sentence."""


@dataclass(frozen=True)
class Maps:
    """Where the network finds the classes asked for."""

    layer: str
    """The module whose output was weighed."""
    maps: NDArray[np.float32]
    """(B, h, w) in [0, 1]: 1 at each picture's strongest place; all 0 where nothing speaks for the class."""


@dataclass
class _Calls:
    """Outputs that may hold places, in the order of the calls."""

    outputs: list[tuple[str, Tensor]] = field(default_factory=list)
    """Name of the module, and its output as it was before anything later changed it."""
    grids: list[tuple[int, int]] = field(default_factory=list)
    """Heights and widths of all outputs that were pictures."""


def gradcam(
    module: nn.Module,
    x: Tensor,
    classes: Sequence[int],
    *,
    read: Scores = PLAIN,
    layer: str | None = None,
    probabilities: bool = False,
) -> Maps:
    """Grad-CAM of one class for each picture.

    Outputs of convolutions have a map each channel; of transformers the patch tokens are laid out as they came,
    tokens before them are left out. An in-place activation behind the layer works on a copy.

    Args:
        module: the network, in eval mode; it and its parameters' gradients stay as they are.
        x: (B, C, H, W) preprocessed pictures.
        classes: (B,) the class to explain in each.
        read: reads the class scores from what the network gives back.
        layer: the module; None takes the last one whose places the scores depend on.
        probabilities: whether the network gives probabilities; their logarithm is explained, which does not
            vanish where they are near 1.

    Raises:
        NoMaps: no such layer, or one without places.
    """
    low, high = limits_of(module)
    if len(x) < low or (high is not None and len(x) > high):
        size = max(low, 1) if high is None else high
        options = {"read": read, "layer": layer, "probabilities": probabilities}
        return _in_pieces(module, x, classes, size, options)
    named = dict(module.named_modules())
    if layer is not None and layer not in named:
        raise NoMaps(f"the model has no layer {layer}")
    watched = named if layer is None else {name: child for name, child in named.items() if name == layer}
    calls = _Calls()
    device = next((parameter.device for parameter in module.parameters()), x.device)
    try:
        with torch.enable_grad(), _watching(watched if layer is None else named, set(watched), calls):
            scores = read(module(x.to(device).clone().requires_grad_().clone()))
            if probabilities:
                scores = scores.clamp_min(1e-12).log()
            rows = torch.arange(len(scores), device=scores.device)
            score = scores[rows, torch.as_tensor(list(classes), device=scores.device)].sum()
            outputs = [output for _, output in calls.outputs if output.requires_grad]
            names = [name for name, output in calls.outputs if output.requires_grad]
            gradients = torch.autograd.grad(score, outputs, allow_unused=True) if outputs else ()
    except NoMaps:
        raise
    except Exception as error:
        line = " ".join(str(error).split())[:160] or type(error).__name__
        raise NoMaps(f"the model does not let gradients be taken at its layers ({line})") from error
    found = [
        (name, places, slopes)
        for name, output, gradient in zip(names, outputs, gradients, strict=True)
        if gradient is not None
        and (places := _places(output.detach(), calls.grids)) is not None
        and (slopes := _places(gradient, calls.grids)) is not None
    ]
    moving = [each for each in found if layer is not None or bool(each[2].any())]
    if not moving:
        where = f"layer {layer}" if layer is not None else "no layer of the model"
        said = "has no places" if layer is not None else "has places that the class scores depend on"
        raise NoMaps(f"{where} {said}")
    fine = [each for each in moving if min(each[1].shape[2:]) >= FINE]
    name, places, slopes = (fine or moving)[-1]
    weights = slopes.mean(dim=(2, 3), keepdim=True)
    maps = (weights * places).sum(dim=1).clamp_min(0)
    peak = maps.amax(dim=(1, 2), keepdim=True)
    maps = torch.where(peak > 0, maps / peak.clamp_min(1e-30), 0.0)
    return Maps(name, maps.float().cpu().numpy())


def _in_pieces(
    module: nn.Module, x: Tensor, classes: Sequence[int], size: int, options: dict[str, Any]
) -> Maps:
    """The same of a model that takes just so many pictures at once; the last one is repeated to fill up."""
    found = []
    for first in range(0, len(x), size):
        part, wanted = x[first : first + size], list(classes[first : first + size])
        lacking = size - len(part)
        whole = torch.cat([part, part[-1:].expand(lacking, -1, -1, -1)])
        maps = gradcam(module, whole, wanted + wanted[-1:] * lacking, **options)
        options = {**options, "layer": maps.layer}
        found.append(maps)
    return Maps(found[0].layer, np.concatenate([each.maps[:size] for each in found])[: len(x)])


def _places(tensor: Tensor, grids: Sequence[tuple[int, int]]) -> Tensor | None:
    """(B, D, h, w) of an output with at least two places each way; None if it has none."""
    if tensor.dim() == 4:
        return tensor if min(tensor.shape[2:]) >= 2 else None
    if tensor.dim() != 3:
        return None
    tokens = tensor.shape[1]
    side = int(np.sqrt(tokens))
    for height, width in [*reversed(grids), (side, side)]:
        if height * width <= tokens <= height * width + EXTRA_TOKENS and min(height, width) >= 2:
            patches = tensor[:, tokens - height * width :]
            return patches.transpose(1, 2).reshape(len(tensor), -1, height, width)
    return None


@contextmanager
def _watching(modules: dict[str, nn.Module], wanted: set[str], calls: _Calls) -> Iterator[None]:
    def look(name: str) -> Callable[..., Any]:
        def hook(_: nn.Module, __: Any, output: Any) -> Any:
            if not isinstance(output, Tensor) or output.dim() not in {3, 4}:
                return None
            if output.dim() == 4:
                calls.grids.append((output.shape[2], output.shape[3]))
            if name not in wanted or not output.is_floating_point():
                return None
            calls.outputs.append((name, output))
            return output.clone()  # what follows may write into this one

        return hook

    handles = [child.register_forward_hook(look(name)) for name, child in modules.items() if name]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
