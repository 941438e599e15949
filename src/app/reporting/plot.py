"""Labels on the axes of drawings."""

from __future__ import annotations

from dataclasses import dataclass

from app.report.charts import DASHES
from app.report.scales import steps

__all__ = ["DASHES", "Tick", "steps"]


@dataclass(frozen=True)
class Tick:
    """A label on an axis."""

    at: float
    """Position on the canvas."""
    text: str
    """What it says."""
