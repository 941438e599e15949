"""Small jobs done one after another by a thread of their own, while the work that makes them goes on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]


class Writer:
    """A queue and its thread; a thread that hangs does not keep the process from ending.

    After a job that failed nothing more is done: a server may be away for hours.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._failure: Exception | None = None
        self._busy = self._stopped = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def add(self, job: Job) -> None:
        """Has a job done; raises what stopped an earlier one."""
        with self._changed:
            self._check()
            if self._thread.ident is None:
                self._thread.start()
            self._jobs.append(job)
            self._changed.notify_all()

    def drain(self, hopeless: Callable[[], bool] = lambda: False) -> None:
        """Waits until every job is done; raises what stopped one.

        Args:
            hopeless: is asked every second whether there is nothing to wait for.
        """
        with self._changed:
            while (self._jobs or self._busy) and not self._changed.wait_for(self._is_done, timeout=1):
                if hopeless():
                    break
            self._check()

    def stop(self) -> None:
        """Ends the thread; jobs that were not begun are forgotten."""
        with self._changed:
            self._stopped = True
            self._jobs.clear()
            self._changed.notify_all()

    def _is_done(self) -> bool:
        return not (self._jobs or self._busy)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._jobs) or self._stopped)
                if self._stopped:
                    return
                job, self._busy = self._jobs.popleft(), True
            failure = None
            try:
                job()
            except Exception as error:
                failure = error
            with self._changed:
                self._busy = False
                if failure is not None:
                    self._failure = failure
                    self._jobs.clear()
                self._changed.notify_all()
