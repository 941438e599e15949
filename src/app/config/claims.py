"""The folder of a command is written to by no other: its claim ends with its process, however that ends."""

from __future__ import annotations

import errno
import os
import sys
from itertools import count
from pathlib import Path

from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from app.config.place import make_folder
from app.errors import UserError

_taken: dict[str, int] = {}
"""The folders of this process, and how each is held."""


def own_folder(config: DictConfig, key: str) -> Path:
    """The folder of reports, absolute; made if it is not there, and this command's alone until it ends.

    Where nobody chose a folder, and another command of the same second has the one that is due, the next one is taken.

    Args:
        config: what Hydra has composed.
        key: where the folder is configured: hydra.run.dir, or hydra.sweep.dir for a sweep.

    Raises:
        UserError: it is no folder, cannot be made or written to, or is another command's.
    """
    folder, name = make_folder(config, key), str(config.output)
    chosen = any(str(each).startswith(("output=", f"{key}=")) for each in _overrides(config))
    if chosen or key != "hydra.run.dir":
        claim(folder, f"output={name}" if str(OmegaConf.select(config, key)) == name else f"{key}={folder}")
        return folder
    for number in count(2):
        if _take(folder):
            break
        with read_write(config), open_dict(config):
            config.output = f"{name}-{number}"
        folder = make_folder(config, key)
    return folder


def claim(folder: Path, given: str) -> None:
    """Takes a folder for this process until `release`.

    Args:
        folder: it is there.
        given: the setting that names it.

    Raises:
        UserError: another command has it.
    """
    if not _take(folder):
        raise UserError(
            f"{given}: another command is writing there; wait until it has ended, or give another folder"
        )


def release() -> None:
    """Gives all folders back."""
    while _taken:
        os.close(_taken.popitem()[1])


def _take(folder: Path) -> bool:
    """Whether a folder is ours; a file system that knows no locks gives it to whoever asks, and so does Windows."""
    name = os.path.abspath(folder)  # noqa: PTH100 - resolves no link, as Hydra does
    further = {"LOCAL_RANK", "NODE_RANK"} & os.environ.keys()  # the first process of the job has it
    if sys.platform == "win32" or name in _taken or further:
        return True
    import fcntl  # noqa: PLC0415 - Windows has none

    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(held)
        return error.errno not in {errno.EWOULDBLOCK, errno.EACCES}
    _taken[name] = held
    return True


def _overrides(config: DictConfig) -> list[object]:
    return [*config.hydra.overrides.task, *config.hydra.overrides.hydra]


if hasattr(os, "register_at_fork"):  # a process that outlives this one for a moment must not hold them
    os.register_at_fork(after_in_child=release)
