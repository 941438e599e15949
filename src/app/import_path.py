"""Where modules come from: what is installed first, the current folder last.

Python puts the current folder first for `python -m`, so that a `torch.py` in it, or one that a model's file wrote
there, would be imported in the place of PyTorch. A user's own `mynet.Net` is still found.
"""

import os
import sys


def settle() -> None:
    """Moves the current folder to the end of the import path, here and in each process that is started from here."""
    os.environ["PYTHONSAFEPATH"] = "1"  # Python itself then never puts the current folder first
    try:
        here = os.getcwd()  # noqa: PTH109 - pathlib is not imported before the path is safe
    except FileNotFoundError:  # it has been deleted
        sys.path[:] = [each for each in sys.path if each]
        return
    place = os.path.realpath(here)
    sys.path[:] = [*(each for each in sys.path if os.path.realpath(each or here) != place), here]


def hidden_by(target: str) -> str:
    """A remark, to be put behind a sentence, that a module of the current folder is hidden by an installed one."""
    name = target.partition(".")[0]
    place = getattr(sys.modules.get(name), "__file__", None) or ""
    own = os.path.join(os.getcwd(), name)  # noqa: PTH109, PTH118
    if not place or place.startswith(own) or not (os.path.isdir(own) or os.path.isfile(f"{own}.py")):  # noqa: PTH112, PTH113
        return ""
    return f"; {place} comes before {own}: give yours another name"
