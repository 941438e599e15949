"""What a run is known by: names, tags and times as a history can keep them, its process, the version of the code."""

from __future__ import annotations

import getpass
import json
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

OWNER = ("assay.host", "assay.pid", "assay.process_start")
"""The tags that say which process owns a run."""
LONGEST_NAME = 250
LONGEST_PARAM = 6000
LONGEST_TAG = 8000
_COLUMNS = (
    "attributes.`Description`",
    "tags.`assay.verdict`",
    *(
        f"metrics.`{name}`"
        for name in ("mutation_score", "obj_ms_mg", "accuracy", "autopsy/autopsy_score", "effect", "kills")
    ),
)
EXPERIMENT = {
    "mlflow.experimentKind": "custom_model_development",  # else its pages are about language models first
    "mlflow.sharedViewState.assay": json.dumps({"selectedColumns": _COLUMNS}),
}
"""Tags of an experiment, for its pages."""
VIEW = "?workflowType=machine_learning&viewStateShareKey=assay"
"""The end of an address at which the table of an experiment's runs tells verdicts."""


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
    """The tags of `OWNER` for this process: the host, the process id, and when that process began."""
    owner = (socket.gethostname(), str(os.getpid()), _began(os.getpid()) or "")
    return dict(zip(OWNER, owner, strict=True))


def origin() -> dict[str, str]:
    """Tags that MLflow's pages show in columns of their own: who made a run, with what, from which commit."""
    program = Path(sys.argv[0])
    name = program.name if program.name != "__main__.py" else f"python -m {program.parent.name}"
    found = {"mlflow.source.name": name, "mlflow.source.type": "LOCAL"}
    with suppress(OSError, KeyError, ImportError):  # nobody by that number
        found["mlflow.user"] = getpass.getuser()
    if commit := _commit():
        found["mlflow.source.git.commit"] = commit
    return found


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
    commit = _commit()
    return f"{__version__}+{commit[:12]}" if commit else __version__


def _commit() -> str:
    """The commit of the checkout; empty where it runs from elsewhere."""
    git = Path(__file__).parents[2] / ".git"
    with suppress(OSError):
        head = (git / "HEAD").read_text().strip()
        return (git / head[5:]).read_text().strip() if head.startswith("ref: ") else head
    return ""


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
