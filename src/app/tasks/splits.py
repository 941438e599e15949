"""The splits of a data set as tasks read them: folders without torch, or data sets of whatever kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PIL import Image

from app import images
from app.errors import UserError
from app.images import USUAL, Decoding, Unreadable
from app.integrity import Scan, Skipped, scan_folder, scan_images
from app.integrity.pictures import decode, in_memory
from app.integrity.scan import Progress

if TYPE_CHECKING:  # they start torch, which folders do without
    from app.subjects.dataset import ImageDataset
    from app.subjects.planting import Plant, Planting

Name = tuple[str, str]
"""Split and path of a picture."""


class Split(Protocol):
    """One split."""

    name: str
    """What it is called."""

    @property
    def where(self) -> str:
        """The folder as it was given, or the name of the data set."""
        ...

    def __len__(self) -> int:
        """How many pictures; 0 where that is not known before a scan."""
        ...

    def scan(self, workers: int | None, told: Progress) -> Scan:
        """The index of all its pictures."""
        ...

    def grey(self, path: str) -> Image.Image | None:
        """A picture in mode L, perhaps smaller; None if it cannot be had."""
        ...

    def load(self, path: str) -> Image.Image | None:
        """A whole picture in mode L or RGB; None if it cannot be had."""
        ...


class FolderSplit:
    """Pictures below a folder.

    Args:
        name: of the split.
        folder: its root.
        classes: whether the subfolders are classes.
        decoding: what the formats of files leave open.
    """

    def __init__(self, name: str, folder: str, *, classes: bool, decoding: Decoding = USUAL) -> None:
        self.name, self.where = name, folder
        self._root, self._classes, self._decoding = Path(folder).expanduser(), classes, decoding
        if not self._root.is_dir():
            state = "is no folder" if self._root.exists() else "does not exist"
            raise UserError(f"task.splits.{name}: {folder} {state}; give a folder of pictures")

    def __len__(self) -> int:
        return 0

    def scan(self, workers: int | None, told: Progress) -> Scan:
        """Every file is read once."""
        return scan_folder(
            self._root,
            name=self.name,
            classes=self._classes,
            workers=workers,
            progress=told,
            decoding=self._decoding,
        )

    def grey(self, path: str) -> Image.Image | None:
        """From the file, which may be gone by now."""
        try:
            return decode(images.read(self._root / path), self._decoding).grey
        except Unreadable:
            return None

    def load(self, path: str) -> Image.Image | None:
        """From the file, which may be gone by now."""
        try:
            return images.decode(images.read(self._root / path), self._decoding)
        except Unreadable:
            return None


class DataSplit:
    """Pictures of a data set.

    Args:
        name: of the split.
        dataset: the pictures.
    """

    def __init__(self, name: str, dataset: ImageDataset) -> None:
        self.name, self.dataset = name, dataset

    @property
    def where(self) -> str:
        """The name of the data set."""
        return self.dataset.name

    def __len__(self) -> int:
        return len(self.dataset)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {path: row for row, path in enumerate(self.dataset.paths)}

    def scan(self, workers: int | None, told: Progress) -> Scan:
        """By the digests that the data set has made."""
        data = self.dataset
        return scan_images(
            data.load,
            data.labels,
            data.class_names,
            name=self.name,
            paths=data.paths,
            digests=data.case_digests,
            unreadable=[Skipped(each.path, each.reason) for each in data.excluded],
            workers=workers,
            progress=told,
        )

    def grey(self, path: str) -> Image.Image | None:
        """From the data set."""
        image = self.load(path)
        return None if image is None else in_memory(image).grey

    def load(self, path: str) -> Image.Image | None:
        """From the data set; None for a picture that was left out of it."""
        row = self._rows.get(path)
        return None if row is None else self.dataset.load(row)


def read_splits(
    given: Mapping[str, Any], *, classes: bool, plant: Any, seed: int, decoding: Decoding = USUAL
) -> tuple[tuple[Split, ...], tuple[tuple[Planting, Plant], ...]]:
    """The splits, in their order, and what was planted in them.

    Args:
        given: by name, folders and data sets.
        classes: whether the subfolders of folders are classes.
        plant: copies to plant; None for none.
        seed: of what is planted.
        decoding: what the formats of files in folders leave open.

    Raises:
        UserError: no split, one that is no folder nor a data set, or nothing to plant in.
    """
    if not given:
        raise UserError(
            "contamination needs splits: give +task.splits.train=DIR +task.splits.test=DIR, the training split first"
        )
    folders = [name for name, value in given.items() if isinstance(value, str)]
    datasets = {name: _dataset(name, value) for name, value in given.items() if name not in folders}
    if folders and datasets:
        raise UserError(
            f"the splits {', '.join(folders)} are folders and {', '.join(datasets)} data sets, which are hashed "
            "differently: give all of one kind"
        )
    planted: tuple[tuple[Planting, Plant], ...] = ()
    if plant is not None:
        datasets, planted = _planted(datasets, plant, seed)
    return tuple(
        DataSplit(name, datasets[name])
        if name in datasets
        else FolderSplit(str(name), given[name], classes=classes, decoding=decoding)
        for name in given
    ), planted


def _dataset(name: str, value: Any) -> ImageDataset:
    kind = type(value).__name__
    if value is not None and not isinstance(value, int | float | list | dict):
        from app.subjects.dataset import ImageDataset  # noqa: PLC0415 - whatever made the value has started torch

        if isinstance(value, ImageDataset):
            return value
    raise UserError(
        f"task.splits.{name} must be a folder, or have a _target_ that makes a data set of pictures, not {kind}"
    )


def _planted(
    datasets: dict[str, ImageDataset], plant: Any, seed: int
) -> tuple[dict[str, ImageDataset], tuple[tuple[Planting, Plant], ...]]:
    from app.subjects.planting import Planting  # noqa: PLC0415 - starts torch

    if not isinstance(plant, Planting):
        raise UserError("task.plant must have a _target_ of app.subjects.planting.Planting, or be null")
    for split in (plant.source, plant.into):
        if split not in datasets:
            known = ", ".join(datasets) or "none: folders are never written to"
            raise UserError(f"task.plant names the split {split!r}; data sets to plant in are {known}")
    target, plants = plant.plant(datasets[plant.source], datasets[plant.into], seed)
    return datasets | {plant.into: target}, tuple((plant, each) for each in plants)
