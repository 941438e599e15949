"""Where activation traces and embeddings are taken: what goes into the last linear layer, or modules by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn

from app.errors import UserError
from app.inference.bank import Classifier
from app.inference.batches import Images, limits_of


@dataclass(frozen=True)
class Layers:
    """Where traces are taken."""

    names: tuple[str, ...]
    """Dotted module names; empty if the model shows no activations."""
    inputs: bool
    """Whether what goes in is taken rather than what comes out."""

    @property
    def words(self) -> str:
        """What a report says about them."""
        if not self.names:
            return "none"
        return ("the input of " if self.inputs else "") + ", ".join(self.names)


def find_layers(classifier: Classifier, images: Images, wanted: str | None = None) -> Layers:
    """The layers whose activations are the traces.

    Without a wish it is the last hidden layer: what goes into the last linear layer that runs; in a model without
    linear layers, what comes out of the last module with parameters but one.

    Args:
        classifier: the model.
        images: one of them is run to see which modules are called.
        wanted: a module's dotted name, or a pattern such as `features.*.conv`; several modules are put side by side.

    Raises:
        UserError: no module that runs has that name.
    """
    module = classifier.module
    called: dict[str, nn.Module] = {}

    def note(name: str) -> Callable[[nn.Module, Any, Any], None]:
        return lambda each, _, output: called.update({name: each}) if isinstance(output, Tensor) else None

    hooks = [
        child.register_forward_hook(note(name))
        for name, child in module.named_modules()
        if name and not isinstance(child, torch.jit.ScriptModule)
    ]
    try:
        with torch.no_grad():
            module(classifier.to_batch([images.load(0)] * limits_of(module)[0]))
    finally:
        for hook in hooks:
            hook.remove()
    if wanted is not None:
        names = tuple(name for name in called if fnmatchcase(name, wanted))
        if not names:
            there = ", ".join(list(called)[-8:]) or "none of its modules can be looked into"
            raise UserError(
                f"task.layer={wanted} is no module of the model that runs; the last ones are: {there}"
            )
        return Layers(names, inputs=False)
    linear = [name for name, each in called.items() if isinstance(each, nn.Linear)]
    if linear:
        return Layers((linear[-1],), inputs=True)
    owners = [name for name, each in called.items() if any(True for _ in each.parameters(recurse=False))]
    return Layers(tuple(owners[-2:-1]), inputs=False)
