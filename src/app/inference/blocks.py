"""Outcomes of a group of mutants on one batch, kept on disk until the campaign is whole.

One checked file a (group, batch): what is there need not be computed again, whoever died meanwhile.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app import durable
from app.records import Floats, Ints

_DIGEST = 32


@dataclass(frozen=True)
class Block:
    """Outcomes on one batch: the original's row first, then each mutant's repetitions."""

    group: int
    """Which group of mutants."""
    batch: int
    """Which batch of the plan."""
    cases: NDArray[np.int64]
    """(B,) test cases."""
    top1: Ints
    """(R, B)."""
    confidence: Floats
    """(R, B)."""
    shift: Floats
    """(R, B)."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why mutants are invalid, by key."""
    unchanged: tuple[str, ...] = ()
    """Keys of mutants that left every parameter as it was."""
    notes: tuple[str, ...] = ()
    """What a user should know about how it ran."""


class BlockStore:
    """The blocks of one campaign in a folder; safe to write from several processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, group: int, batch: int) -> Path:
        """The file of a block."""
        return self.folder / f"group{group:04d}-batch{batch:06d}.rows"

    def write(self, block: Block) -> None:
        """Write a block whole or not at all."""
        buffer = io.BytesIO()
        about = {"reasons": dict(block.reasons), "unchanged": block.unchanged, "notes": block.notes}
        np.savez(
            buffer,
            cases=block.cases,
            top1=block.top1,
            confidence=block.confidence,
            shift=block.shift,
            about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        )
        content = buffer.getvalue()
        durable.write(hashlib.sha256(content).digest() + content, self.path(block.group, block.batch))

    def read(self, group: int, batch: int) -> Block | None:
        """The block, None if it is absent or damaged."""
        try:
            raw = self.path(group, batch).read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(raw[_DIGEST:]).digest() != raw[:_DIGEST]:
            return None
        with np.load(io.BytesIO(raw[_DIGEST:]), allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            return Block(
                group,
                batch,
                arrays["cases"],
                arrays["top1"],
                arrays["confidence"],
                arrays["shift"],
                about["reasons"],
                tuple(about["unchanged"]),
                tuple(about["notes"]),
            )

    def missing(self, group: int, batches: int) -> list[int]:
        """Numbers of the batches whose block is absent or damaged."""
        return [batch for batch in range(batches) if self.read(group, batch) is None]

    def gather(self, group: int, batches: int) -> Block:
        """One block of all batches, in the order of the test cases.

        Raises:
            RuntimeError: a batch is missing, or the cases are not 0, 1, 2, … each once.
        """
        blocks = [self.read(group, batch) for batch in range(batches)]
        found = [block for block in blocks if block is not None]
        if len(found) != batches:
            absent = [batch for batch, block in enumerate(blocks) if block is None]
            raise RuntimeError(f"group {group} lacks batches {absent}")
        cases = np.concatenate([block.cases for block in found])
        if not np.array_equal(cases, np.arange(len(cases))):
            raise RuntimeError(f"group {group} does not hold each test case once")
        return Block(
            group,
            -1,
            cases,
            np.concatenate([block.top1 for block in found], axis=1),
            np.concatenate([block.confidence for block in found], axis=1),
            np.concatenate([block.shift for block in found], axis=1),
            # the first batch's reason, whatever rank or resumed run met another one later
            {key: reason for block in reversed(found) for key, reason in block.reasons.items()},
            tuple(_once(key for block in found for key in block.unchanged)),
            tuple(_once(note for block in found for note in block.notes)),
        )


def _once(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))
