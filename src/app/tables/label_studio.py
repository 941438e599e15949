"""Labels in JSON: Label Studio's exports, whole and minimal, and plain lists of cases with their labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import UserError
from app.tables.table import CASES, LABELS, PREDICTED, canonical, short

_ANNOTATED = ("annotation_id", "annotator", "lead_time")
"""What a minimal export says of an annotation, whatever was asked."""


@dataclass(frozen=True)
class Given:
    """A label as it was given."""

    path: str
    """What it is of."""
    label: str
    """What was said."""
    where: str
    """File and line, or task."""
    predicted: str = ""
    """What the file says was predicted; empty where it does not say."""


def read_export(tasks: Any, path: Path) -> Iterator[Given]:
    """The labels in what a JSON file holds.

    Args:
        tasks: what it holds.
        path: the file.

    Raises:
        UserError: it is no list of tasks, a task has a choice and no path, two choices, or none that is understood.
    """
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise UserError(f"{path} is no export of Label Studio: a list of tasks is needed")
    for number, task in enumerate(tasks, start=1):
        where = f"{path.name} task {task.get('id', number)}"
        data = task["data"] if isinstance(task.get("data"), dict) else task
        name = _text(data, CASES, numbers="data" in task or "image" not in task)
        chosen = list(_choices(task, f"{path}: task {task.get('id', number)}"))
        if name is None and chosen:
            raise UserError(f"{path}: task {number} says neither path nor image")
        for choice in chosen:
            yield Given(str(name), choice, where, _text(data, PREDICTED, numbers=True) or "")


def _text(data: Mapping[str, Any], names: Sequence[str], *, numbers: bool) -> str | None:
    """The first of several entries that is text, else, if allowed, the first that is a number."""
    by_name = {canonical(name): value for name, value in data.items()}
    found = [by_name[name] for name in names if name in by_name]
    words = [each for each in found if isinstance(each, str)]
    if numbers:
        words += [str(each) for each in found if isinstance(each, int | float) and not isinstance(each, bool)]
    return words[0] if words else None


def _choices(task: Mapping[str, Any], where: str) -> Iterator[str]:
    """What the annotators chose; cancelled annotations and predictions of a model do not count."""
    annotations = task.get("annotations", task.get("completions"))
    if isinstance(annotations, list):
        for annotation in annotations:
            if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
                yield from _in_annotation(annotation, where)
        return
    values = {canonical(name): value for name, value in task.items() if name != "data"}
    found = next((values[name] for name in (*LABELS, "choices") if values.get(name) is not None), None)
    if found is None:  # the question may have any name; its answer tells what it is
        found = next((each for each in values.values() if isinstance(each, dict) and "choices" in each), None)
    if found is None:
        if any(name in values for name in _ANNOTATED):
            raise UserError(f"{where} has no choice called 'label': name the question so in Label Studio")
        return
    yield from _one(found, where)


def _in_annotation(annotation: Mapping[str, Any], where: str) -> Iterator[str]:
    results = [each for each in annotation.get("result") or [] if isinstance(each, dict)]
    choices = [each for each in results if isinstance(each.get("value"), dict) and "choices" in each["value"]]
    if results and not choices:
        raise UserError(f"{where} has an annotation and no choice: give the class as one choice")
    names = {str(each.get("from_name", "")) for each in choices}
    if len(names) > 1:
        asked = [name for name in names if canonical(name) in LABELS]
        if len(asked) != 1:
            raise UserError(
                f"{where} answers several questions ({', '.join(sorted(names))}): name the one that asks for the "
                "class 'label'"
            )
        choices = [each for each in choices if str(each.get("from_name", "")) == asked[0]]
    for each in choices:
        yield from _one(each["value"], where)


def _one(value: Any, where: str) -> Iterator[str]:
    """The one choice in an answer; none if it is empty."""
    chosen = value.get("choices", value.get("choice")) if isinstance(value, dict) else value
    listed = list(chosen) if isinstance(chosen, list) else [chosen]
    if len(listed) > 1:
        raise UserError(
            f"{where} has {len(listed)} choices ({', '.join(short(str(each)) for each in listed[:3])}): give one"
        )
    for each in listed:
        if isinstance(each, dict | list) or each is None:
            if each is None and not isinstance(value, dict):
                continue
            raise UserError(f"{where} has an answer that is no choice: {short(str(value))}")
        if str(each).strip():
            yield str(each)
