"""Lists of image names: which images to score."""

from __future__ import annotations

import io
import pathlib
import pickle
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from app.errors import UserError
from app.tables import read_bytes, read_entries, repeated

_PATHS = ("Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")


def read_image_list(path: Path, *, allow_unsafe_load: bool = False) -> tuple[str, ...]:
    """The image stems that a file lists: JSON (a list), a table, text (a line each) or a pickle of paths.

    Folders and extensions are cut off; blank lines and lines that begin with ``#`` are passed over.

    Args:
        path: The file; .json, .txt (or any other ending) or .pkl / .pickle.
        allow_unsafe_load: Whether a pickle may be read at all; even then it may hold only lists of paths and
            strings.

    Raises:
        UserError: When the file is missing, not of its form, lists nothing, or lists an image twice.
    """
    if path.suffix.lower() in (".pkl", ".pickle"):
        content = read_bytes(path)
        if not allow_unsafe_load:
            raise UserError(
                f"{path}: a pickle can run code; write the list as text or JSON, or set allow_unsafe_load"
            )
        names = _names(_unpickle(content, path), path)
    else:
        names = [name for name in _names(read_entries(path), path) if not name.startswith("#")]
    stems = tuple(stem_of(name) for name in names)
    if not stems:
        raise UserError(f"{path}: lists no image")
    twice = repeated(stems)
    if twice is not None:
        raise UserError(f"{path}: lists image {twice!r} twice")
    return stems


_EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".gif", ".ppm", ".pgm")


def stem_of(name: str) -> str:
    """The name of an image without folders and without the extension of an image file."""
    last = PurePosixPath(name.replace("\\", "/")).name
    cut = PurePosixPath(last)
    return cut.stem if cut.suffix.lower() in _EXTENSIONS else last


def _names(content: Any, path: Path) -> list[str]:
    if not isinstance(content, (list, tuple)) or not all(
        isinstance(name, (str, PurePath)) for name in content
    ):
        raise UserError(f"{path}: must hold one list of image names")
    return [str(name) for name in content]


class _OnlyPaths(pickle.Unpickler):
    """An unpickler that knows path classes and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Pure path classes stand for all of them, so that lists from other systems load too."""
        if module in ("pathlib", "pathlib._local") and name in _PATHS:
            return PureWindowsPath if "Windows" in name else pathlib.PurePosixPath
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _unpickle(content: bytes, path: Path) -> Any:
    try:
        return _OnlyPaths(io.BytesIO(content)).load()
    except Exception as error:  # a broken pickle can raise nearly anything
        raise UserError(f"{path}: only a pickled list of paths or names can be read: {error}") from error
