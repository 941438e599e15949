"""Checkpoints: reading what torch.save wrote without running it, and fitting weights to a module."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from app.errors import UserError
from app.subjects.formats import Format, recognise

Weights = Mapping[str, Tensor]

_GLOBAL = re.compile(r"GLOBAL (\S+)")
"""How torch names what it refused."""
_HOLDERS = ("state_dict", "model_state_dict", "model", "net", "weights")
"""Keys under which training scripts keep the weights: Lightning's first, then common ones."""


def read_checkpoint(path: Path, allow_unsafe_load: bool = False) -> Any:
    """The object in a file of torch.save, on the CPU.

    Args:
        path: a file that `recognise` calls a pickle.
        allow_unsafe_load: let the file run code of its own where it needs more than tensors and plain
            containers.

    Raises:
        UserError: the file is damaged, or it needs globals that are not safe and that was not allowed.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if not allow_unsafe_load:
            raise UserError(_refusal(path, str(error))) from None
    except Exception as error:  # damaged files make torch raise almost anything
        raise UserError(_damage(path, error)) from None
    try:
        return torch.load(path, map_location="cpu", weights_only=False)
    except Exception as error:  # unpickling runs the file's own code, which may raise anything
        raise UserError(_damage(path, error)) from None


def read_weights(path: Path, allow_unsafe_load: bool = False) -> Weights:
    """The tensors by name in a checkpoint or safetensors file.

    Raises:
        UserError: the file holds something else, with what to use instead.
    """
    match recognise(path):
        case Format.PICKLE:
            weights = weights_in(read_checkpoint(path, allow_unsafe_load))
            if weights is None:
                raise UserError(f"{path} holds no state_dict (a mapping of names to tensors)")
            return weights
        case Format.SAFETENSORS:
            return _read_safetensors(path)
        case other:
            raise UserError(
                f"{path} is {other.value}, which needs no factory: use model=file model.path={path}"
            )


def weights_in(content: object) -> Weights | None:
    """The state_dict that an object read from a checkpoint is or holds; None if there is none."""
    if isinstance(content, nn.Module):
        return content.state_dict()
    if not isinstance(content, Mapping):
        return None
    if content and all(isinstance(key, str) for key in content):
        tensors = {key: value for key, value in content.items() if isinstance(value, Tensor)}
        if len(tensors) == len(content):
            return tensors if type(content) is dict else content
    for holder in _HOLDERS:
        inner = content.get(holder)
        if isinstance(inner, (Mapping, nn.Module)):
            return weights_in(inner)
    return None


def fit(module: nn.Module, weights: Weights, source: str, remedy: str = "") -> tuple[str, ...]:
    """Loads weights into a module; what had to be done to make them fit comes out, as notes.

    One common prefix, such as Lightning's ``model.``, is stripped when exactly that makes the names fit.

    Args:
        module: where the weights go.
        weights: tensors by name.
        source: what messages call the weights, usually their path.
        remedy: what a message adds if shapes differ.

    Raises:
        UserError: missing or unexpected names, or other shapes.
    """
    notes: tuple[str, ...] = ()
    expected = module.state_dict()
    prefix = _prefix(weights, expected)
    if prefix:
        left_out = [name for name in weights if not name.startswith(prefix)]
        weights = {
            name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)
        }
        notes = (
            f"weights were stored below '{prefix}'" + (f"; left out {_some(left_out)}" if left_out else ""),
        )
    unlike = [
        f"{name} is {tuple(value.shape)} in the file and {tuple(expected[name].shape)} in the module"
        for name, value in weights.items()
        if name in expected
        and not nn.parameter.is_lazy(expected[name])
        and tuple(value.shape) != tuple(expected[name].shape)
    ]
    if unlike:
        raise UserError(f"{source} does not fit {type(module).__name__}: {_some(unlike, '; ')}{remedy}")
    try:
        result = module.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise UserError(f"{source} does not fit {type(module).__name__}: {_one_line(error)}") from None
    # Batch norms of old checkpoints have no counter of batches; nothing reads it in evaluation.
    missing = [name for name in result.missing_keys if not name.endswith("num_batches_tracked")]
    if missing or result.unexpected_keys:
        parts = [f"it lacks {_some(missing)}"] if missing else []
        parts += [f"it has {_some(result.unexpected_keys)} too many"] if result.unexpected_keys else []
        raise UserError(
            f"{source} does not fit {type(module).__name__}: {' and '.join(parts)}; "
            "give the factory that these weights were trained with"
        )
    return notes


def _prefix(weights: Weights, expected: Weights) -> str:
    """The one prefix that turns the stored names into the expected ones; empty if none is needed or helps."""
    if not expected or set(weights) == set(expected):
        return ""
    first = next(iter(expected))
    for name in weights:
        prefix = name.removesuffix(first)
        if name.endswith("." + first) and {prefix + key for key in expected} == {
            key for key in weights if key.startswith(prefix)
        }:
            return prefix
    return ""


def _read_safetensors(path: Path) -> Weights:
    try:
        safetensors = import_module("safetensors.torch")
    except ImportError:
        raise UserError(f"{path} is a safetensors file, which needs: pip install safetensors") from None
    weights: Weights = safetensors.load_file(str(path))
    return weights


def _refusal(path: Path, reason: str) -> str:
    try:
        names = sorted(torch.serialization.get_unsafe_globals_in_checkpoint(path))
    except (ValueError, RuntimeError, EOFError, pickle.UnpicklingError):
        names = sorted(set(_GLOBAL.findall(reason)))
    what = f"needs {_some(names)}" if names else f"cannot be read safely ({_one_line(reason)})"
    return (
        f"{path} {what}, beyond tensors and plain containers, so loading it can run code: save the "
        "state_dict only, or set allow_unsafe_load=true if you trust its origin"
    )


def _damage(path: Path, error: Exception) -> str:
    return f"{path} cannot be read, it is cut off or damaged ({_one_line(error) or type(error).__name__})"


def _one_line(text: object, limit: int = 160) -> str:
    line = next((part.strip() for part in str(text).splitlines() if part.strip()), "").partition(". ")[0]
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _some(names: Iterable[str], separator: str = ", ", shown: int = 3) -> str:
    listed = list(names)
    rest = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return separator.join(listed[:shown]) + rest
