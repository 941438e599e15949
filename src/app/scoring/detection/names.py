"""Names of models, operators, tags and images that become parts of a path."""

from __future__ import annotations

import re

from app.errors import UserError


def safe_name(name: str, what: str) -> str:
    """The name itself if it can only name one thing inside its folder.

    Raises:
        UserError: For an empty name, ``.`` or ``..``, a separator, a drive, or a NUL.
    """
    if name in ("", ".", "..") or any(letter in name for letter in "/\\\0") or re.match(r"[A-Za-z]:", name):
        raise UserError(
            f"{what} {name!r} is no plain name; separators, '..' and absolute paths are not allowed"
        )
    return name
