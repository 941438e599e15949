"""Is it better? Numbers read from any report, compared with each other, and with chance.

`read` gives the numbers of one report, whichever task wrote it; `compare_all` compares two reports of one task.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from app.comparison.cases import Cases, cases
from app.comparison.readings import Readings, read
from app.measures import Measure, Value, measure

if TYPE_CHECKING:
    from app.comparison.checkups import compare_all
    from app.comparison.compare import Limits, Side
    from app.comparison.results import Comparison, Verdict

__all__ = [
    "Cases",
    "Comparison",
    "Limits",
    "Measure",
    "Readings",
    "Side",
    "Value",
    "Verdict",
    "cases",
    "compare_all",
    "measure",
    "read",
]

_LATER = {
    "compare_all": "checkups",
    "Limits": "compare",
    "Side": "compare",
    "Comparison": "results",
    "Verdict": "results",
}
"""Where names are that need tests of SciPy, which take a second to import: whoever only reads numbers does without."""


def __getattr__(name: str) -> Any:
    """What is imported when it is first used."""
    if name in _LATER:
        return getattr(import_module(f"app.comparison.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
