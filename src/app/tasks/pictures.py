"""A folder of pictures that are asked for by name: with ending or without, with folders or without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from PIL import Image

from app import images
from app.annotations.content import without_ending
from app.errors import UserError
from app.images import Unreadable
from app.integrity.listing import list_pictures


class PictureFolder(Mapping[str, tuple[float, float]]):
    """The pictures below a folder; as a mapping, the width and height of each, read when it is asked for.

    A name is a path below the folder or a file's name, either with its ending or without; where
    several files fit, the first by path is taken. Links out of the folder are not followed.

    Args:
        folder: the root.

    Raises:
        UserError: no such folder, or no picture in it.
    """

    def __init__(self, folder: str) -> None:
        root = Path(folder).expanduser()
        if not root.is_dir():
            state = "is no folder" if root.exists() else "does not exist"
            raise UserError(f"task.images: {folder} {state}; give the folder of the pictures, or null")
        listing = list_pictures(root, classes=False)
        self._files: dict[str, Path] = {}
        for spell in (
            str,
            without_ending,
            _name,
            _stem,
        ):  # whole paths come before names, and names before stems
            for path, file in zip(listing.paths, listing.files, strict=True):
                self._files.setdefault(spell(path), file)
        self._sizes: dict[str, tuple[float, float]] = {}
        self._n = len(listing.files)

    def find(self, name: str) -> Path | None:
        """The file of a picture; None if there is none."""
        found = self._files.get(name) or self._files.get(_name(name))
        return found or self._files.get(_stem(name))

    def load(self, name: str) -> Image.Image | None:
        """A picture, upright, in mode L or RGB; None if there is none or it cannot be decoded."""
        file = self.find(name)
        if file is None:
            return None
        try:
            return images.decode(images.read(file))
        except Unreadable:
            return None

    def __getitem__(self, name: str) -> tuple[float, float]:
        if name not in self._sizes:
            file = self.find(name)
            if file is None:
                raise KeyError(name)
            try:
                with images.opened(images.read(file)) as (image, _):
                    size = images.upright_size(image)
            except Unreadable as reason:
                raise UserError(f"task.images: {file} {reason}, so its size is not known") from None
            self._sizes[name] = float(size[0]), float(size[1])
        return self._sizes[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return self._n


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _stem(path: str) -> str:
    return PurePosixPath(path).stem
