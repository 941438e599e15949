"""How the scores of a detector's mutants are made, in each profile."""

from __future__ import annotations

from app.report.blocks import Block, Items, Text, mono
from app.report.pages.uamt import Report
from app.report.words import count, percent


def method(report: Report) -> list[Block]:
    """The steps, numbered."""
    chosen = report.settings
    once = ""
    if 1 in chosen.repetitions:
        once = (
            " With one repetition, the images are the trials: one test for each mutant, on the images with a miss, a "
            "ghost or either, out of all of them."
        )
    steps = _deepluq if chosen.profile == "deepluq" else _paper
    return [Items(steps(report, once), "ordered")]


def _deepluq(report: Report, once: str) -> list[Text]:
    chosen = report.settings
    return [
        (
            "Profile ",
            mono("deepluq"),
            ": the numbers of the reference implementation. Original and mutant are paired in every repetition by the "
            "best sum of IoU whatever the class; a pair counts from an IoU above 0.5 with equal classes, the rest are "
            "misses and ghosts.",
        ),
        "Per image, a one-sided binomial test on the repetitions with a miss, a ghost or either, always out of 10 and "
        "against a rate of 0.01. Img-MS: adjusted by Holm over images and by Benjamini and Hochberg over mutants, at "
        f"most {chosen.alpha:g}.{once}",
        "Obj-MS: misses over matches and misses; ghosts and either over matches, misses and ghosts; mean over "
        "repetitions and images. MS_iou: 1 − rate × mean IoU, so it also counts misses.",
        (
            "UA-MS: uncertainties squeezed by x / (1 + x) and penalised by the rate; a set without objects scores 0. "
            "Profile ",
            mono("paper"),
            " corrects this.",
        ),
        f"Intervals at {percent(chosen.level)} come from resampling the images {count(chosen.resamples)} times. "
        "Spearman’s rank correlation is taken over an operator’s mutants.",
    ]


def _paper(report: Report, once: str) -> list[Text]:
    chosen = report.settings
    against = "the upper bound from an unchanged second run"
    if chosen.p0_from != "unchanged run":
        against = f"{report.result.parts[0].p0['mg']:g}, {chosen.p0_from}"
    return [
        "In every repetition, detections of original and mutant match if their IoU is above "
        f"{chosen.threshold:g} and their classes are equal: most matches first, then the largest sum of IoU. What is "
        "left of the original is missed; what is left of the mutant is a ghost.",
        "Per image, a one-sided binomial test on the repetitions with a miss, a ghost or either, against the rate "
        f"without mutation ({against}). Img-MS: adjusted by Holm over images and by Benjamini and Hochberg over "
        f"mutants, at most {chosen.alpha:g}.{once}",
        "Obj-MS, from sums over images and repetitions: misses over matches and misses; ghosts over matches and "
        "ghosts; either over all three. MS_iou: mean 1 − IoU of the matched pairs.",
        "UA-MS: variation ratio, entropy, mutual information, box variance and surface, each free of units in [0, 1]. "
        "What is undefined is left out and counted.",
        f"Intervals at {percent(chosen.level)} come from resampling the images {count(chosen.resamples)} times; "
        "suites are compared on the same resamples and by paired permutation over mutants. Spearman’s rank "
        "correlation is taken over an operator’s mutants.",
    ]
