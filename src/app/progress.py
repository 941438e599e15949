"""A bar for long work: what is being done, how much of it, how long still. Silent when nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.visible import visible_name


@contextmanager
def bar(what: str, total: int, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while the block runs; gives the function that moves it on.

    Args:
        what: what is being done.
        total: steps in all.
        shown: whether this process may show one.
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - only where somebody looks
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    times = TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
    with Progress(*columns, *times, console=Console(stderr=True)) as progress:
        task = progress.add_task(escape(visible_name(what)), total=total)
        yield lambda steps: progress.advance(task, steps)
