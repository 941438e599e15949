"""Stochastic mutants of detectors, whose modules see rows of images and rows of proposals.

A mask belongs to (seed, mutant, site, call, image, repetition), and inside a box head to the proposal's place among
those of its image too, so it is the same whatever else is in the batch. Which rows a tensor has is told by where its
module is and not by their number, which can be equal by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torchvision.models.detection.roi_heads import RoIHeads

from app.mutation.mutant import Mutant
from app.mutation.overlay import Rows, perturbing, stand_in

PROPOSAL = 2**32
"""A proposal's place among those of its image counts in this unit, beside the number of the image."""


@contextmanager
def perturbed(mutant: Mutant, module: nn.Module, rows: Rows) -> Iterator[None]:
    """The detector behaves as the stochastic mutant inside the block; afterwards it is as it was.

    Args:
        mutant: of a stochastic operator.
        module: the detector.
        rows: image and repetition of each entry of the list that goes in.

    Raises:
        RuntimeError: from the forward, when a site's tensor has neither a row an image nor, inside a box head, a row
            a proposal.
    """
    heads = [name for name, each in module.named_modules() if isinstance(each, RoIHeads)]
    seen = dict.fromkeys(heads, rows)  # with the proposals of the pass that is under way
    with ExitStack() as undo:
        for name in heads:
            if any(site.startswith(f"{name}.") for site in mutant.sites):
                submodule = module.get_submodule(name)
                stand_in(submodule, _watched(name, submodule.forward, rows, seen), undo)
        for site in mutant.sites:
            within = next((name for name in heads if site.startswith(f"{name}.")), None)
            submodule = module.get_submodule(site)
            current = _current(rows, seen, within)
            stand_in(submodule, perturbing(mutant, site, submodule.forward, current), undo)
        yield


def of_proposals(rows: Rows, counts: Sequence[int]) -> Rows:
    """What each proposal's row is.

    Args:
        rows: what the images are.
        counts: proposals of each image.
    """
    device = rows.cases.device
    number = torch.tensor(counts, dtype=torch.int64, device=device)
    owner = torch.repeat_interleave(torch.arange(len(counts), device=device), number)
    place = torch.arange(len(owner), device=device) - (number.cumsum(0) - number)[owner]
    return Rows(rows.cases[owner] + place * PROPOSAL, rows.repetitions[owner])


def _watched(name: str, inner: Callable[..., Any], rows: Rows, seen: dict[str, Rows]) -> Callable[..., Any]:
    def forward(features: Any, proposals: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        seen[name] = of_proposals(rows, [len(each) for each in proposals])
        return inner(features, proposals, *args, **kwargs)

    return forward


def _current(rows: Rows, seen: dict[str, Rows], within: str | None) -> Callable[[], Rows]:
    """What the rows of a site inside some box head (or outside of all) are at the moment."""
    return lambda: rows if within is None else seen[within]
