"""What befell a command, in one line: errors of the system, of memory and of anybody's code, in plain words."""

from __future__ import annotations

import errno
import re
import sysconfig
import traceback
from pathlib import Path

from app.errors import Fault, UserError
from app.lineage import one_line

TRACE = "HYDRA_FULL_ERROR=1 shows the trace"
"""How to see more of a crash."""
_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a file has reached the limit of its size",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission is denied",
    errno.EPERM: "permission is denied",
    errno.EISDIR: "a folder stands where a file is to be",
    errno.ENOTDIR: "a file stands where a folder is to be",
    errno.EEXIST: "a file stands where a folder is to be",
    errno.ENOENT: "a file or folder is gone",
    errno.EIO: "the disk cannot be read or written",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.ESTALE: "the network's file system has lost a file",
}
_SHORT_OF_MEMORY = re.compile(
    r"not enough memory|out of memory|cannot allocate memory|bad_alloc", re.IGNORECASE
)
_OTHERS = tuple(
    str(Path(path).resolve())
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_path(name))
)
"""Where code is that neither the user nor we have written."""
_OURS = str(Path(__file__).resolve().parent)


def line(error: BaseException) -> str:
    """What happened, and how to go on where that is known."""
    return str(error) if isinstance(error, Fault) and error.go_on else cause(error)


def cause(error: BaseException) -> str:
    """What happened, in one line; of a crash the type, the message and the place."""
    text = _told_by_worker(error) or str(error)
    if isinstance(error, Fault):
        return text if _told_by_worker(error) else error.cause
    if isinstance(error, UserError):
        return one_line(text)
    if short_of_memory(error):
        return f"there is not enough memory ({one_line(text) or type(error).__name__})"
    if isinstance(error, OSError) and error.errno in _WORDS:
        place = error.filename2 or error.filename
        return f"{_WORDS[error.errno]}: {place or error.strerror} ({error.strerror})"
    if "DataLoader worker" in text:  # it was killed, by the system or by somebody
        return f"a process that decodes images has died ({one_line(text)})"
    name = type(error).__name__
    return f"{name}{': ' if text else ''}{one_line(text)}{_place(error)} ({TRACE})"


def short_of_memory(error: BaseException) -> bool:
    """Whether there was not enough memory, of this machine or of a device."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, RuntimeError) and _SHORT_OF_MEMORY.search(str(error)) is not None


def _told_by_worker(error: BaseException) -> str:
    """The message of an error that PyTorch has brought from a process that decodes, without that process's trace."""
    text = str(error)
    if not re.match(r"Caught \w+ in DataLoader worker", text):
        return ""
    last = text.strip().rpartition("\n")[2]
    return last.partition(": ")[2] or last


def _place(error: BaseException) -> str:
    """File and line of the innermost code of the user's; of ours, if none of the user's was running."""
    frames = [
        (str(Path(each.filename).resolve()), each.lineno)
        for each in traceback.extract_tb(error.__traceback__)
    ]
    written = [each for each in frames if each[0].endswith(".py") and not each[0].startswith(_OTHERS)]
    theirs = [each for each in written if not each[0].startswith(_OURS)]
    if not (theirs or written):
        return ""
    file, line = (theirs or written)[-1]
    for folder in (Path.cwd(), Path(_OURS).parent):
        if Path(file).is_relative_to(folder):
            file = str(Path(file).relative_to(folder))
            break
    return f", at {file}:{line}"
