"""Detections of a group of mutants on one batch, kept on disk until the campaign is whole.

One checked file a (group, batch), as for classifiers; the original is in it once, since it is deterministic.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app import durable
from app.detections import DetectionLog, Detections, ranges

_DIGEST = 32
_ARRAYS = ("cases", "counts", "boxes", "labels", "scores", "probs")
Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class DetectionBlock:
    """Detections on one batch: the original's pass first, then each mutant's repetitions.

    Detections are in the order pass, test image, place.
    """

    group: int
    """Which group of mutants."""
    batch: int
    """Which batch of the plan."""
    cases: NDArray[np.int64]
    """(B,) test images."""
    counts: NDArray[np.int64]
    """(R, B): how many detections each pass made on each image."""
    boxes: Numbers
    """(D, 4)."""
    labels: NDArray[np.int64]
    """(D,)."""
    scores: Numbers
    """(D,)."""
    probs: Numbers
    """(D, C)."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why mutants are invalid, by key; their passes hold nothing."""
    unchanged: tuple[str, ...] = ()
    """Keys of mutants that left every parameter as it was."""
    notes: tuple[str, ...] = ()
    """What a user should know about how it ran."""
    error: str | None = None
    """A user's mistake that ended the batch; its passes hold nothing."""

    @classmethod
    def of(
        cls,
        group: int,
        batch: int,
        cases: NDArray[np.int64],
        passes: Sequence[Sequence[Detections]],
        **about: Any,
    ) -> DetectionBlock:
        """The block of `passes[r][b]`, the detections of pass r on image b."""
        flat = [detections for row in passes for detections in row]
        return cls(
            group,
            batch,
            cases,
            np.array([[len(each) for each in row] for row in passes], dtype=np.int64).reshape(-1, len(cases)),
            np.concatenate([each.boxes for each in flat]).astype(np.float32),
            np.concatenate([each.labels for each in flat]).astype(np.int64),
            np.concatenate([each.scores for each in flat]).astype(np.float32),
            np.concatenate([each.probs for each in flat]).astype(np.float32),
            **about,
        )


@dataclass(frozen=True)
class GroupLogs:
    """All blocks of one group together."""

    logs: tuple[DetectionLog, ...]
    """Of the original (one repetition), then of each mutant."""
    reasons: Mapping[str, str]
    """Why mutants are invalid, by key; their logs are not whole."""
    unchanged: tuple[str, ...]
    """Keys of mutants that left every parameter as it was."""
    notes: tuple[str, ...]
    """What a user should know about how it ran."""


class DetectionStore:
    """The blocks of one campaign in a folder; safe to write from several processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, group: int, batch: int) -> Path:
        """The file of a block."""
        return self.folder / f"group{group:04d}-batch{batch:06d}.detections"

    def write(self, block: DetectionBlock) -> None:
        """Write a block whole or not at all."""
        buffer = io.BytesIO()
        about = {
            "reasons": dict(block.reasons),
            "unchanged": block.unchanged,
            "notes": block.notes,
            "error": block.error,
        }
        arrays = {name: getattr(block, name) for name in _ARRAYS}
        np.savez(buffer, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **arrays)
        content = buffer.getvalue()
        durable.write(hashlib.sha256(content).digest() + content, self.path(block.group, block.batch))

    def read(self, group: int, batch: int) -> DetectionBlock | None:
        """The block, None if it is absent or damaged."""
        content = self._content(group, batch)
        if content is None:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            return DetectionBlock(
                group,
                batch,
                **{name: arrays[name] for name in _ARRAYS},
                reasons=about["reasons"],
                unchanged=tuple(about["unchanged"]),
                notes=tuple(about["notes"]),
                error=about["error"],
            )

    def missing(self, group: int, batches: int) -> list[int]:
        """Numbers of the batches whose block is absent or damaged, or was ended by a mistake."""
        found = [self._content(group, batch) for batch in range(batches)]
        return [i for i, content in enumerate(found) if content is None or _error(content) is not None]

    def error(self, group: int, batches: int) -> str | None:
        """The first user's mistake that ended a batch of the group; None if there is none."""
        for batch in range(batches):
            content = self._content(group, batch)
            error = None if content is None else _error(content)
            if error is not None:
                return error
        return None

    def gather(
        self, group: int, batches: int, names: Sequence[str], repetitions: Sequence[int], semantics: str
    ) -> GroupLogs:
        """The logs of a group, over the test images in order.

        Args:
            group: which.
            batches: how many there are.
            names: of the test images.
            repetitions: T of each mutant.
            semantics: of the class rows.

        Raises:
            RuntimeError: a batch is missing, or the images are not 0, 1, 2, … each once.
        """
        found = [self.read(group, batch) for batch in range(batches)]
        blocks = [block for block in found if block is not None]
        if len(blocks) != batches:
            raise RuntimeError(
                f"group {group} lacks batches {[b for b, each in enumerate(found) if each is None]}"
            )
        cases = np.concatenate([block.cases for block in blocks])
        if not np.array_equal(cases, np.arange(len(names))):
            raise RuntimeError(f"group {group} does not hold each test image once")
        ends = np.cumsum([0, 1, *repetitions])
        passes = [slice(int(ends[i]), int(ends[i + 1])) for i in range(len(repetitions) + 1)]
        return GroupLogs(
            tuple(_log(blocks, rows, names, semantics) for rows in passes),
            {key: reason for block in blocks for key, reason in block.reasons.items()},
            _once(key for block in blocks for key in block.unchanged),
            _once(note for block in blocks for note in block.notes),
        )

    def _content(self, group: int, batch: int) -> bytes | None:
        try:
            raw = self.path(group, batch).read_bytes()
        except FileNotFoundError:
            return None
        return raw[_DIGEST:] if hashlib.sha256(raw[_DIGEST:]).digest() == raw[:_DIGEST] else None


def _log(
    blocks: Sequence[DetectionBlock], passes: slice, names: Sequence[str], semantics: str
) -> DetectionLog:
    """The log of some passes as repetitions: from the order pass, image to the order image, repetition."""
    counts, taken = [], []
    for block in blocks:
        begins = (np.cumsum(block.counts) - block.counts.ravel()).reshape(block.counts.shape)
        counts.append(block.counts[passes].T.ravel())
        taken.append(ranges(begins[passes].T.ravel(), counts[-1]))
    pairs = list(zip(blocks, taken, strict=True))
    return DetectionLog(
        images=tuple(names),
        repetitions=np.full(len(names), passes.stop - passes.start, dtype=np.int64),
        offsets=np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
        boxes=np.concatenate([block.boxes[rows] for block, rows in pairs]),
        labels=np.concatenate([block.labels[rows] for block, rows in pairs]),
        scores=np.concatenate([block.scores[rows] for block, rows in pairs]),
        probs=np.concatenate([block.probs[rows] for block, rows in pairs]),
        semantics=semantics,
    )


def repeated(log: DetectionLog, repetitions: int) -> DetectionLog:
    """A log of one repetition read several times over, as scoring compares a deterministic model with T passes.

    Raises:
        ValueError: an image of the log has more than one repetition.
    """
    if (log.repetitions != 1).any():
        raise ValueError("only a log of one repetition can be read several times")
    cells = np.repeat(np.arange(len(log.images)), repetitions)
    counts = np.diff(log.offsets)[cells]
    rows = ranges(log.offsets[cells], counts)
    return DetectionLog(
        images=log.images,
        repetitions=np.full(len(log.images), repetitions, dtype=np.int64),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        boxes=log.boxes[rows],
        labels=log.labels[rows],
        scores=log.scores[rows],
        probs=log.probs[rows],
        semantics=log.semantics,
    )


def _error(content: bytes) -> str | None:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        error: str | None = json.loads(arrays["about"].tobytes())["error"]
    return error


def _once(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
