"""The words of a command line: what a user may write, made into what Hydra reads."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from hydra._internal.utils import get_args_parser

from app import __version__
from app import config as configuration
from app.errors import UserError

SEVERAL = ("operators", "estimators")
"""Groups of which several options can be chosen at once."""


def read() -> str | None:
    """Brings the command line into the form that Hydra reads: options first, `mutate` as `task=mutate`.

    Returns:
        What to print in place of a job: the help or the version; None for a job.

    Raises:
        UserError: an unknown option, or a word that is no task.
    """
    given, words = _parsed(sys.argv[1:])
    if given.version:
        return f"assay {__version__}"
    if given.shell_completion:
        _complete_words()
        return None
    words = _with_task(words, given.config_dir)
    if given.help:
        return configuration.usage() if (task := _task_of(words)) is None else configuration.task_usage(task)
    _refuse_no_names(words)
    sys.argv[1:] = [*_options(given), *words]
    return None


def door() -> list[str]:
    """The words that a command begins with, as this one did."""
    path = Path(sys.argv[0])
    if path.stem == "assay":
        return ["assay"]
    package = "assay" if (path.parent.name, path.name) == ("assay", "__main__.py") else "app"
    return ["python", "-m", package]


class _Parser(argparse.ArgumentParser):
    """Hydra's options, wherever they stand; what is wrong with one is said as any mistake is."""

    def error(self, message: str) -> NoReturn:
        """Raises UserError."""
        raise UserError(f"{message}; {' '.join(door())} --help shows how to call")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(add_help=False)
    for action in get_args_parser()._actions:
        if action.dest == "version":
            parser.add_argument("--version", action="store_true")
        else:
            parser._add_action(action)
    return parser


def _parsed(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = _parser()
    given, rest = parser.parse_known_intermixed_args(arguments)
    if rest:
        known = [name for action in parser._actions for name in action.option_strings]
        close = difflib.get_close_matches(rest[0].partition("=")[0], known, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UserError(f"unknown option {rest[0]}.{hint} {' '.join(door())} --help shows how to call")
    return given, list(given.overrides)


def _options(given: argparse.Namespace) -> list[str]:
    """The options that were given, with their values."""
    words: list[str] = []
    for action in _parser()._actions:
        value = getattr(given, action.dest)
        if action.option_strings and value not in (None, False):
            words += [action.option_strings[0], *([] if value is True else [str(value)])]
    return words


def _with_task(words: Sequence[str], folder: str | None) -> list[str]:
    """The words with `task=` before the one that is a task's name."""
    plain = [each for each in words if "=" not in each and not each.startswith(("~", "+"))]
    if not plain:
        return list(words)
    own = Path(folder, "task").glob("*.yaml") if folder else ()
    tasks = [*configuration.choices("task"), *(path.stem for path in own)]
    for word in plain:
        for name in word.split(","):
            if name not in tasks:
                raise UserError(_unknown(name, tasks))
    named = [each for each in words if each.startswith("task=")]
    if len(plain) + len(named) > 1:
        chosen = ", ".join([*plain, *named])
        raise UserError(
            f"several tasks were chosen: {chosen}; give one, or task=NAME,NAME with -m to run each"
        )
    return [f"task={each}" if each in plain else each for each in words]


def _refuse_no_names(words: Sequence[str]) -> None:
    """Refuse a group that is given what cannot be the name of an option: Hydra would not say which."""
    for word in words:
        key, _, value = word.lstrip("+").partition("=")
        several = key in SEVERAL
        if key not in configuration.GROUPS or not value.startswith("[") or (several and "],[" in value):
            continue
        options = ", ".join(configuration.choices(key))
        if not several:
            raise UserError(f"{word} must be one name: give {key}=NAME, of {options}")
        names = [each.strip() for each in value.strip("[]").split(",")]
        wrong = next((each for each in names if each and not re.match(r"[A-Za-z_]", each)), None)
        if wrong is not None or "null" in names:
            raise UserError(f"{word} must hold names: {key}=[NAME,...], of {options}")


def _unknown(word: str, tasks: Sequence[str]) -> str:
    experiments = configuration.choices("experiment")
    if word in experiments:
        return f"unknown task {word!r}. An experiment takes a plus: +experiment={word}"
    if re.split(r"[.@/]", word)[0] in {*configuration.GROUPS, *configuration.DEFAULTS, "hydra"}:
        return f"{word} lacks a value: give {word}=VALUE"
    close = difflib.get_close_matches(word.lower(), [*tasks, *experiments], 1)
    meant = "" if not close else repr(close[0]) if close[0] in tasks else f"+experiment={close[0]}"
    hint = f" Did you mean {meant}?" if meant else ""
    return f"unknown task {word!r}.{hint} Tasks are {', '.join(sorted(tasks))}; anything else is key=value"


def _task_of(words: Sequence[str]) -> str | None:
    """The task that the words choose, by name or through an experiment; None if that is not known."""
    for word in words:
        key, _, value = word.lstrip("+").partition("=")
        if key == "task":
            if value not in configuration.choices("task"):
                raise UserError(_unknown(value, configuration.choices("task")))
            return value
        if key == "experiment" and value in configuration.choices("experiment"):
            text = Path(configuration.conf_dir(), "experiment", f"{value}.yaml").read_text(encoding="utf-8")
            found = re.search(r"^  - override /task: (\w+)", text, re.MULTILINE)
            return found[1] if found else None
    return None


def _complete_words() -> None:
    """Lets a shell complete tasks as words of their own, and what follows one as if `task=` stood before it."""
    line = os.environ.get("COMP_LINE")
    if line is None:
        return
    tasks = configuration.choices("task")
    words = line.split()
    begun = "" if line.endswith(" ") or len(words) < 2 else words[-1]
    if not any(each in tasks or each.startswith("task=") for each in words[1:]):
        print(" ".join(each for each in tasks if each.startswith(begun)))
    words = [words[0], *(f"task={each}" if each in tasks else each for each in words[1:])]
    os.environ["COMP_LINE"] = " ".join(words) + (" " if line.endswith(" ") else "")
