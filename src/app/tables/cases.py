"""Which case is meant: names of cases and paths of files, found by the shortest unambiguous end of the path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cached_property
from urllib.parse import parse_qs, unquote, urlsplit

from app.tables.numerals import whole

_UPLOAD = re.compile(r"^[0-9a-f]{8}-")
"""What Label Studio puts before the name of an uploaded file."""
_UPLOADS = "/data/upload/"
"""Where Label Studio keeps them: these folders are none of the user's."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]+://", re.IGNORECASE)


class CaseIndex:
    r"""Finds cases by the names that people and programs give them.

    A name is, in this order: a case's own; the same but for blanks around it, `\`, `./` or the normal form of Unicode;
    for a number, the one case whose name has that value (a spreadsheet makes 7 of 007); a longer path that ends with a
    case's, or a shorter one that ends one case's path only, whatever the case of the letters if nothing else fits.
    Addresses of Label Studio and other servers are taken for the path in them.

    Args:
        names: of the cases, all different.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(map(str, names))
        self._exact = {name: row for row, name in enumerate(self._names)}

    def rows(self, given: Sequence[str]) -> list[int | str]:
        """The cases that the names in one file mean; of a name that means none, or could mean two, why.

        Longer paths than the cases' must lie in one folder: july/1.png and august/1.png are not both 1.png.
        """
        found: list[int | str] = []
        roots: dict[tuple[str, ...], str] = {}
        for name in given:
            row, root = self._meant(name)
            if root and not isinstance(row, str):
                roots.setdefault(root, name)
                if len(roots) > 1:
                    other = next(each for each in roots.values() if each != roots[root])
                    row = f"it lies in another folder than {other}: name the cases as the data does"
                    roots.pop(root)
            found.append(row)
        return found

    def _meant(self, given: str) -> tuple[int | str, tuple[str, ...]]:
        """The case, or why there is none; and the folders that a longer path has before the case's."""
        exact = self._exact.get(given)
        if exact is not None:
            return exact, ()
        paths = _paths(given)
        for pieces in paths:
            if pieces in self._plain:
                return self._only(self._plain[pieces]), ()
        value = whole(given)
        if value is not None and value in self._values:
            return self._only(self._values[value]), ()
        for pieces in paths:
            folded = tuple(piece.casefold() for piece in pieces)
            for looked, names, ends in (
                (pieces, self._plain, self._tails),
                (folded, self._folded, self._folded_tails),
            ):
                if looked in ends:
                    return self._only(ends[looked]), ()
                for first in range(1, len(looked)):
                    if looked[first:] in names:
                        return self._only(names[looked[first:]]), pieces[:first]
        shortened = re.fullmatch(r"\d([.,]\d+)?[eE]\+?\d+", given.strip())
        return "a spreadsheet has shortened it: format the column as text" if shortened else "", ()

    def _only(self, rows: list[int]) -> int | str:
        if len(rows) == 1:
            return rows[0]
        more = f" and {len(rows) - 2} more" if len(rows) > 2 else ""
        return f"it fits {' and '.join(self._names[row] for row in rows[:2])}{more}: write more of the path"

    @cached_property
    def _plain(self) -> dict[tuple[str, ...], list[int]]:
        return self._by(_pieces)

    @cached_property
    def _folded(self) -> dict[tuple[str, ...], list[int]]:
        return self._by(lambda name: _pieces(name.casefold()))

    def _by(self, key: Callable[[str], tuple[str, ...]]) -> dict[tuple[str, ...], list[int]]:
        found: dict[tuple[str, ...], list[int]] = {}
        for row, name in enumerate(self._names):
            found.setdefault(key(name), []).append(row)
        return found

    @cached_property
    def _values(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for row, name in enumerate(self._names):
            value = whole(name)
            if value is not None:
                found.setdefault(value, []).append(row)
        return found

    @cached_property
    def _tails(self) -> dict[tuple[str, ...], list[int]]:
        return _ends_of(self._plain)

    @cached_property
    def _folded_tails(self) -> dict[tuple[str, ...], list[int]]:
        return _ends_of(self._folded)


def _ends_of(names: dict[tuple[str, ...], list[int]]) -> dict[tuple[str, ...], list[int]]:
    found: dict[tuple[str, ...], list[int]] = {}
    for pieces, rows in names.items():
        for first in range(len(pieces)):
            found.setdefault(pieces[first:], []).extend(rows)
    return found


def _pieces(name: str) -> tuple[str, ...]:
    """A path as its folders and name, the same on every system."""
    plain = unicodedata.normalize("NFC", name.strip()).replace("\\", "/")
    return tuple(piece for piece in plain.split("/") if piece not in {"", "."})


def _paths(given: str) -> list[tuple[str, ...]]:
    """The paths that a name may stand for: itself, or what an address of a server, local folder or upload holds."""
    plain = given.strip().replace("\\", "/")
    try:
        parts = urlsplit(plain)
        local = parse_qs(parts.query).get("d", [])
    except ValueError:
        return [_pieces(given)]
    path = unquote(parts.path)
    name = path.rpartition("/")[2]
    if local:
        found = [_pieces(local[0])]
    elif _UPLOADS in f"/{path}":
        found = [(_UPLOAD.sub("", name),), (name,)]
    elif _SCHEME.match(plain):
        found = [_pieces(path)]
    else:
        found = [_pieces(given), *([_pieces(path)] if "%" in plain else [])]
        if "/" not in plain:
            found.append((_UPLOAD.sub("", plain),))
    return [each for each in dict.fromkeys(found) if each and each != ("",)]
