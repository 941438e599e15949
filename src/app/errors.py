"""What can end a command: a user's mistake, a fault of its surroundings, an outcome that was asked to fail."""

from __future__ import annotations


class UserError(Exception):
    """A mistake of the user's: shown as one line, without a stack trace, and ends with exit code 2.

    The message says what is wrong, where, and what is allowed. A mistake that is found before anything was computed
    leaves no run behind.
    """


class Fault(Exception):  # noqa: N818 - it is the word of the trade
    """What befell a command that did nothing wrong: one line, and exit code 1.

    A full disk, a store that does not answer, a killed process, a picture that is gone. The run ends FAILED, and what
    was finished is kept.

    Args:
        cause: what happened.
        go_on: how the work is gone on with, once that is known.
    """

    def __init__(self, cause: str, go_on: str = "") -> None:
        super().__init__(cause, go_on)
        self.cause, self.go_on = cause, go_on

    def __str__(self) -> str:
        return f"{self.cause}; {self.go_on}" if self.go_on else self.cause


class NotPassed(Exception):  # noqa: N818 - it is no error
    """What a user asked to fail has happened, such as a regression: one line, and exit code 1.

    The work is done and its run is finished.
    """
