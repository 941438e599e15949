"""Files and folders that are there whole or not at all, whatever happens to the process or the machine.

Written beside their place, brought to the disk, and then renamed: who finds the name, finds all of it.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_NO_SUCH_THING = frozenset(
    {errno.EINVAL, errno.EACCES, errno.EBADF, errno.EISDIR, errno.ENOTSUP, errno.EPERM}
)
"""How systems say that a folder is not brought to the disk by itself."""


def write(content: bytes | Callable[[BinaryIO], object], path: Path) -> Path:
    """Writes a file, its folder made if it is not there, and gives the path back.

    Args:
        content: its bytes, or what writes them into an open file.
        path: its place; a file that is there is replaced.

    Raises:
        OSError: it cannot be written; the error names the path, and what was there is untouched.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    content(file)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    return path


def move(source: Path, target: Path) -> Path:
    """Renames a file, or a folder and all in it, once all of it is on the disk; gives the new place back.

    Args:
        source: what lies ready, on the same file system.
        target: its place; what is there already is replaced.
    """
    for each in (source, *source.rglob("*")):
        if each.is_dir():
            _sync_folder(each)
        else:
            with each.open("rb") as file:
                os.fsync(file.fileno())
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.old")
    if source.is_dir() and target.is_dir() and not target.is_symlink():
        target.replace(aside)
    source.replace(target)
    shutil.rmtree(aside, ignore_errors=True)
    _sync_folder(target.parent)
    return target


def _sync_folder(folder: Path) -> None:
    """Brings the names in a folder to the disk, where the system does that."""
    if os.name == "nt":
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    except OSError as error:
        if error.errno not in _NO_SUCH_THING:
            raise
    finally:
        os.close(place)
