"""Characters that nobody sees, or that turn the text around them, made visible where people read.

File names and class names are a stranger's: U+202E writes what follows backwards, an escape sequence paints a console,
a zero-width space makes two names look like one.
"""

from __future__ import annotations

import re

_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but for tab and line feed
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners and fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"  # zero width, line ends, directions
    "\ud800-\udfff\U000e0000-\U000e0fff"  # halves of characters, tags
)
_IN_TEXT = re.compile(f"[{_UNSEEN}]")
_IN_NAME = re.compile(f"[\t\n{_UNSEEN}]")


def visible(text: str) -> str:
    """Text in which unseen characters are escapes, as Python writes them; tabs and line feeds stay."""
    return text if text.isascii() and text.isprintable() else _IN_TEXT.sub(_escape, text)


def visible_name(name: str) -> str:
    """As `visible`, for what stands on one line: tabs and line feeds are escapes, too."""
    return name if name.isascii() and name.isprintable() else _IN_NAME.sub(_escape, name)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
