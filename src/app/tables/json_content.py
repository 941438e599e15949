"""JSON that a user hands over: one document, or one a line; what it is not is said in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.errors import UserError
from app.tables.content import Content, read_content

LINES = (".jsonl", ".ndjson")
"""How files of JSON lines end."""


def read_json(path: Path, key: str = "") -> Any:
    """What a JSON file holds; of a file of JSON lines, the list of them.

    Args:
        path: the file.
        key: the configuration's key it was given as, for messages.

    Raises:
        UserError: it cannot be read, is no JSON, or is nested too deeply.
    """
    if path.suffix.lower() in LINES:
        return _lines(read_content(path, key))
    content = read_content(path, key)
    try:
        return parse_json(content.text, content.shown)
    except UserError:
        if not content.text.lstrip().startswith("{"):
            raise
        try:
            return _lines(content, least=2)
        except UserError:
            pass
        raise


def parse_json(text: str | bytes, shown: str) -> Any:
    """What JSON text says.

    Args:
        text: the document.
        shown: what messages call it.

    Raises:
        UserError: it is no JSON, or is nested too deeply.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(
            f"{shown} is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise UserError(f"{shown} is not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise UserError(f"{shown} is not JSON: {error}") from None


def _lines(content: Content, least: int = 0) -> list[Any]:
    found = [
        parse_json(line, f"{content.shown}: line {number}")
        for number, line in enumerate(content.lines(), start=1)
        if line.strip()
    ]
    if len(found) < least:
        raise UserError(f"{content.shown} holds no JSON lines")
    return found
