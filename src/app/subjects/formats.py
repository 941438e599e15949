"""Model files told apart by what is in them: their endings say little."""

from __future__ import annotations

import json
import zipfile
from enum import Enum
from pathlib import Path

from app.errors import UserError


class Format(Enum):
    """What a model file turned out to be."""

    TORCHSCRIPT = "a TorchScript module"
    EXPORTED = "an exported program"
    PICKLE = "a file written by torch.save"
    SAFETENSORS = "a safetensors file"


MAX_GIGABYTES = 2.0
"""Of a model file, unpacked, where nothing else is said; a larger one may hold what it is on the disk."""
_ZIP, _PICKLE = b"PK\x03\x04", b"\x80"


def recognise(path: Path) -> Format:
    """The format of a model file.

    Args:
        path: an existing regular file.

    Raises:
        UserError: the file is empty, cut off, or nothing that is known.
    """
    with path.open("rb") as file:
        head = file.read(16)
    if not head:
        raise UserError(
            f"{path} is empty: give a model file as torch.save, torch.jit.save or torch.export.save made it"
        )
    if head.startswith(_ZIP):
        return _recognise_archive(path)
    if head.startswith(_PICKLE):
        return Format.PICKLE
    if _is_safetensors(path, head):
        return Format.SAFETENSORS
    raise UserError(
        f"{path} is no model file that is known (TorchScript, exported program .pt2, torch.save or "
        f"safetensors): it begins with {head[:4]!r}"
    )


def locate(path: str | Path, max_gigabytes: float = MAX_GIGABYTES) -> Path:
    """The model file at a path, or inside an MLflow model's directory.

    Args:
        path: a file or a directory.
        max_gigabytes: what it may hold once it is unpacked, if that is more than it is on the disk.

    Raises:
        UserError: nothing is there, the directory is no MLflow model or holds no PyTorch model, or the file holds more
            than it may.
    """
    found = Path(path).expanduser()
    if found.is_file():
        return _bounded(found, max_gigabytes)
    if not found.exists():
        raise UserError(f"model file {found} does not exist")
    if not (found / "MLmodel").is_file():
        raise UserError(
            f"{found} is a directory without a file MLmodel: give a model file or an MLflow model's directory"
        )
    inside = [found / "data" / "model.pth", *sorted(found.rglob("*.pt2")), *sorted(found.rglob("*.pt"))]
    for candidate in inside:
        if candidate.is_file() and candidate.resolve().is_relative_to(found.resolve()):
            return _bounded(candidate, max_gigabytes)
    raise UserError(
        f"{found} is an MLflow model without data/model.pth or a .pt2: only PyTorch models are read"
    )


def _bounded(file: Path, max_gigabytes: float) -> Path:
    """The file, if what it holds is no more than it may: a few megabytes of zeros can inflate to all of the memory."""
    held = 0
    try:
        with zipfile.ZipFile(file) as archive:
            held = sum(each.file_size for each in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        pass  # no archive, or one that is refused later, with what is wrong with it
    check_unpacked(file, held, max_gigabytes)
    return file


def check_unpacked(file: Path, held: int, max_gigabytes: float) -> None:
    """Refuses a file that holds far more than it looks.

    Args:
        file: it may always hold what it is on the disk.
        held: bytes that it takes in memory.
        max_gigabytes: what it may hold if that is more.

    Raises:
        UserError: it holds more.
    """
    if held > max(max_gigabytes * 1e9, file.stat().st_size):
        raise UserError(
            f"{file} holds {held / 1e9:,.1f} GB once it is unpacked; allowed are {max_gigabytes:g} GB "
            "(model.max_gigabytes)"
        )


def _recognise_archive(path: Path) -> Format:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UserError(f"{path} is cut off or damaged ({error}): copy or save it again") from None
    # Everything but the oldest archives lies below one top folder, named after the file.
    inner = {name.partition("/")[2] for name in names}
    if "archive_format" in inner and any(name.startswith("models/") for name in inner):
        return Format.EXPORTED
    if "constants.pkl" in inner and any(name.startswith("code/") for name in inner):
        return Format.TORCHSCRIPT
    if "data.pkl" in inner:
        return Format.PICKLE
    if "serialized_exported_program.json" in names:
        raise UserError(f"{path} was exported by an older torch: export it again with torch.export.save")
    raise UserError(f"{path} is a zip archive but holds no model (no data.pkl, no exported program)")


def _is_safetensors(path: Path, head: bytes) -> bool:
    length = int.from_bytes(head[:8], "little")
    if head[8:9] != b"{" or length > path.stat().st_size - 8:
        return False
    with path.open("rb") as file:
        file.seek(8)
        try:
            return isinstance(json.loads(file.read(length)), dict)
        except (ValueError, RecursionError):
            return False
