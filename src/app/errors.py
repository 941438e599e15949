"""The one error a user can cause, and the one outcome that a user can ask to fail."""


class UserError(Exception):
    """A mistake of the user's: shown as one line, without a stack trace, and ends with exit code 2.

    The message says what is wrong, where, and what is allowed.
    """


class NotPassed(Exception):  # noqa: N818 - it is no error
    """What a user asked to fail has happened, such as a regression: one line, and exit code 1.

    The work is done and its run is finished.
    """
