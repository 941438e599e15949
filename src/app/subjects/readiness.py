"""What a module must be before it can be tested: without a compiler's freezing, and with values in its parameters."""

from __future__ import annotations

import torch
from torch import nn

from app.errors import UserError


def ready(module: nn.Module, name: str) -> nn.Module:
    """The module in evaluation mode; what `torch.compile` was given in place of what it made.

    Parts of it that are compiled stay where they are and run as they were written, in this process from here on:
    mutants change what the compiler has frozen.

    Args:
        module: the network.
        name: what it is called, for messages.

    Raises:
        UserError: parameters without values: lazy ones, or on the meta device.
    """
    while isinstance(getattr(module, "_orig_mod", None), nn.Module):
        module = module._orig_mod  # type: ignore[assignment]  # a module, as just seen
    held = [*module.parameters(), *module.buffers()]
    if any(map(nn.parameter.is_lazy, held)):
        raise UserError(f"model {name} has lazy layers without weights: give model.weights")
    if any(each.is_meta for each in held):
        raise UserError(
            f"model {name} has parameters on the meta device, which have no values: give model.weights, or make it "
            "without torch.device('meta')"
        )
    if any(hasattr(each, "_orig_mod") or vars(each).get("_compiled_call_impl") for each in module.modules()):
        torch.compiler.set_stance("force_eager")
    return module.eval()
