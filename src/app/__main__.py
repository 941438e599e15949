"""The door: Hydra composes, the chosen task runs, and a user's mistake ends in one line and exit code 2."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch: spinning threads crawl on a busy machine
FIRST = "LOCAL_RANK" not in os.environ  # of several processes the first one speaks
TRACES = FIRST and bool(os.environ.get("HYDRA_FULL_ERROR"))
os.environ["HYDRA_FULL_ERROR"] = "1"  # errors come out here, where they are worded

import hydra  # noqa: E402
from hydra.errors import HydraException, MissingConfigException, OverrideParseException  # noqa: E402
from omegaconf import DictConfig  # noqa: E402
from omegaconf.errors import (  # noqa: E402
    ConfigAttributeError,
    ConfigKeyError,
    OmegaConfBaseException,
    ValidationError,
)
from yaml import YAMLError  # noqa: E402

from app import config as configuration  # noqa: E402
from app.errors import UserError  # noqa: E402

configuration.register()
_ended: list[BaseException] = []
_begun: list[DictConfig] = []


@hydra.main(version_base="1.3", config_path=configuration.conf_dir(), config_name="config")
def _job(config: DictConfig) -> None:
    from app import launch  # noqa: PLC0415 - help and completion do without

    _begun.append(config)
    try:
        launch.execute(config)
    except (UserError, KeyboardInterrupt, OmegaConfBaseException) as error:
        from hydra.core.hydra_config import HydraConfig  # noqa: PLC0415
        from hydra.types import RunMode  # noqa: PLC0415

        if HydraConfig.get().mode is not RunMode.RUN:
            raise  # the sweep says which job it was, and its other jobs go on
        _ended.append(error)


def main() -> int:
    """Run the command line; returns the exit code: 0, 1 for a crash, 2 for a mistake, 130 when interrupted."""
    _ended.clear()
    _begun.clear()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    if {"-h", "--help"} & set(sys.argv[1:]):
        return _help()
    try:
        _job()
        if _ended:
            raise _ended[0]
    except (UserError, HydraException, OmegaConfBaseException, YAMLError, ValueError, OSError) as error:
        mistake = isinstance(error, UserError | HydraException | OmegaConfBaseException)
        if TRACES or (_begun and not mistake):  # before the job, Hydra raises these of a user's input
            raise
        if FIRST:
            print(f"error: {_sentence(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        _end_sweeps("KILLED")
        if FIRST:
            print(str(error) or "interrupted", file=sys.stderr)
        return 130
    finally:
        _end_sweeps("FAILED")
    return 0


def _terminate(*_: object) -> None:
    """Whoever ends the process politely gets what Ctrl-C gets: the run is closed, and says how to go on."""
    raise KeyboardInterrupt


def _end_sweeps(status: str) -> None:
    launch = sys.modules.get("app.launch")
    if launch is not None:
        launch.end_sweeps(status)


def _help() -> int:
    try:
        print(configuration.usage(), flush=True)
    except BrokenPipeError:  # whoever reads has seen enough
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - stays open until the end
    return 0


# -- wording ------------------------------------------------------------------------------------------------------


def _sentence(error: BaseException) -> str:
    """A message as one line, in the words of the configuration rather than of the libraries that read it."""
    cause = error if isinstance(error, OmegaConfBaseException) else error.__cause__
    if isinstance(error, UserError):
        text = _line(error)
    elif isinstance(error, MissingConfigException):
        text = _no_choice(error)
    elif isinstance(error, OverrideParseException):
        text = f"{error.override!r} cannot be read: give key=value, and put a value with special characters "
        text += "in quotes, 'key=\"a value!\"'"
    elif isinstance(cause, ConfigAttributeError | ConfigKeyError) and isinstance(
        cause.parent_node, DictConfig
    ):
        text = configuration.unknown(str(cause.full_key), cause.parent_node)
    elif isinstance(cause, ValidationError) and cause.full_key:
        text = configuration.mistyped(str(cause.full_key), cause.value)
    else:
        text = _reworded(_line(error))
    return text


def _reworded(text: str) -> str:
    """A message of Hydra's that is known by how it begins."""
    if text.startswith("You must specify 'task'"):
        names, tasks = (", ".join(configuration.choices(group)) for group in ("experiment", "task"))
        if any(argument.startswith("experiment=") for argument in sys.argv[1:]):
            return f"experiment takes a plus: give +experiment=NAME, one of {names}"
        return f"no task was chosen: give +experiment=NAME, one of {names}; or task=NAME, one of {tasks}"
    if text.startswith("Config group override must be"):
        return _no_name(text)
    if text.startswith("Ambiguous value for argument"):
        key, _, values = text.split("'")[1].partition("=")
        return (
            f"{key}={values} are several values: write {key}=[{values}] for a list, or -m to sweep over them"
        )
    return _in_file(text)


def _no_choice(error: MissingConfigException) -> str:
    """A choice that no file of its group offers."""
    group, _, name = str(error.missing_cfg_file or "").removesuffix(".yaml").strip("/").rpartition("/")
    group, name = (group, name) if group else (name, "")
    options = sorted(error.options or configuration.choices(group))
    if not options:
        return _line(error)
    return f"{group}={name} is no choice; allowed: {', '.join(options)}"


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


def _line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    text = " ".join(line for line in lines if line and not line.startswith("object_type="))
    return text.replace("full_key: ", "at ") or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
