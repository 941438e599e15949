"""The one error a user can cause."""


class UserError(Exception):
    """A mistake of the user's: shown as one line, without a stack trace, and ends with exit code 2.

    The message says what is wrong, where, and what is allowed.
    """
