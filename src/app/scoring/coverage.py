"""Signal coverage: which signal of the diagnosis notices which kind of mutant where."""

from __future__ import annotations

from collections.abc import Sequence

from app.scoring.results import SignalCoverage
from app.scoring.thresholds import SIGNALS, Reading, ThresholdVerdict


def signal_coverage(
    layers: Sequence[str], kinds: Sequence[str], verdicts: Sequence[ThresholdVerdict]
) -> tuple[SignalCoverage, ...]:
    """Coverage of every signal in every (layer, kind) that has mutants, in order of first appearance.

    Args:
        layers: (M,) the layer of each mutant.
        kinds: (M,) the kind of its operator.
        verdicts: (M,) its verdict in profile `thresholds`.
    """
    cells: dict[tuple[str, str], list[ThresholdVerdict]] = {}
    for layer, kind, verdict in zip(layers, kinds, verdicts, strict=True):
        cells.setdefault((layer, kind), []).append(verdict)
    return tuple(
        _cover(layer, kind, place, members)
        for (layer, kind), members in cells.items()
        for place in range(len(SIGNALS))
    )


def _cover(layer: str, kind: str, place: int, members: Sequence[ThresholdVerdict]) -> SignalCoverage:
    readings: list[Reading] = [verdict.readings[place] for verdict in members]
    fired = sum(reading.fired for reading in readings)
    measured = sum(reading.measured for reading in readings)
    alone = sum(
        verdict.readings[place].fired and sum(each.fired for each in verdict.readings) == 1
        for verdict in members
    )
    return SignalCoverage(
        layer, kind, SIGNALS[place], fired, measured - fired, len(members) - measured, only_killer=alone
    )
