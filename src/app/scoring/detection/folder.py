"""A folder of saved detections of our own form: one `.npz` a mutant beside the original's.

``original.npz``, ``{key}.npz`` for each mutant, optionally ``unchanged.npz`` (a second run of the unchanged model)
and ``index.json``, which names model, data set, and the operator, rate and block of each key. Without an index, a
key such as ``mc_dropout_0.1`` or ``mc_dropblock_0.1_3`` is read as operator, rate and block.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from app.detections import DetectionLog, load
from app.errors import UserError
from app.scoring.detection.names import safe_name
from app.scoring.detection.results import Strength

ORIGINAL, UNCHANGED, INDEX = "original", "unchanged", "index.json"
FORMAT, VERSION = "assay.detections.index", 1
_KEY = re.compile(r"(.+?)_(\d+(?:\.\d+)?)(?:_(\d+))?")


@dataclass(frozen=True)
class DetectionFolder:
    """The saved detections of one model: its original and its mutants."""

    path: Path

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Keys of the mutants: in the order of the index, else by operator, rate and block.

        Raises:
            UserError: When there is no original or no mutant.
        """
        if not (self.path / f"{ORIGINAL}.npz").is_file():
            raise UserError(f"{self.path}: holds no {ORIGINAL}.npz, the detections of the original")
        found = {each.stem for each in self.path.glob("*.npz")} - {ORIGINAL, UNCHANGED}
        if not found:
            raise UserError(f"{self.path}: holds an original but no mutant (a file KEY.npz)")
        listed = [key for key in self._index.get("mutants", {}) if key in found]
        rest = sorted(found - set(listed), key=self._rank)
        return (*listed, *rest)

    @property
    def model(self) -> str:
        """Name of the model: from the index, else the folder's."""
        return str(self._index.get("model") or self.path.resolve().name)

    @property
    def dataset(self) -> str | None:
        """Name of the data set; None without an index."""
        name = self._index.get("dataset")
        return None if name is None else str(name)

    def strength(self, key: str) -> Strength:
        """Operator, rate and block of a mutant."""
        told = self._index.get("mutants", {}).get(key)
        if told is not None:
            rate = told.get("rate")
            return Strength(
                told.get("operator", key), float("nan") if rate is None else rate, told.get("block")
            )
        match = _KEY.fullmatch(key)
        if match is None:
            return Strength(key, float("nan"))
        return Strength(match[1], float(match[2]), None if match[3] is None else int(match[3]))

    def read(self, key: str) -> DetectionLog:
        """The detections of the original or of a mutant.

        Raises:
            UserError: When the file is missing, damaged or newer.
        """
        return load(self.path / f"{safe_name(key, 'mutant')}.npz")

    @property
    def unchanged(self) -> DetectionLog | None:
        """A second run of the unchanged model, if there is one."""
        return self.read(UNCHANGED) if (self.path / f"{UNCHANGED}.npz").is_file() else None

    def files(self) -> tuple[Path, ...]:
        """The files of original, mutants and second run."""
        names = [ORIGINAL, *([UNCHANGED] if self.unchanged_exists else []), *self.keys]
        return tuple(self.path / f"{name}.npz" for name in names)

    @property
    def unchanged_exists(self) -> bool:
        """Whether there is a second run of the unchanged model."""
        return (self.path / f"{UNCHANGED}.npz").is_file()

    def _rank(self, key: str) -> tuple[str, float, int]:
        strength = self.strength(key)
        rate = 0.0 if math.isnan(strength.rate) else strength.rate
        return strength.operator, rate, strength.block or 0

    @cached_property
    def _index(self) -> Mapping[str, Any]:
        path = self.path / INDEX
        if not path.is_file():
            return {}
        try:
            body = json.loads(path.read_bytes())
        except RecursionError:
            raise UserError(f"{path}: JSON that is nested too deeply") from None
        except ValueError as error:
            raise UserError(f"{path}: malformed JSON: {error}") from error
        if not isinstance(body, dict) or body.get("format") != FORMAT:
            raise UserError(f"{path}: not an index of saved detections ({FORMAT})")
        if not isinstance(body.get("version"), int) or body["version"] > VERSION:
            raise UserError(f"{path}: version {body.get('version')}; up to {VERSION} can be read here")
        mutants = body.get("mutants", {})
        if not isinstance(mutants, dict) or not all(map(_is_strength, mutants.values())):
            raise UserError(
                f"{path}: mutants must map each key to its operator (text), rate (number or null) and block "
                "(whole number or null)"
            )
        return body


def _is_strength(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("operator", ""), str)
        and isinstance(value.get("rate"), int | float | None)
        and isinstance(value.get("block"), int | None)
    )


@dataclass(frozen=True)
class FolderMutants(Mapping[str, DetectionLog]):
    """The mutants of a folder by key; each is read when asked for."""

    folder: DetectionFolder

    def __getitem__(self, key: str) -> DetectionLog:
        return self.folder.read(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.folder.keys)

    def __len__(self) -> int:
        return len(self.folder.keys)


def write_index(folder: Path, model: str, dataset: str, strengths: Mapping[str, Strength]) -> Path:
    """Write the index of a folder whose `.npz` files `app.detections.save` wrote."""
    mutants = {
        key: {
            "operator": strength.operator,
            "rate": None if math.isnan(strength.rate) else strength.rate,
            "block": strength.block,
        }
        for key, strength in strengths.items()
    }
    body = {"format": FORMAT, "version": VERSION, "model": model, "dataset": dataset, "mutants": mutants}
    path = folder / INDEX
    path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
    return path
