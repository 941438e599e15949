"""A store that does not answer is tried again for a while, aloud, and then given up for good."""

from __future__ import annotations

import logging
import re
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

from app.errors import Fault
from app.lineage import one_line

log = logging.getLogger(__name__)

SAID_AFTER = 20.0
"""Seconds without an answer after which a user is told."""
PAUSE = 3.0
"""Seconds between two attempts."""
_PASSING = frozenset(
    {
        "TEMPORARILY_UNAVAILABLE",
        "INTERNAL_ERROR",
        "REQUEST_LIMIT_EXCEEDED",
        "DEADLINE_EXCEEDED",
        "RESOURCE_EXHAUSTED",
    }
)
"""Codes of MLflow's errors that may be over in a moment."""
_REFUSING = frozenset({"PERMISSION_DENIED", "UNAUTHENTICATED", "CUSTOMER_UNAUTHORIZED"})
_READING = frozenset({"download_artifacts", "list_artifacts"})
"""Calls whose errors say that something is not there, which is an answer."""
_KNOWN = {
    r"is locked": "another program holds it locked",
    r"Connection refused": "the connection is refused",
    r"timed out": "no answer in time",
    r"(5\d\d) error|error code (5\d\d)": r"error code \1\2",
    r"API request to \S+ failed with exception": "the connection is broken",
}
"""Signs of common reasons, and how they are said."""
_LOWER = frozenset({"requests", "urllib3", "sqlalchemy", "sqlite3", "psycopg2", "pymysql"})
"""Libraries whose errors come from below MLflow."""


class PatientClient:
    """MLflow's client, whose every call waits for a store that is away.

    What the store refuses for good reasons, such as a run that it does not know, is raised as it is.

    Args:
        client: MLflow's.
        address: the store's, for messages.
        seconds: how long a call is tried again.
        file: the database, where the store is a file.
    """

    def __init__(self, client: Any, address: str, seconds: float, file: Path | None = None) -> None:
        self._client, self._address, self._seconds, self._file = client, address, seconds, file
        self._lost = ""
        self.is_hurried = False
        """Whether a call is not tried again, and not tried at all while the store is away."""
        self.is_away = False
        """Whether the store has not answered the last call, as far as is known."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        waits = callable(found) and name not in _READING
        return partial(self._call, found) if waits else found

    def _call(self, method: Any, *args: Any, **options: Any) -> Any:
        if self._lost or (self.is_away and self.is_hurried):
            raise Fault(self._lost or f"tracking.uri={self._address} does not answer")
        if self._file is not None:
            self._check_file(self._file)
        begin = time.monotonic()
        while True:
            watch = threading.Timer(SAID_AFTER, self._say, [f"has not answered for {SAID_AFTER:.0f} s"])
            watch.daemon = True
            watch.start()
            try:
                answer = method(*args, **options)
            except Exception as error:
                if not self._is_fault(error):
                    raise
                over = time.monotonic() - begin >= self._seconds or self.is_hurried
                if over or not self._may_pass(error):
                    self._lost = f"tracking.uri={self._address} {self._failed(error)}"
                    raise Fault(self._lost) from error
                self._say(f"does not answer ({_reason(error)})")
                self._pause()
            else:
                if self.is_away:
                    log.warning("tracking.uri=%s answers again", self._address)
                self.is_away = False
                return answer
            finally:
                watch.cancel()

    def _pause(self) -> None:
        end = time.monotonic() + PAUSE
        while time.monotonic() < end and not self.is_hurried:
            time.sleep(0.1)

    def _check_file(self, file: Path) -> None:
        """SQLite goes on writing into a file that has no name any more."""
        try:
            emptied = file.stat().st_size == 0
        except OSError:
            raise Fault(f"tracking.uri={self._address} was deleted while the run went on") from None
        if emptied:
            raise Fault(f"tracking.uri={self._address} was emptied while the run went on")

    def _is_fault(self, error: Exception) -> bool:
        """Whether an error is about the store, and not about what it was asked."""
        if (
            isinstance(error, ConnectionError | TimeoutError)
            or _is_lower(error)
            or _is_lower(error.__cause__)
        ):
            return True
        return getattr(error, "error_code", "") in _PASSING | _REFUSING

    def _may_pass(self, error: Exception) -> bool:
        if self._file is not None:
            return re.search(r"\b(locked|busy)\b", str(error)) is not None
        return getattr(error, "error_code", "") not in _REFUSING

    def _failed(self, error: Exception) -> str:
        if self._may_pass(error):
            tried = "" if self.is_hurried else f", and was tried for {spoken(self._seconds)}"
            return f"does not answer{tried}: {_reason(error)}"
        return f"cannot be used any more: {_reason(error)}"

    def _say(self, what: str) -> None:
        """Once until it answers again."""
        if not self.is_away:
            self.is_away = True
            again = "" if self.is_hurried else f": it is tried again for {spoken(self._seconds)}"
            log.warning("tracking.uri=%s %s%s", self._address, what, again)


def spoken(seconds: float) -> str:
    """A time as it is said."""
    number, unit = (seconds, "second") if seconds < 120 else (seconds / 60, "minute")
    return f"{number:.3g} {unit}{'' if number == 1 else 's'}"


def _is_lower(error: BaseException | None) -> bool:
    return type(error).__module__.partition(".")[0] in _LOWER


def _reason(error: Exception) -> str:
    """Why, without the layers that have handed the message on."""
    whole = str(error)
    for sign, words in _KNOWN.items():
        if found := re.search(sign, whole):
            return found.expand(words)
    text = next((line for line in whole.splitlines() if not line.startswith("(raised as a result")), whole)
    text = one_line(text)
    text = re.sub(r"^\(\w+\.\w+\) ", "", text)
    return text if len(text) <= 200 else f"{text[:200]} …"
