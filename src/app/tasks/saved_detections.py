"""The detections of a campaign as files, written group by group so that memory holds one group only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from app import detections
from app.detections import DetectionLog
from app.inference.detection.blocks import repeated
from app.inference.detection.campaign import GroupDetections
from app.mutation.mutant import Mutant
from app.scoring.detection import DetectionTree, Strength
from app.scoring.detection.folder import write_index


class SavedDetections:
    """`original.npz`, and one file a mutant that could be run.

    Those with the most repetitions make a folder that `task=score` reads, with the deterministic original as often;
    the others lie in folders below, named by their number of repetitions.

    Args:
        folder: for the files; it does not exist yet.
        mutants: the plan.
        subject: names of model and data set.
        tree: where to write the stochastic mutants as a DeepLUQ folder tree too; None: nowhere.
    """

    def __init__(
        self, folder: Path, mutants: Sequence[Mutant], subject: tuple[str, str], tree: Path | None = None
    ) -> None:
        self.paths: dict[str, Path] = {}
        """The file of each mutant that could be run, by key."""
        self.reasons: dict[str, str] = {}
        """Why the others could not."""
        self.notes: list[str] = []
        """What a user should know about how they ran."""
        self._folder, self._mutants, self._tree = folder, tuple(mutants), tree
        self._model, self._dataset = subject
        self._most = max(mutant.repetitions for mutant in self._mutants)
        self._told: list[str] = []
        self._done = 0
        self._original: DetectionLog | None = None
        self._trees: dict[str, DetectionTree] = {}

    @property
    def original(self) -> DetectionLog:
        """The original, one repetition of each test image; there is one after the first group."""
        if self._original is None:
            raise RuntimeError("no group was run")
        return self._original

    def add(self, group: GroupDetections) -> tuple[Mutant, ...]:
        """Write the files of the next group; returns its mutants."""
        if self._original is None:
            self._original = group.original
            self._folder.mkdir()
            detections.save(repeated(group.original, self._most), self._folder / "original.npz")
        mutants = self._mutants[self._done : self._done + len(group.mutants)]
        self._done += len(mutants)
        self.notes += group.notes
        for mutant, each in zip(mutants, group.mutants, strict=True):
            if each.log is None:
                self.reasons[mutant.key] = each.reason or "unknown"
                self._told.append(f"{mutant.key} is invalid and not scored: {each.reason}")
                continue
            if each.unchanged:
                self._told.append(f"{mutant.key} changed no parameter")
            place = self._folder
            if mutant.repetitions != self._most:
                place /= f"t{mutant.repetitions}"
                place.mkdir(exist_ok=True)
            self.paths[mutant.key] = place / f"{mutant.key}.npz"
            detections.save(each.log, self.paths[mutant.key])
            self._plant(mutant, each.log)
        return mutants

    def finish(self) -> tuple[str, ...]:
        """Write the index; returns what a reader should know of the mutants."""
        indexed = {
            m.key: strength(m) for m in self._mutants if m.key in self.paths and m.repetitions == self._most
        }
        write_index(self._folder, self._model, self._dataset, indexed)
        return tuple(dict.fromkeys([*self.notes, *self._told]))

    def _plant(self, mutant: Mutant, log: DetectionLog) -> None:
        told = strength(mutant)
        if self._tree is None or np.isnan(told.rate):
            return
        if told.operator not in self._trees:
            tree = DetectionTree(self._tree, told.operator, self._model, self._dataset)
            self._trees[told.operator] = tree
            tree.write(tree.original_tag, repeated(self.original, mutant.repetitions))
        self._trees[told.operator].write(tag(told), log)


class DetectionFiles(Mapping[str, DetectionLog]):
    """Logs by key, read when they are asked for."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self.paths = paths

    def __getitem__(self, key: str) -> DetectionLog:
        return detections.load(self.paths[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


def strength(mutant: Mutant) -> Strength:
    """What the scores are drawn over: rate and block of a stochastic mutant."""
    rate, block = mutant.params.get("rate", float("nan")), mutant.params.get("block")
    return Strength(mutant.operator.name, float(rate), None if block is None else int(block))


def tag(told: Strength) -> str:
    """A stochastic mutant's rate, and block, in names of folders and files."""
    return f"{told.rate:g}" + ("" if told.block is None else f"_{told.block}")
