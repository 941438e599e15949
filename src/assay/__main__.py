"""`assay` and `python -m assay`: the same door under a name that a user's own `app.py` does not hide."""

import os
import sys

_beside = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
sys.path.insert(0, _beside)
try:
    import app  # noqa: F401 - the one that was installed with this, whatever else has that name
finally:
    sys.path.remove(_beside)

from app import __main__ as door  # noqa: E402 - it is that one's


def main() -> int:
    """Run the command line; returns the exit code."""
    return door.main()


if __name__ == "__main__":
    door.leave(main())
