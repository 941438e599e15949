"""The tables of a mutation report, a row a mutant and a row a test case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.scoring.mutant_results import MutantResult, SecondarySignals
from app.scoring.results import MutationResult


def mutant_rows(result: MutationResult) -> Iterator[Mapping[str, object]]:
    """A row a mutant, its parameters and signals in columns of their own."""
    return (_row(mutant) for mutant in result.mutants)


def _row(mutant: MutantResult) -> dict[str, object]:
    names = ("key", "operator", "kind", "target", "seed", "repetitions", "verdict", "verdict_thresholds")
    row: dict[str, object] = {name: getattr(mutant, name) for name in names}
    row |= {f"param_{name}": value for name, value in mutant.params.items()}
    numbers = ("p_value", "p_adjusted", "effect", "cohens_h", "accuracy", "kills")
    row |= {name: getattr(mutant, name) for name in numbers}
    if mutant.signals is not None:
        row |= {name: signal.value for name, signal in vars(mutant.signals).items()}
    if mutant.secondary is not None:
        row |= _secondary(mutant.secondary)
    if mutant.difficulty is not None:
        row |= {"difficulty": mutant.difficulty.label, "difficulty_score": mutant.difficulty.score}
    return row | {"trivial": mutant.trivial, "unchanged": mutant.unchanged, "reason": mutant.reason}


def _secondary(signals: SecondarySignals) -> dict[str, object]:
    """Columns of the secondary signals; those that are not defined are left empty."""
    row: dict[str, object] = {}
    if signals.class_recall is not None:
        row |= {"class_p_adjusted": signals.class_recall.p_adjusted, "class": signals.class_recall.name}
    for name in ("ece_rise_ci", "autopsy_score_drop_ci"):
        ends = getattr(signals, name) or (None, None)
        row |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return row
