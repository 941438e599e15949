"""Where saved detections are: a DeepLUQ folder tree, or a folder of `.npz` files; each scored the same way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

from app.detections import DetectionLog
from app.errors import UserError
from app.scoring.detection.case_study import score_tree
from app.scoring.detection.folder import INDEX, ORIGINAL, DetectionFolder, FolderMutants
from app.scoring.detection.image_lists import stem_of
from app.scoring.detection.names import safe_name
from app.scoring.detection.results import DetectionScores, ScoreSettings
from app.scoring.detection.scores import score_logs
from app.scoring.detection.tree import DetectionTree, models_in, operators_in


class Source(Protocol):
    """The saved detections of one model's original and mutants."""

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        ...

    @property
    def folder(self) -> str:
        """Where its tables go, below the output."""
        ...

    def files(self) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """The files of the original, and those of the mutants."""
        ...

    def score(
        self,
        settings: ScoreSettings,
        *,
        images: Sequence[str] | None = None,
        suites: Mapping[str, Sequence[str]] | None = None,
        seed: int = 0,
    ) -> ScoredSource:
        """All scores."""
        ...


@dataclass(frozen=True)
class ScoredSource:
    """The scores of a source."""

    scores: DetectionScores
    names: tuple[str, ...]
    """Of the mutants, in the names of their tables."""
    repetitions: tuple[int, ...]
    """The numbers of repetitions T that its images have."""
    semantics: str
    """What its class rows are."""


@dataclass(frozen=True)
class TreeSource:
    """One model under one operator in a DeepLUQ tree."""

    tree: DetectionTree
    second: DetectionTree | None = None
    """A second run of the unchanged model."""

    @property
    def model(self) -> str:
        """Name of the model's folder."""
        return self.tree.model

    @property
    def dataset(self) -> str:
        """Name of the data set's folder."""
        return self.tree.dataset

    @property
    def folder(self) -> str:
        """Where its tables go, below the output."""
        return f"{self.tree.model}/{self.tree.operator}"

    def files(self) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """The files of the original, and those of the mutants and of the second run."""
        own = [self.tree.original_tag]
        rest = _predictions(self.tree, self.tree.tags)
        if self.second is not None:
            rest += _predictions(self.second, [self.second.original_tag])
        return _predictions(self.tree, own), rest

    def score(
        self,
        settings: ScoreSettings,
        *,
        images: Sequence[str] | None = None,
        suites: Mapping[str, Sequence[str]] | None = None,
        seed: int = 0,
    ) -> ScoredSource:
        """All scores.

        Raises:
            UserError: Naming the folder, file or object that is missing or bad.
        """
        semantics = settings.semantics or "softmax_background"
        unchanged: DetectionLog | None = None
        if self.second is not None:
            stems = self.tree.images() if images is None else images
            unchanged = self.second.read(
                self.second.original_tag,
                stems,
                repetitions=settings.repetitions,
                semantics=semantics,
                probabilities=True,
            )
        scores = score_tree(
            self.tree.root,
            self.tree.model,
            self.tree.operator,
            dataset=self.tree.dataset,
            settings=settings,
            images=images,
            suites=suites,
            unchanged=unchanged,
            seed=seed,
        )
        total = settings.repetitions
        seen = {self._repetitions(image) for image in scores.images} if total is None else {total}
        return ScoredSource(scores, self.tree.tags, tuple(sorted(seen)), semantics)

    def _repetitions(self, image: str) -> int:
        folder = self.tree.folder / f"{self.tree.operator}_{self.tree.original_tag}_{image}"
        return next(t for t in count() if not (folder / f"prediction_{t}.json").is_file())


@dataclass(frozen=True)
class FolderSource:
    """A folder of `.npz` files."""

    saved: DetectionFolder
    default: str
    """Name of the data set where the folder does not say it."""

    @property
    def model(self) -> str:
        """Name of the model."""
        return safe_name(self.saved.model, "model")

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        return self.saved.dataset or self.default

    @property
    def folder(self) -> str:
        """Where its tables go, below the output."""
        return self.model

    def files(self) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """The file of the original, and those of the mutants and of the second run."""
        original = self.saved.path / f"{ORIGINAL}.npz"
        return (original,), tuple(path for path in self.saved.files() if path != original)

    def score(
        self,
        settings: ScoreSettings,
        *,
        images: Sequence[str] | None = None,
        suites: Mapping[str, Sequence[str]] | None = None,
        seed: int = 0,
    ) -> ScoredSource:
        """All scores.

        Raises:
            UserError: Naming the file, image or object that is missing or bad.
        """
        keys = self.saved.keys
        original = self.saved.read(ORIGINAL)
        named = {stem_of(name): name for name in original.images} | {name: name for name in original.images}
        if images is not None:
            original = original.take([named.get(stem_of(image), image) for image in images])
        scores = score_logs(
            original,
            FolderMutants(self.saved),
            settings=settings,
            strengths={key: self.saved.strength(key) for key in keys},
            suites={
                name: [named.get(stem_of(image), image) for image in listed]
                for name, listed in (suites or {}).items()
            },
            unchanged=self.saved.unchanged if settings.profile == "paper" else None,
            seed=seed,
        )
        total = settings.repetitions
        seen = set(original.repetitions.tolist()) if total is None else {total}
        return ScoredSource(scores, keys, tuple(sorted(seen)), settings.semantics or original.semantics)


def find_sources(
    root: Path,
    *,
    dataset: str | None = None,
    models: Sequence[str] = (),
    operators: Sequence[str] = (),
    unchanged: Path | None = None,
) -> tuple[Source, ...]:
    """What there is to score under a folder.

    Args:
        root: A DeepLUQ tree, or a folder of `.npz` files.
        dataset: Folder of the data set in a tree; None: `orig`.
        models: Of a tree; empty: those on disk.
        operators: Of a tree; empty: those on disk.
        unchanged: A tree with a second run of the unchanged models.

    Raises:
        UserError: When there is nothing, or not what was asked for.
    """
    if not root.is_dir():
        raise UserError(f"{root}: no such folder of predictions")
    if (root / f"{ORIGINAL}.npz").is_file() or (root / INDEX).is_file():
        if models or operators or unchanged is not None:
            raise UserError(
                f"{root} is a folder of .npz files: models, operators and unchanged are for DeepLUQ trees "
                "(here a second run is the file unchanged.npz)"
            )
        source = FolderSource(DetectionFolder(root), dataset or "detections")
        source.saved.keys  # noqa: B018 - says at once what is missing
        return (source,)
    found = operators_in(root)
    if not found:
        raise UserError(f"{root} holds neither folders experiment_results_OPERATOR nor {ORIGINAL}.npz")
    _known("operator", operators, found, root)
    chosen = [name for name in found if not operators or name in operators]
    on_disk = {name: models_in(root, name) for name in chosen}
    every = sorted({model for names in on_disk.values() for model in names})
    if not every:
        raise UserError(f"{root} holds no folder experiment_results_{chosen[0]}/MODEL/dataset")
    _known("model", models, every, root)
    return tuple(
        _tree_source(root, operator, model, dataset or "orig", unchanged)
        for operator in chosen
        for model in on_disk[operator]
        if not models or model in models
    )


def _known(what: str, wanted: Sequence[str], found: Sequence[str], root: Path) -> None:
    for name in wanted:
        if name not in found:
            raise UserError(f"{what} {name!r} has no detections in {root}; allowed: {', '.join(found)}")


def _tree_source(root: Path, operator: str, model: str, dataset: str, unchanged: Path | None) -> TreeSource:
    tree = DetectionTree(root, operator, model, dataset)
    if not tree.folder.is_dir():
        there = sorted(each.name for each in tree.folder.parent.iterdir() if each.is_dir())
        raise UserError(
            f"data set {dataset!r} has no detections in {tree.folder.parent}; allowed: {', '.join(there) or 'none'}"
        )
    if tree.images() and not tree.tags:
        raise UserError(f"{tree.folder}: holds an original but no mutant ({operator}_TAG_IMAGE)")
    second = None if unchanged is None else DetectionTree(unchanged, operator, model, dataset)
    if second is not None:
        second.images()
    return TreeSource(tree, second)


def _predictions(tree: DetectionTree, tags: Iterable[str]) -> tuple[Path, ...]:
    folders = [tree.folder / f"{tree.operator}_{tag}_{stem}" for tag in tags for stem in tree.found[tag]]
    return tuple(path for folder in folders for path in sorted(folder.glob("prediction_*.json")))


def digest(files: Iterable[Path], root: Path) -> str:
    """SHA-256, in hex, of some files: their places below a folder and their contents.

    Raises:
        UserError: One cannot be read.
    """
    whole = hashlib.sha256()
    for path in files:
        try:
            content = hashlib.sha256(path.read_bytes()).digest()
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from error
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        whole.update(name.encode("utf-8", "surrogateescape") + b"\0" + content)
    return whole.hexdigest()
