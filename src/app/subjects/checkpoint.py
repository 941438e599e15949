"""Checkpoints: reading what torch.save wrote without running it."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import nn

from app.errors import UserError
from app.subjects.formats import Format, recognise
from app.subjects.weights import Content, tensors_in

_GLOBAL = re.compile(r"GLOBAL (\S+)")
"""How torch names what it refused."""


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


def read_weights(path: Path, allow_unsafe_load: bool = False) -> Content:
    """The tensors in a checkpoint or safetensors file by name, perhaps in mappings below one another.

    Raises:
        UserError: the file holds something else, with what to use instead.
    """
    match recognise(path):
        case Format.PICKLE:
            content = read_checkpoint(path, allow_unsafe_load)
            if isinstance(content, nn.Module):
                return content.state_dict()
            if not tensors_in(content):
                raise UserError(f"{path} holds no state_dict (a mapping of names to tensors)")
            found: Content = content
            return found
        case Format.SAFETENSORS:
            return _read_safetensors(path)
        case other:
            raise UserError(
                f"{path} is {other.value}, which needs no factory: use model=file model.path={path}"
            )


def _read_safetensors(path: Path) -> Content:
    try:
        safetensors = import_module("safetensors.torch")
    except ImportError:
        raise UserError(f"{path} is a safetensors file, which needs: pip install safetensors") from None
    weights: Content = safetensors.load_file(str(path))
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
