"""The schema block of every report, and strict JSON files: written whole, read with clear errors.

A report is a dataclass whose first field is its `Schema`. Versions count per artifact: equal versions are
read fully, older ones partially (`older` says so, `typed.missing` names what they lack), newer ones refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any, NoReturn

import numpy as np

from app import __version__, durable
from app.errors import UserError
from app.stats import Interval

TOOL = "assay"
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


@dataclass(frozen=True)
class Generator:
    """What wrote a report."""

    tool: str = TOOL
    """Name of the tool."""
    version: str = __version__
    """Its version."""


@dataclass(frozen=True)
class Schema:
    """What kind of report a file holds, and in which form."""

    artifact: str
    """`assay.<task>`."""
    version: int
    """Counts up per artifact, from 1, when the form changes."""
    generator: Generator = field(default_factory=Generator)
    """What wrote it."""


def plain(value: Any) -> Any:
    """The value as JSON knows it: dicts, lists, strings, ints, finite floats, booleans and None.

    Dataclasses become dicts in the order of their fields, but an `Interval` its two ends, or None where nothing was
    measured; arrays and sequences become lists, sets sorted lists. NaN
    and infinities become None, -0.0 becomes 0.0. Characters that UTF-8 cannot hold (file names that were not
    text) become their escapes.

    Args:
        value: Anything made of these, of NumPy scalars and arrays, and of paths.

    Raises:
        TypeError: A value, or a mapping's key, has no JSON form.
    """
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number + 0.0 if math.isfinite(number) else None
    if isinstance(value, PurePath):
        return plain(value.as_posix())
    return _plain_container(value)


def _plain_container(value: Any) -> Any:
    if isinstance(value, Interval):
        return plain(value.ends)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Mapping):
        body = {_key(key): plain(item) for key, item in value.items()}
        if len(body) != len(value):
            raise TypeError(f"two keys of a mapping have one JSON name: {list(value)}")
        return body
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Set):
        return sorted(plain(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [plain(item) for item in value]
    raise TypeError(f"a {type(value).__name__} has no JSON form: {value!r}")


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _key(key: Any) -> str:
    if isinstance(key, (bool, np.bool_)) or not isinstance(key, (str, int, np.integer)):
        raise TypeError(f"a JSON key is a string or an integer, not {key!r}")
    return str(plain(key))


def dumps(report: Any) -> str:
    """The report as strict JSON text: a row of a table a line, two spaces of indent, a newline at the end.

    Equal reports give equal text. Floats are written so that they read back exactly.
    """
    return _lines(plain(report))


def _lines(value: Any) -> str:
    return _text(value, "\n") + "\n"


def _text(value: Any, margin: str) -> str:
    """JSON of a plain value, its further lines behind a margin; what holds no containers is written at C's speed."""
    if not value or not isinstance(value, dict | list) or (isinstance(value, list) and _is_flat(value)):
        return _encode(value)
    inner = margin + "  "
    if isinstance(value, dict):
        items = [f"{_encode(key)}: {_text(item, inner)}" for key, item in value.items()]
    else:
        items = [_encode(item) if _is_row(item) else _text(item, inner) for item in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}{inner}{f',{inner}'.join(items)}{margin}{last}"


def _is_row(item: Any) -> bool:
    """An object of scalars and of lists of scalars, such as intervals."""
    return isinstance(item, dict) and all(
        not isinstance(each, dict) and not (isinstance(each, list) and not _is_flat(each))
        for each in item.values()
    )


def _is_flat(items: list[Any]) -> bool:
    return not any(isinstance(item, dict | list) for item in items)


def write_json(report: Any, path: Path) -> Path:
    """Writes `dumps(report)` to a file, whole or not at all, and gives the path back.

    Raises:
        OSError: The file cannot be written.
    """
    return write_bytes(dumps(report).encode(), path)


def write_plain(body: Mapping[str, Any], path: Path) -> Path:
    """The same of what is plain already.

    Raises:
        UserError: The file cannot be written.
    """
    return write_bytes(_lines(body).encode(), path)


def write_bytes(content: bytes, path: Path) -> Path:
    """Writes a file so that a reader never sees half of it, and gives the path back.

    Raises:
        OSError: The file cannot be written.
    """
    return durable.write(content, path)


def read_report(path: Path, artifact: str, newest: int) -> dict[str, Any]:
    """The body of a report file, after its schema block was checked.

    Args:
        path: A JSON file.
        artifact: What it must hold, such as `assay.mutate`.
        newest: The newest version of that artifact the caller understands.

    Raises:
        UserError: The file is missing or not strict JSON, has no schema block, holds another artifact or a
            newer version than `newest`.
    """
    body = _parse(path)
    if not isinstance(body, dict) or not isinstance(body.get("schema"), dict):
        raise UserError(f"{path} is no report of Assay: it has no schema block")
    found, version = body["schema"].get("artifact"), body["schema"].get("version")
    if not isinstance(found, str) or not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UserError(f"{path} has a damaged schema block: artifact {found!r}, version {version!r}")
    if found != artifact:
        raise UserError(f"{path} holds {found}, but {artifact} is needed here")
    if version > newest:
        raise UserError(
            f"{path} is version {version} of {artifact}; this Assay reads up to version {newest}: update it"
        )
    return body


def _parse(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes().decode("utf-8"), parse_constant=_refuse)
    except OSError as error:
        raise UserError(f"cannot read the report {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not JSON: not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except ValueError as error:
        raise UserError(f"{path} is not strict JSON: {error}") from None
    except RecursionError:
        raise UserError(f"{path} is not strict JSON: it is nested too deeply") from None


def _refuse(token: str) -> NoReturn:
    raise ValueError(f"it holds the token {token}")


def older(body: Mapping[str, Any], newest: int) -> str | None:
    """A sentence saying that a report is older and so read partially; None if it is of the newest version."""
    block = body["schema"]
    if block["version"] >= newest:
        return None
    return f"version {block['version']} of {block['artifact']} is older than {newest}: read partially"
