"""The door: Hydra composes, the chosen task runs, and a user's mistake ends in one line and exit code 2."""

from __future__ import annotations

from app import import_path

import_path.settle()  # before anything is imported that the current folder could have a file for

import gc  # noqa: E402 - behind the path
import os  # noqa: E402 - behind the path
import sys  # noqa: E402 - behind the path
import traceback  # noqa: E402 - behind the path
from contextlib import suppress  # noqa: E402 - behind the path
from typing import Any, NoReturn  # noqa: E402 - behind the path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch: spinning threads crawl on a busy machine
FIRST = "LOCAL_RANK" not in os.environ  # of several processes the first one speaks
TRACES = FIRST and bool(os.environ.get("HYDRA_FULL_ERROR"))
os.environ["HYDRA_FULL_ERROR"] = "1"  # errors come out here, where they are worded
gc.set_threshold(50_000, 10, 10)  # looking for garbage in all that is imported was a fifth of a start

import hydra  # noqa: E402 - behind the variables
from hydra._internal.hydra import Hydra  # noqa: E402 - behind the variables
from hydra.errors import HydraException  # noqa: E402 - behind the variables
from omegaconf import DictConfig  # noqa: E402 - behind the variables
from omegaconf.errors import OmegaConfBaseException  # noqa: E402 - behind the variables
from yaml import YAMLError  # noqa: E402 - behind the variables

from app import command_line, complaints, faults, interrupts  # noqa: E402 - behind the variables
from app import config as configuration  # noqa: E402 - behind the variables
from app.errors import NotPassed, UserError  # noqa: E402 - behind the variables
from app.visible import visible  # noqa: E402 - behind the variables

configuration.register()
_composed_mode = Hydra.get_mode


def _mode(self: Hydra, config_name: str | None, overrides: list[str]) -> Any:
    """Hydra composes everything once more only to read `hydra.mode`: which nobody can have set here."""
    given = "--config-" in " ".join(sys.argv) or any("hydra" in each for each in overrides)
    return _composed_mode(self, config_name, overrides) if given else None


Hydra.get_mode = _mode  # type: ignore[method-assign]
_ended: list[BaseException] = []
_begun: list[DictConfig] = []


@hydra.main(version_base="1.3", config_path=configuration.conf_dir(), config_name="config")
def _job(config: DictConfig) -> None:
    from app import launch  # noqa: PLC0415 - help and completion do without

    _begun.append(config)
    try:
        launch.execute(config)
    except (Exception, KeyboardInterrupt) as error:
        from hydra.core.hydra_config import HydraConfig  # noqa: PLC0415 - only here
        from hydra.types import RunMode  # noqa: PLC0415 - only here

        if HydraConfig.get().mode is not RunMode.RUN:
            raise  # the sweep says which job it was, and its other jobs go on
        _ended.append(error)


def main() -> int:
    """Run the command line; returns the exit code.

    0; 1 for a fault or a crash, or where what was asked to fail has happened; 2 for a mistake; 130 when interrupted.
    """
    _ended.clear()
    _begun.clear()
    interrupts.listen()
    import_path.settle()
    try:
        asked = command_line.read()
    except UserError as error:
        return _said(f"error: {error}", 2)
    if asked is not None:
        return _shown(asked)
    try:
        return _ran()
    except (Exception, KeyboardInterrupt) as error:  # a sweep could not be ended
        return _stopped(error)
    finally:
        configuration.release()


def _ran() -> int:
    try:
        _job()
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        return _stopped(error)
    return _stopped(_ended[0]) if _ended else _end_sweep("FINISHED")


def _stopped(error: BaseException) -> int:
    """Says an error in one line, after its trace if that was asked for, and returns its exit code."""
    if isinstance(error, NotPassed):
        return _said(str(error), 1)
    if isinstance(error, KeyboardInterrupt):
        swept = _sweep_is_open()
        _end_sweep("KILLED")
        early = "interrupted before anything was kept: run the same command again"
        return _said("interrupted" if swept else str(error) or early, 130)
    if isinstance(error, SystemExit):  # a folder or a sweep that was refused
        if isinstance(error.code, str):
            return _said(error.code, 2)
        raise error
    swept = _sweep_is_open()  # then it is the sweep's own: those of its jobs have been noted
    mistake = isinstance(error, UserError | HydraException | OmegaConfBaseException)
    if not (_begun or swept):  # Hydra raises these of a user's input
        mistake |= isinstance(error, YAMLError | ValueError | OSError)
    line = f"error: {complaints.sentence(error) if mistake else faults.line(error)}"
    if TRACES:
        traceback.print_exception(error)
    code = _end_sweep("FAILED") if swept else 0
    return _said(line, 2 if mistake and code != 1 else 1)


def _said(line: str, code: int) -> int:
    if FIRST:
        with suppress(OSError):  # the terminal may be gone
            print(visible(line), file=sys.stderr, flush=True)
    return code


def _sweep_is_open() -> bool:
    sweep = sys.modules.get("app.sweep")
    return sweep is not None and bool(sweep.is_open())


def _end_sweep(status: str) -> int:
    """The exit code that the jobs of a sweep call for; 0 if there is none."""
    sweep = sys.modules.get("app.sweep")
    return 0 if sweep is None else int(sweep.conclude(status, traces=TRACES))


def _shown(text: str) -> int:
    try:
        print(text, flush=True)
    except BrokenPipeError:  # whoever reads has seen enough
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - stays open until the end
    return 0


def leave(code: int) -> NoReturn:
    """Ends the process."""
    interrupts.ignore()
    gc.freeze()  # all goes anyway: the interpreter need not look through it once more
    sys.exit(code)


if __name__ == "__main__":
    leave(main())
