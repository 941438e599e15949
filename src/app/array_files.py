"""Files of NumPy arrays that nobody has looked at yet: what a header promises is checked before memory is taken."""

from __future__ import annotations

import lzma
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from app import machine

Array = NDArray[np.generic]

_NPY, _ZIP = b"\x93NUMPY", b"PK\x03\x04"


class UnsoundFileError(ValueError):
    """A file of arrays that is not read; the message says why, as a clause of its own."""


def load(path: Path, only: str | None = None) -> Array | dict[str, Array]:
    """The array in a ``.npy`` file, or those in a ``.npz`` file by name. Nothing in either is ever unpickled.

    Args:
        path: the file.
        only: the one array of a ``.npz`` file that is wanted; None takes all.

    Raises:
        FileNotFoundError: there is no such file.
        UnsoundFileError: it is neither; it holds objects; its header promises more than the file holds; it is
            damaged; or this machine cannot hold it.
    """
    with _clear(), path.open("rb") as file:
        start = file.read(6)
        file.seek(0)
        if start[:4] == _ZIP:
            with zipfile.ZipFile(file) as archive:
                return _members(archive, only)
        if start != _NPY:
            raise UnsoundFileError("it is neither a .npy nor a .npz file")
        _check_header(file, path.stat().st_size)
        file.seek(0)
        whole: Array = np.lib.format.read_array(file, allow_pickle=False)
        return whole


@contextmanager
def _clear() -> Iterator[None]:
    """Whatever damaged files make the readers raise, as one kind of error."""
    try:
        yield
    except (UnsoundFileError, FileNotFoundError):
        raise
    except MemoryError:
        raise UnsoundFileError("it does not fit into this machine's memory") from None
    except (
        ValueError,
        OSError,
        EOFError,
        RuntimeError,  # encrypted, or compressed in a way that Python does not know
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise UnsoundFileError(str(error).partition("\n")[0] or type(error).__name__) from None


def _members(archive: zipfile.ZipFile, only: str | None) -> dict[str, Array]:
    listed = [each for each in archive.infolist() if each.filename.endswith(".npy")]
    names = [each.filename.removesuffix(".npy") for each in listed]
    if only is not None and only not in names:
        raise UnsoundFileError(f"it has no array '{only}', only {', '.join(names) or 'nothing'}")
    wanted = {name: each for name, each in zip(names, listed, strict=True) if only in {None, name}}
    _check_memory(sum(each.file_size for each in wanted.values()), "it inflates to")
    found: dict[str, Array] = {}
    for name, member in wanted.items():
        with archive.open(member) as file:
            _check_header(file, member.file_size)
        with archive.open(member) as file:
            found[name] = np.lib.format.read_array(file, allow_pickle=False)
    return found


def _check_header(file: IO[bytes], held: int) -> None:
    """Refuses a header that promises what the file does not hold."""
    version = np.lib.format.read_magic(file)
    read: Any = np.lib.format.read_array_header_1_0
    if version != (1, 0):  # 3.0 is 2.0 but for letters outside ASCII in names of fields
        read = np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise UnsoundFileError("it holds pickled Python objects, which are not loaded; save numbers or text")
    if not dtype.itemsize:
        raise UnsoundFileError(f"its elements ({dtype}) have no bytes")
    promised, held = math.prod(shape) * dtype.itemsize, held - file.tell()
    if promised < 0 or promised > held:
        raise UnsoundFileError(
            f"its header promises {machine.size(promised)} (shape {shape}), but it holds {machine.size(held)}"
        )
    _check_memory(promised, "it holds")


def _check_memory(needed: int, verb: str) -> None:
    has = machine.memory()
    if has is not None and needed > has // 2:
        raise UnsoundFileError(
            f"{verb} {machine.size(needed)}, and this machine has {machine.size(has)} of memory, half of which may be "
            "taken by one file: give fewer or smaller arrays"
        )
