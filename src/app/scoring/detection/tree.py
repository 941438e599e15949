"""The DeepLUQ folder tree of predictions: found, read and written.

``{root}/experiment_results_{op}/{model}/dataset/{dataset}/{op}_{tag}_{stem}/prediction_{t}.json``, where `tag` is
a rate, or rate and block joined by ``_``, and the tags ``0`` and ``0_1`` are the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.detections import DetectionLog
from app.errors import UserError
from app.scoring.detection.names import safe_name
from app.scoring.detection.predictions import read_folders, write_folder
from app.scoring.detection.results import Strength

_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_TAGS = {"mc_dropblock": re.compile(rf"({_NUMBER})_(\d+)_(.+)", re.DOTALL)}
_RATE_ONLY = re.compile(rf"({_NUMBER})()_(.+)", re.DOTALL)
_OPERATOR = "experiment_results_"
BLOCK_OPERATOR = "mc_dropblock"


@dataclass(frozen=True)
class DetectionTree:
    """The predictions of one model under one operator."""

    root: Path
    operator: str
    model: str
    dataset: str = "orig"
    """Folder of the data set; the reference always has `orig`."""

    def __post_init__(self) -> None:
        for what in ("operator", "model", "dataset"):
            safe_name(getattr(self, what), what)

    @property
    def folder(self) -> Path:
        """Where the folders of tags and images are."""
        return self.root / f"{_OPERATOR}{self.operator}" / self.model / "dataset" / self.dataset

    @property
    def original_tag(self) -> str:
        """Tag of the unchanged model."""
        return "0_1" if self.operator == BLOCK_OPERATOR else "0"

    @cached_property
    def found(self) -> Mapping[str, tuple[str, ...]]:
        """The image stems of every tag on disk, both in order: tags by rate, then block.

        Raises:
            UserError: When the folder is missing or holds nothing of this operator.
        """
        if not self.folder.is_dir():
            raise UserError(f"{self.folder}: no such folder of predictions")
        pattern, prefix = _TAGS.get(self.operator, _RATE_ONLY), f"{self.operator}_"
        tags: dict[str, list[str]] = {}
        for entry in sorted(self.folder.iterdir(), key=lambda path: path.name):
            told = pattern.fullmatch(entry.name.removeprefix(prefix)) if entry.is_dir() else None
            if told is not None and entry.name.startswith(prefix):
                rate, block, stem = told.groups()
                tags.setdefault(f"{rate}_{block}" if block else rate, []).append(stem)
        if not tags:
            raise UserError(f"{self.folder}: holds no folder named {prefix}TAG_IMAGE")
        return {tag: tuple(tags[tag]) for tag in sorted(tags, key=self._rank)}

    def _rank(self, tag: str) -> tuple[float, int]:
        strength = self.strength(tag)
        return strength.rate, strength.block or 0

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of the mutants on disk."""
        return tuple(tag for tag in self.found if tag != self.original_tag)

    def strength(self, tag: str) -> Strength:
        """Operator, rate and block of a tag."""
        rate, _, block = tag.partition("_")
        try:
            return Strength(self.operator, float(rate), int(block) if block else None)
        except ValueError as error:
            raise UserError(f"tag {tag!r} is neither a rate nor rate_block, such as 0.1 or 0.1_3") from error

    def key(self, tag: str) -> str:
        """Key of a tag's mutant."""
        return f"{self.operator}_{tag}"

    def images(self) -> tuple[str, ...]:
        """Stems of the images of the original.

        Raises:
            UserError: When there is no original.
        """
        stems = self.found.get(self.original_tag)
        if stems is None:
            raise UserError(f"{self.folder}: holds no original ({self.operator}_{self.original_tag}_IMAGE)")
        return stems

    def common_images(self, tags: Sequence[str] | None = None) -> tuple[str, ...]:
        """Stems that the original and all the mutants have."""
        chosen = self.tags if tags is None else tags
        return tuple(stem for stem in self.images() if all(stem in self.found.get(tag, ()) for tag in chosen))

    def read(
        self,
        tag: str,
        images: Sequence[str],
        *,
        repetitions: int | None = None,
        semantics: str = "softmax_background",
        probabilities: bool = False,
    ) -> DetectionLog:
        """The detections of one tag on some images (by stem).

        Args:
            tag: Of the original or of a mutant.
            images: Stems; a whole file name loses its extension.
            repetitions: T to read; None: each folder's prediction_0, prediction_1, … without a gap.
            semantics: What class rows are.
            probabilities: Whether to refuse class rows that are no probabilities, naming file and object.

        Raises:
            UserError: Naming the folder, file or object that is missing or bad.
        """
        stems = [safe_name(stem, "image") for stem in images]
        folders = [self.folder / f"{self.operator}_{safe_name(tag, 'tag')}_{stem}" for stem in stems]
        return read_folders(
            stems, folders, repetitions=repetitions, semantics=semantics, probabilities=probabilities
        )

    def write(self, tag: str, log: DetectionLog) -> None:
        """Write a log as the folders of one tag."""
        for name, repetitions in log:
            stem = safe_name(name, "image")
            write_folder(self.folder / f"{self.operator}_{safe_name(tag, 'tag')}_{stem}", repetitions)


@dataclass(frozen=True)
class TreeMutants(Mapping[str, DetectionLog]):
    """The mutants of a tree by key; each is read when asked for."""

    tree: DetectionTree
    names: tuple[str, ...]
    """Tags."""
    stems: tuple[str, ...]
    """Images."""
    repetitions: int | None
    semantics: str
    probabilities: bool
    original: DetectionLog
    """What they are scored against."""

    def __getitem__(self, key: str) -> DetectionLog:
        tag = {self.tree.key(name): name for name in self.names}[key]
        log = self.tree.read(
            tag,
            self.stems,
            repetitions=self.repetitions,
            semantics=self.semantics,
            probabilities=self.probabilities,
        )
        for stem, has, wants in zip(self.stems, log.repetitions, self.original.repetitions, strict=True):
            if has < wants:
                name = self.tree.folder / f"{key}_{stem}" / f"prediction_{has}.json"
                raise UserError(f"{name}: this repetition is missing; the original has {wants} of this image")
        return log

    def __iter__(self) -> Iterator[str]:
        return (self.tree.key(tag) for tag in self.names)

    def __len__(self) -> int:
        return len(self.names)


def operators_in(root: Path) -> tuple[str, ...]:
    """Operators with a folder of results under `root`."""
    if not root.is_dir():
        raise UserError(f"{root}: no such folder")
    names = (entry.name for entry in root.iterdir() if entry.is_dir() and entry.name.startswith(_OPERATOR))
    return tuple(sorted(name.removeprefix(_OPERATOR) for name in names))


def models_in(root: Path, operator: str) -> tuple[str, ...]:
    """Models with results of one operator under `root`."""
    folder = root / f"{_OPERATOR}{safe_name(operator, 'operator')}"
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder of results")
    return tuple(sorted(entry.name for entry in folder.iterdir() if (entry / "dataset").is_dir()))
