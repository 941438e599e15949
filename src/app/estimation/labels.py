"""Labels that people gave: a filled `to_label.csv`, a Label Studio export, or a folder with several of them.

Every case that got two different labels, every path that is no case and every class that the model does not know is
named; nothing is guessed.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError
from app.estimation.population import IntArray, Population

_PATHS = ("path", "id", "case", "image")
_LABELS = ("label", "true_class", "class", "choice")
_WORDS = {"correct": 0, "pass": 0, "wrong": 1, "fail": 1, "failure": 1}
"""What may be said of a case in place of its class."""
_UPLOAD = re.compile(r"^[0-9a-f]{8}-")
"""What Label Studio puts before the name of an uploaded file."""
_SHOWN = 3


@dataclass(frozen=True)
class Labels:
    """What is known of a population so far."""

    outcomes: NDArray[np.int8]
    """(N,) 1 failure, 0 correct, -1 no label yet."""
    classes: IntArray
    """(N,) true class; -1 without a label, or where only the outcome was given."""

    @property
    def count(self) -> int:
        """How many cases have a label."""
        return int((self.outcomes >= 0).sum())

    def over(self, others: Labels) -> Labels:
        """These labels, and those of others where these say nothing."""
        mine = self.outcomes >= 0
        return Labels(
            np.where(mine, self.outcomes, others.outcomes), np.where(mine, self.classes, others.classes)
        )


@dataclass(frozen=True)
class _Given:
    path: str
    label: str
    where: str


def no_labels(population: Population) -> Labels:
    """Nothing is known yet."""
    return Labels(np.full(population.size, -1, np.int8), np.full(population.size, -1, np.int64))


def read_labels(path: Path | str, population: Population, class_names: Sequence[str] = ()) -> Labels:
    """The labels in a file, or in all `.csv` and `.json` files of a folder.

    CSV: a column `path` (or id) and a column `label`; rows without a label are still to do; commas, semicolons or tabs.
    JSON: Label Studio's export, whole or minimal. A label is the name of a class whatever the case of its letters, its
    number, or `correct` and `wrong` where the true class does not matter.

    Args:
        path: the file or folder.
        population: the cases; predicted classes are needed unless all labels say correct or wrong.
        class_names: names of the classes; without any, labels are class numbers.

    Raises:
        UserError: what is missing or broken, unknown paths or classes, and cases with two different labels.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        files = sorted(each for each in place.iterdir() if each.suffix.lower() in {".csv", ".json"})
        if not files:
            raise UserError(f"labels={place} holds no .csv and no .json file")
    elif place.is_file():
        files = [place]
    else:
        raise UserError(f"labels={place} does not exist")
    given = [each for file in files for each in _read(file)]
    labels = no_labels(population)
    rows = _rows(given, population, str(place))
    said: dict[int, tuple[int, int]] = {}
    by: dict[int, _Given] = {}
    strange: list[str] = []
    twice: list[str] = []
    for each, row in zip(given, rows, strict=True):
        try:
            meant = _meant(each.label, row, population, class_names)
        except KeyError:
            strange.append(f"{each.label!r} ({each.where})")
            continue
        if row in said and said[row] != meant:
            twice.append(
                f"{each.path} is {by[row].label!r} ({by[row].where}) and {each.label!r} ({each.where})"
            )
        said[row], by[row] = meant, each
    if strange:
        allowed = (
            ", ".join([*map(str, class_names[:30]), "correct", "wrong"]) if class_names else "class numbers"
        )
        raise UserError(f"labels={place}: unknown class {_few(strange)}; allowed: {allowed}")
    if twice:
        raise UserError(f"labels={place}: labelled twice with different values: {_few(twice)}")
    for row, (outcome, label) in said.items():
        labels.outcomes[row], labels.classes[row] = outcome, label
    return labels


def _few(found: Sequence[str]) -> str:
    rest = len(found) - _SHOWN
    return "; ".join(found[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")


def _meant(label: str, row: int, population: Population, class_names: Sequence[str]) -> tuple[int, int]:
    """(outcome, class) of a label.

    Raises:
        KeyError: it is no class.
    """
    word = label.strip()
    names = {name.casefold(): index for index, name in enumerate(class_names)}
    if word.casefold() in names:
        index = names[word.casefold()]
    elif word.casefold() in _WORDS:
        return _WORDS[word.casefold()], -1
    elif re.fullmatch(r"\d+(\.0+)?", word) and (not class_names or int(float(word)) < len(class_names)):
        index = int(float(word))
    else:
        raise KeyError(word)
    if population.predicted is None:
        raise UserError(
            f"population {population.name!r} has no predicted classes to compare labels with: give 'correct' or"
            f" 'wrong' as label, not {word!r}"
        )
    return int(index != population.predicted[row]), index


def _rows(given: Sequence[_Given], population: Population, place: str) -> list[int]:
    """The case that each label is of."""
    exact: dict[str, int] = {name: row for row, name in enumerate(population.ids.tolist())}
    by_name: dict[str, list[int]] = {}
    for name, row in exact.items():
        by_name.setdefault(PurePosixPath(name).name, []).append(row)
    rows: list[int] = []
    unknown: list[str] = []
    for each in given:
        place_of = exact.get(each.path, _by_address(each.path, exact, by_name))
        if place_of is None:
            unknown.append(f"{each.path} ({each.where})")
        else:
            rows.append(place_of)
    if unknown:
        raise UserError(f"labels={place}: no case of {population.name} is {_few(unknown)}")
    return rows


def _by_address(given: str, exact: Mapping[str, int], by_name: Mapping[str, list[int]]) -> int | None:
    """The case behind an address of Label Studio's: /data/upload/1/0a1b2c3d-cat.png, /data/local-files/?d=x/cat.png."""
    parts = urlsplit(given.replace("\\", "/"))
    path = parse_qs(parts.query).get("d", [unquote(parts.path)])[0]
    pieces = [piece for piece in PurePosixPath(path).parts if piece not in {"/", "."}]
    for first in range(len(pieces)):
        row = exact.get("/".join(pieces[first:]))
        if row is not None:
            return row
    name = _UPLOAD.sub("", pieces[-1]) if pieces else ""
    found = by_name.get(name, [])
    return found[0] if len(found) == 1 and parts.path.startswith(("/data/", "data/", "http")) else None


def _read(path: Path) -> Iterator[_Given]:
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text: save it as CSV UTF-8") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
    return _read_json(content, path) if path.suffix.lower() == ".json" else _read_csv(content, path)


def _column(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    lower = [name.strip().lower() for name in names]
    return next((lower.index(each) for each in wanted if each in lower), None)


def _read_csv(content: str, path: Path) -> Iterator[_Given]:
    first = content.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    lines = csv.reader(io.StringIO(content, newline=""), delimiter=mark)
    names = next(lines, [])
    case, label = _column(names, _PATHS), _column(names, _LABELS)
    if case is None or label is None:
        missing = "path" if case is None else "label"
        raise UserError(f"{path} has no column {missing!r}; it has: {', '.join(names) or 'nothing'}")
    for number, row in enumerate(lines, start=2):
        if not any(row):
            continue
        if len(row) <= max(case, label):
            raise UserError(f"{path}: line {number} has {len(row)} fields, the header has {len(names)}")
        if row[label].strip():
            yield _Given(row[case].strip(), row[label].strip(), f"{path.name} line {number}")


def _read_json(content: str, path: Path) -> Iterator[_Given]:
    try:
        tasks = json.loads(content)
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}") from None
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise UserError(f"{path} is no export of Label Studio: a list of tasks is needed")
    for number, task in enumerate(tasks, start=1):
        where = f"{path.name} task {task.get('id', number)}"
        data = task["data"] if isinstance(task.get("data"), dict) else task
        name = next((str(data[key]) for key in _PATHS if isinstance(data.get(key), str)), None)
        choices = list(_choices(task))
        if name is None and choices:
            raise UserError(f"{path}: task {number} says neither path nor image")
        for choice in choices:
            yield _Given(str(name), choice, where)


def _choices(task: Mapping[str, Any]) -> Iterator[str]:
    """What the annotators chose; cancelled annotations and predictions of a model do not count."""
    minimal = next((task[key] for key in _LABELS if isinstance(task.get(key), str | int)), None)
    if minimal is not None and str(minimal).strip():
        yield str(minimal)
    annotations = task.get("annotations", task.get("completions", []))
    for annotation in annotations if isinstance(annotations, list) else []:
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        for result in annotation.get("result") or []:
            value = result.get("value", {}) if isinstance(result, dict) else {}
            chosen = value.get("choices") if isinstance(value, dict) else None
            if chosen:
                yield str(chosen[0])
