"""The table of a detector's mutants, a row each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from app.scoring.detection.mutation_result import DetectorMutationResult
from app.scoring.detection.objects import METRICS, SETS
from app.scoring.detection.results import MutantScores
from app.scoring.detection.significance import KILLS

NAMES = ("model", "key", "operator", "rate", "block")
"""What a mutant is."""


def mutant_numbers(mutant: MutantScores) -> dict[str, float]:
    """Every score of a mutant by a flat name such as `obj_ms_miss`."""
    found: dict[str, float] = {}
    for name in ("img_p_adjusted", "img_kills", "obj_ms", "obj_ms_macro", "img_killed"):
        found |= {f"{name}_{kind}": float(getattr(mutant, name)[kind]) for kind in KILLS}
    found |= {"ms_iou": mutant.ms_iou, "miss_confidence": mutant.miss_confidence}
    found |= {f"rate_{name}": mutant.rates[name] for name in SETS}
    return found | {f"ua_{name}_{metric}": mutant.ua[name][metric] for name in SETS for metric in METRICS}


def mutant_rows(result: DetectorMutationResult) -> Iterator[Mapping[str, object]]:
    """What each mutant is, and every score; one that is not defined is None."""
    for mutant in result.mutants:
        row: dict[str, object] = {name: getattr(mutant, name) for name in NAMES} | mutant_numbers(mutant)
        yield {
            name: None if isinstance(cell, float) and math.isnan(cell) else cell for name, cell in row.items()
        }


def series(result: DetectorMutationResult) -> dict[str, list[float]]:
    """The main scores over the mutants, in their order."""
    return {
        "obj_ms_miss": [mutant.obj_ms["miss"] for mutant in result.mutants],
        "obj_ms_ghost": [mutant.obj_ms["ghost"] for mutant in result.mutants],
        "ms_iou": [mutant.ms_iou for mutant in result.mutants],
        "img_kills": [float(mutant.img_kills["mg"]) for mutant in result.mutants],
    }
