"""What a run is known by: names, tags and times as a history can keep them, its process, the version of the code."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app import __version__

Names = Mapping[str, object]
"""Params or tags: each value is kept as its text."""

LONGEST_NAME = 250
LONGEST_PARAM = 6000
LONGEST_TAG = 8000


def spelled(names: Iterable[str]) -> dict[str, str]:
    """Each name as MLflow takes it, the different still different.

    Letters, digits and `_ - . / :` and space stay, others become `_`; empty and dotted steps of a path go.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        plain = re.sub(r"[^\w.\- :/]", "_", name)[: LONGEST_NAME - 10].lstrip("./")
        plain = "/".join(step for step in plain.split("/") if step.strip(".")) or "_"
        unique, number = plain, 1
        while unique in taken:
            number += 1
            unique = f"{plain}_{number}"
        taken.add(unique)
        found[name] = unique
    return found


def shortened(value: object, longest: int) -> str:
    """The text of a value, cut with a note where it is longer than allowed."""
    text = str(value)
    if len(text) <= longest:
        return text
    note = f"... [cut from {len(text)} characters]"
    return text[: longest - len(note)] + note


def params(values: Names) -> dict[str, str]:
    """Params as MLflow takes them."""
    names = spelled(values)
    return {names[name]: shortened(value, LONGEST_PARAM) for name, value in values.items()}


def tags(values: Names) -> dict[str, str]:
    """Tags as MLflow takes them; a name without a dot is meant below `assay.`."""
    whole = {name if "." in name else f"assay.{name}": value for name, value in values.items()}
    names = spelled(whole)
    return {names[name]: shortened(value, LONGEST_TAG) for name, value in whole.items()}


def process() -> dict[str, str]:
    """Tags that say which process owns a run: the host, the process id, and when that process began."""
    return {"host": socket.gethostname(), "pid": str(os.getpid()), "process_start": _began(os.getpid()) or ""}


def is_gone(owned: Mapping[str, str]) -> bool:
    """Whether the process that a run's tags name has ended; of a process on another host nobody knows: False.

    A process id is used again in time: another start than the tag's is another process.
    """
    pid = owned.get("assay.pid", "")
    if owned.get("assay.host") != socket.gethostname() or not pid.isdigit():
        return False
    return _began(int(pid)) != owned.get("assay.process_start", "")


def _began(pid: int) -> str | None:
    """When a process began, in clock ticks since boot (proc(5), stat, field 22); empty if unknown, None if gone."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:  # another user's
        pass
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields[19]  # a zombie has ended
    return ""


@contextmanager
def one_process(folder: Path) -> Iterator[None]:
    """Lets one process at a time into the block, by a lock file in the folder, which is made (not on Windows)."""
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415  (Windows has none)

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def code_version() -> str:
    """The version of the package, with the commit where it runs from a checkout."""
    git = Path(__file__).parents[2] / ".git"
    with suppress(OSError):
        head = (git / "HEAD").read_text().strip()
        commit = (git / head[5:]).read_text() if head.startswith("ref: ") else head
        return f"{__version__}+{commit[:12]}"
    return __version__


def one_line(message: object) -> str:
    """The first line of a message or URI, without the password of any URI in it."""
    return re.sub(r"//[^/@\s]*@", "//***@", str(message).strip().partition("\n")[0])


def local_folder(uri: str) -> Path | None:
    """The folder that a URI means; None if it is not on this machine."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme in {"", "file"} else None


def milliseconds(time: datetime) -> int:
    """A time as MLflow keeps it, since 1970."""
    return round(time.timestamp() * 1000)
