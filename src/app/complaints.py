"""What went wrong, as one line in the words of the configuration rather than of the libraries that read it."""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path

from hydra.errors import MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException, ValidationError

from app import config as configuration
from app.errors import UserError

PLUGINS = {
    "joblib": "pip install 'assay[sweeps]'",
    "submitit_local": "pip install 'assay[submitit]'",
    "submitit_slurm": "pip install 'assay[submitit]'",
    "ray": "pip install hydra-ray-launcher",
}
"""What launchers come with."""


def sentence(error: BaseException) -> str:
    """An error's message."""
    cause = error if isinstance(error, OmegaConfBaseException) else error.__cause__
    if isinstance(error, UserError):
        text = line(error)
    elif isinstance(error, MissingConfigException):
        text = _no_choice(error)
    elif isinstance(error, OverrideParseException):
        text = f"{error.override!r} cannot be read: give key=value, and put a value with special characters "
        text += "in quotes, 'key=\"a value!\"'"
    elif isinstance(cause, ConfigAttributeError | ConfigKeyError) and isinstance(
        cause.parent_node, DictConfig
    ):
        key = str(cause.full_key)
        text = configuration.unknown(key, cause.parent_node, _given().get(key))
    elif isinstance(cause, ValidationError) and cause.full_key:
        text = configuration.mistyped(str(cause.full_key), cause.value)
    else:
        text = _reworded(line(error))
    return text


def _reworded(text: str) -> str:
    """A message of Hydra's that is known by how it begins."""
    merged = re.fullmatch(r"Error merging override \+*(\S+?)=(.*)", text)
    if text.startswith("You must specify 'task'"):
        text = _no_task()
    elif merged is not None:
        kind = "a mapping" if merged[2].startswith("[") else "a list, or a single value"
        text = f"{merged[1]} must be {kind}, not {merged[2]}"
    elif text.startswith("Config group override must be"):
        text = _no_name(text)
    elif text.startswith("Ambiguous value for argument"):
        key, _, values = text.split("'")[1].partition("=")
        text = (
            f"{key}={values} are several values: write {key}=[{values}] for a list, or -m to sweep over them"
        )
    else:
        text = _in_file(text)
    return text


def _no_task() -> str:
    """No task was chosen, which is why keys that are not there have not been noticed either."""
    known = {*configuration.GROUPS, *configuration.DEFAULTS, "experiment", "hydra", *_own_groups()}
    stray = [key for key in _given() if re.split(r"[.@/]", key)[0] not in known]
    if stray:
        return configuration.unknown(stray[0], None)
    names, tasks = (", ".join(configuration.choices(group)) for group in ("experiment", "task"))
    if any(argument.startswith("experiment=") for argument in sys.argv[1:]):
        return f"experiment takes a plus: give +experiment=NAME, one of {names}"
    return f"no task was chosen: give +experiment=NAME, one of {names}; or task=NAME, one of {tasks}"


def _given() -> dict[str, str]:
    """The keys of the command line, without plus signs, and what they were given."""
    pairs = (each.lstrip("+~").partition("=") for each in sys.argv[1:] if not each.startswith("-"))
    return {key: value for key, mark, value in pairs if mark}


def _own_groups() -> list[str]:
    """The groups in the user's folder of choices."""
    words = [word for each in sys.argv[1:] for word in each.split("=", 1)]
    folders = [Path(word) for option, word in pairwise(words) if option in {"--config-dir", "-cd"}]
    return [each.name for folder in folders if folder.is_dir() for each in folder.iterdir() if each.is_dir()]


def _no_choice(error: MissingConfigException) -> str:
    """A choice that no file of its group offers."""
    group, _, name = str(error.missing_cfg_file or "").removesuffix(".yaml").strip("/").rpartition("/")
    group, name = (group, name) if group else (name, "")
    options = sorted(error.options or configuration.choices(group))
    if not options:
        return line(error)
    more = f"; {PLUGINS[name]} brings it" if group == "hydra/launcher" and name in PLUGINS else ""
    close = get_close_matches(name, options, 1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    kind = "operator" if group == "operators" else "estimator" if group == "estimators" else group
    return f"unknown {kind} {name!r}.{hint} Allowed: {', '.join(options)}{more}"


def _no_name(text: str) -> str:
    """A group that was given a number or null in place of a name."""
    for argument in sys.argv[1:]:
        key, _, value = argument.lstrip("+").partition("=")
        options = configuration.choices(key)
        if options and (value == "null" or not re.match(r"[A-Za-z\[]", value)):
            return f"{key}={value} is no choice; allowed: {', '.join(options)}"
    return text


def _in_file(text: str) -> str:
    """What is wrong inside a file of the configuration, such as an experiment."""
    match = re.fullmatch(r"In '(.+)': \w+ raised while composing config: (.*)", text)
    if match is None:
        return text
    file, problem = match.groups()
    key = re.fullmatch(r"Key '(\w+)' not in 'Root' at .*", problem)
    if key is not None:
        return f"{file}: {configuration.unknown(key[1], None)}"
    value = re.fullmatch(r"Value '(.*)' .* at (\w+)", problem)
    if value is not None:
        return f"{file}: {configuration.mistyped(value[2], value[1])}"
    return f"{file}: {problem}"


def line(error: BaseException) -> str:
    """An error's message as it is, on one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    text = " ".join(line for line in lines if line and not line.startswith("object_type="))
    return text.replace("full_key: ", "at ") or type(error).__name__
