"""Ctrl-C and its kin: the first one stops the work, and those that follow at once do not disturb the clearing up."""

from __future__ import annotations

import _thread
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 5.0
"""For how long after one signal further ones are taken for the same wish."""
_KINDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_heard: set[signal.Signals] = set()
_last = -math.inf
_held = 0


def listen() -> None:
    """Has every signal that politely ends a process raise a KeyboardInterrupt, unless whoever started it ignores it."""
    global _last  # noqa: PLW0603 - signals are the process's
    _last = -math.inf
    if threading.current_thread() is not threading.main_thread():
        return
    for kind in _KINDS:
        if signal.getsignal(kind) is not signal.SIG_IGN:
            _heard.add(kind)
            signal.signal(kind, _raise)
    sys.unraisablehook = _raise_again


def listen_again() -> None:
    """Takes the signals back from a library that has them for itself."""
    if threading.current_thread() is threading.main_thread():
        for kind in _heard:
            signal.signal(kind, _raise)


def ignore() -> None:
    """Lets nothing disturb the end any more."""
    for kind in _KINDS:
        signal.signal(kind, signal.SIG_IGN)


@contextmanager
def held() -> Iterator[None]:
    """Lets the block, which must be short, end in peace: what comes meanwhile comes too late."""
    global _held  # noqa: PLW0603 - as above
    _held += 1
    try:
        yield
    finally:
        _held -= 1


def _raise(*_: object) -> None:
    global _last  # noqa: PLW0603 - as above
    now = time.monotonic()
    if _held or now - _last < SECONDS:
        return
    _last = now
    raise KeyboardInterrupt


def _raise_again(lost: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised while it clears something away: it comes again a moment later."""
    global _last  # noqa: PLW0603 - as above
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _last = -math.inf
        threading.Timer(0.05, _thread.interrupt_main, [signal.SIGTERM]).start()
    else:
        sys.__unraisablehook__(lost)
