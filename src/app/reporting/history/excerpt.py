"""Reports read for their numbers: long lists that hold none of them are not even parsed, which is most of the time.

A mutate report of 420 kB with 208 mutants takes a tenth of the time so. Any other JSON is parsed whole.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from app.errors import UserError

LARGEST = 64 * 2**20
"""Bytes of a report; what is larger is none of ours."""
LONG = frozenset(
    {
        *("mutants", "survivors", "by_layer", "signal_coverage", "duplicates"),
        *("confusion", "confused", "hard_examples", "slices", "embeddings", "gradcam", "dataset_quality"),
        *("failures", "wins", "between", "groups", "pairs", "clusters", "suggestions"),
        *("confusions", "reliability", "curves", "false_positives", "false_negatives", "suspects"),
    }
)
"""Keys at the top of a report from which no number is read."""
_KEY = b'\n  "'
"""How a key at the top begins in a file as `schema.dumps` writes it: inside strings there are no line ends."""
_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
"""A surrogate in a JSON text."""
_HALF = re.compile("[\ud800-\udfff]")
"""A surrogate without its other half."""


def read_excerpt(path: Path) -> Mapping[str, Any]:
    """The JSON object in a report file, without the keys in `LONG` where the file has the usual form.

    Raises:
        UserError: why it is no such file, in words that go behind its name.
    """
    content = _content(path)
    body = _parsed(_shortened(content))
    return _object(_whole(content) if body is None else body)


def read_whole(path: Path) -> Mapping[str, Any]:
    """The JSON object in a report file.

    Raises:
        UserError: why it is no such file, in words that go behind its name.
    """
    return _object(_whole(_content(path)))


def _content(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UserError("it is no regular file")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise UserError(f"it cannot be read: {error.strerror or error}") from None
    if len(content) > LARGEST:
        raise UserError(f"it is larger than {LARGEST // 2**20} MB")
    return content


def _object(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise UserError("it is no report of Assay: it holds no object")
    return body


def _shortened(content: bytes) -> bytes:
    """The text without its long parts; all of it if it is not of the usual form."""
    if not (content.startswith(b'{\n  "') and content.endswith(b"\n}\n")):
        return content
    starts = [2]  # behind the brace and the line end
    place = content.find(_KEY, 2)
    while place >= 0:
        starts.append(place + 1)
        place = content.find(_KEY, place + 1)
    parts = []
    for start, stop in zip(starts, [*starts[1:], len(content) - 2], strict=True):
        name = content[start + 3 : content.find(b'"', start + 3)].decode("ascii", "replace")
        if name not in LONG:
            parts.append(content[start:stop].rstrip().removesuffix(b","))
    return b"{" + b",".join(parts) + b"}"


def _parsed(content: bytes) -> Any:
    try:
        return _load(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _whole(content: bytes) -> Any:
    """Everything parsed, to say what is wrong."""
    try:
        return _load(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UserError(f"it is not JSON: not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise UserError(f"it is not JSON: {error.msg} at line {error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"it is not strict JSON: {error}") from None


def _load(text: str) -> Any:
    """What a JSON text holds; halves of surrogate pairs, which no file or store takes, written out in letters."""
    body = json.loads(text, parse_constant=_refuse)
    if not _ESCAPED.search(text):
        return body
    plain = json.dumps(body, ensure_ascii=False)
    return json.loads(_HALF.sub(lambda half: rf"\\u{ord(half[0]):04x}", plain))


def _refuse(token: str) -> NoReturn:
    raise ValueError(f"it holds the token {token}")
