"""The object table: one row an object or ghost cluster, image and mutant. Every detector score derives from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.scoring.detection.overlap import Indices, Reals

SETS = ("match", "miss", "ghost")
METRICS = ("vr", "ie", "mi", "var", "ps")
"""Variation ratio, entropy, mutual information, total variance, prediction surface."""
_WORDS = ("mutant", "image", "set", "repetitions")


@dataclass(frozen=True)
class ObjectTable:
    """Columns of equal length D."""

    mutant: Indices
    """(D,): position of the mutant."""
    image: Indices
    """(D,): position of the image."""
    kind: NDArray[np.int8]
    """(D,): 0 match, 1 miss, 2 ghost."""
    number: Indices
    """(D,): number of the object (match, miss) or cluster (ghost) within its image."""
    label: Indices
    """(D,): its class."""
    count: Indices
    """(D,): detections in it over all repetitions."""
    seen: NDArray[np.bool_]
    """(D, T): the repetitions that hold one; T is the largest of all images."""
    rate: Reals
    """(D,): share of the repetitions; profile `deepluq` may pass 1."""
    iou: Reals
    """(D,): mean IoU of the pairs of a match; NaN otherwise."""
    conf: Reals
    """(D,): of a miss in profile `paper`: rate times the original's largest class probability; NaN otherwise."""
    score: Reals
    """(D, 5): UA-MS of the object by each of METRICS."""
    original: Reals
    """(D, 5): uncertainty of the original behind the score; NaN for ghosts."""
    changed: Reals
    """(D, 5): uncertainty of the mutant behind the score; NaN for misses."""

    def __len__(self) -> int:
        return len(self.mutant)

    @classmethod
    def none(cls, repetitions: int) -> ObjectTable:
        """A table without rows."""
        whole, real, five = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, len(METRICS)))
        seen = np.zeros((0, repetitions), dtype=np.bool_)
        return cls(
            whole, whole, whole.astype(np.int8), whole, whole, whole, seen, real, real, real, five, five, five
        )

    @classmethod
    def joined(cls, tables: Sequence[ObjectTable]) -> ObjectTable:
        """The rows of several tables, one after another."""
        width = max((table.seen.shape[1] for table in tables), default=0)
        if not tables:
            return cls.none(width)
        columns = {
            field.name: np.concatenate([getattr(table, field.name) for table in tables])
            for field in fields(cls)
            if field.name != "seen"
        }
        seen = [np.pad(table.seen, ((0, 0), (0, width - table.seen.shape[1]))) for table in tables]
        return cls(seen=np.concatenate(seen), **columns)

    def take(self, rows: NDArray[Any]) -> ObjectTable:
        """Some rows, by index or flag."""
        return ObjectTable(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def columns(self, mutants: Sequence[str], images: Sequence[str]) -> Mapping[str, Any]:
        """Every column under its name in the Parquet file, with names for positions."""
        told = {
            "mutant": np.array(mutants, dtype=object)[self.mutant],
            "image": np.array(images, dtype=object)[self.image],
            "set": np.array(SETS, dtype=object)[self.kind],
        }
        plain = {name: getattr(self, name) for name in ("number", "label", "count")}
        digits = np.where(self.seen, b"1", b"0")
        told["repetitions"] = np.array([row.tobytes().decode() for row in digits], dtype=object)
        real = {name: getattr(self, name) for name in ("rate", "iou", "conf")}
        grids = {
            f"{metric}_{suffix}": grid[:, index]
            for suffix, grid in (("score", self.score), ("original", self.original), ("mutant", self.changed))
            for index, metric in enumerate(METRICS)
        }
        return {**told, **plain, **real, **grids}


def write_objects(table: ObjectTable, mutants: Sequence[str], images: Sequence[str], path: Path) -> None:
    """Write the table as Parquet; NaN becomes null, and `repetitions` is a string of 0 and 1."""
    import pandas as pd  # noqa: PLC0415 - a second that the numbers themselves do not need

    columns = {
        name: pd.Series(values, dtype="string" if name in _WORDS else None)
        for name, values in table.columns(mutants, images).items()
    }
    pd.DataFrame(columns).to_parquet(path, index=False)
