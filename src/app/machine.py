"""What this machine has: cores and memory, so that nobody asks more of it than it can give."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from app.errors import UserError

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says how much a container may use."""


def cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return max(len(os.sched_getaffinity(0)), 1)
    return os.cpu_count() or 1


def memory() -> int | None:
    """Bytes of memory that this machine, or the container around this process, has; None if nobody says."""
    known = []
    with contextlib.suppress(AttributeError, ValueError, OSError):
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit in map(Path, _LIMITS):
        try:
            known.append(int(limit.read_text(encoding="ascii")))
        except (OSError, ValueError):  # no container, or one without a limit
            continue
    return min((each for each in known if each > 0), default=None)


def helpers(asked: int, jobs: int) -> int:
    """How many threads or processes can be of use where so many are asked for: no more than cores or jobs.

    Args:
        asked: how many a user wants; 0 stays 0.
        jobs: how many things there are to do.
    """
    return min(asked, cores(), max(jobs, 1))


def fewer(key: str, asked: int, jobs: int) -> tuple[str, ...]:
    """The note that fewer threads or processes work than a key asks for; none if all do.

    Args:
        key: in the configuration.
        asked: its value.
        jobs: how many things there are to do.
    """
    given = helpers(asked, jobs)
    if given == asked:
        return ()
    return (f"{key} is {asked:,}, but {given} work: there are {cores()} cores and {jobs:,} things to do",)


def refuse_above(needed: float, what: str, remedy: str) -> None:
    """Refuses work whose results this machine cannot hold.

    Args:
        needed: bytes of them.
        what: what they are, as the beginning of a sentence.
        remedy: what a user can do.

    Raises:
        UserError: they need more than half of the memory.
    """
    has = memory()
    if has is not None and needed > has / 2:
        raise UserError(f"{what} need {size(needed)} of memory, and this machine has {size(has)}: {remedy}")


def size(count: float) -> str:
    """A number of bytes in words: 3 KiB, 1.5 GiB."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:,.4g} TiB"
