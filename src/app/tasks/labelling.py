"""The rounds of labelling: who draws, what people said so far, and whether that was asked of the same population."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from app.errors import UserError
from app.estimation.labels import Labels, no_labels, read_labels
from app.reporting.estimate import files, to_label
from app.reporting.estimate.assembly import Cases
from app.reporting.estimate.report import PopulationBlock


def one_estimator(estimators: Sequence[Any], budgets: Sequence[int], target_width: float | None) -> Any:
    """The estimator that labelling is done by.

    Raises:
        UserError: there are several, or several budgets, or it cannot stop at a target width.
    """
    if len(estimators) > 1:
        names = ", ".join(each.name for each in estimators)
        raise UserError(
            f"labelling is done by one estimator, these are several: {names}; adaptive is a good one"
        )
    if len(budgets) > 1:
        raise UserError(f"labelling has one budget: give task.budget=N, not {list(budgets)}")
    [estimator] = estimators
    if target_width is not None and getattr(estimator, "target_width", None) is None:
        raise UserError(
            f"{estimator.name} cannot stop at target_width={target_width}: "
            "take adaptive, lure, srswor or deepest_cs, or leave it out"
        )
    return estimator


def known_labels(cases: Cases, given: str | None, output: Path) -> Labels:
    """What people said so far.

    Args:
        cases: the population.
        given: a file or folder of labels; None without one.
        output: a folder whose `to_label.csv` counts too, where `given` says nothing else.

    Raises:
        UserError: a label is of no case or no class, or labels contradict each other.
    """
    known = no_labels(cases.population)
    if given is not None:
        known = read_labels(given, cases.population, cases.class_names)
    filled = output / to_label.TO_LABEL
    if filled.exists():
        known = known.over(read_labels(filled, cases.population, cases.class_names))
    return known


def check_unchanged(
    block: PopulationBlock, source: Literal["table", "model"], given: str | None, output: Path
) -> None:
    """Sees to it that labels asked for one population do not serve another.

    Args:
        block: the population.
        source: where its auxiliary variables come from.
        given: labels besides those in the folder.
        output: the folder of this and earlier rounds.

    Raises:
        UserError: it is not the population that the earlier round asked about, and there are labels already.
    """
    before = files.asked_before(output)
    if before is None or (given is None and not to_label.holds_labels(output)):
        return
    if (before.name, before.key) == (block.name, block.key):
        return
    if before.name != block.name:
        raise UserError(
            f"the labels in {output} were asked for {before.name}, this is {block.name}: give another output=FOLDER"
        )
    parts = "the table has" if source == "table" else "pictures, model, task.train or task.layer have"
    raise UserError(
        f"{parts} changed since labels were asked for in {output}: undo that, or begin anew with another "
        f"output=FOLDER (labels={output / to_label.TO_LABEL} takes the labels along)"
    )
