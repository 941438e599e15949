"""What one invocation is given beside its configured parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.visible import visible


@dataclass(frozen=True)
class Job:
    """One job: a command, or one of a sweep."""

    output: Path
    """Folder for reports and pictures; it exists."""
    config: Mapping[str, Any]
    """The composed configuration, references resolved."""
    yaml: str
    """The same as text."""
    digest: str
    """Of what the task computes from, so that equal digests mean equal numbers."""
    command: str
    """The command line that repeats it."""
    first: bool = True
    """Whether this process is the one that writes; the others only compute."""
    quiet: bool = False
    """Whether it is a part of a larger job, which says in the end what there is to say."""
    named: frozenset[str] | None = None
    """The operators that the user named; the others come from a set of ours. None: all of them."""

    def say(self, lines: Sequence[str]) -> None:
        """Prints the lines that a command ends with, unless it is a part of a larger one."""
        if not self.quiet:
            print(visible("\n".join(lines)))
