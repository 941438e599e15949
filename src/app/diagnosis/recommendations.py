"""What to do about a finding: ordered sentences that name its classes and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from app.diagnosis.causes import Finding

NAMED = 5
"""So many classes or files are named in a sentence."""


def advised(finding: Finding) -> Finding:
    """The finding with its recommendations, most useful first."""
    advice = _ADVICE.get(finding.cause_type)
    return replace(finding, recommendations=advice(finding)) if advice is not None else finding


def _class_imbalance(found: Finding) -> tuple[str, ...]:
    name, cases, ratio = found.affected[0], found.evidence["cases"], found.evidence["ratio_to_median"]
    if not cases:
        return (
            f"Add test cases of {name}: there are none, so nothing can be said about this class.",
            f"If the model is not meant to know {name}, take the class out of its list.",
        )
    median = cases / ratio
    return (
        f"Collect about {median - cases:.0f} more test cases of {name}: it has {cases:.0f} where the median "
        f"class has {median:.0f}.",
        f"If {name} is as rare in training, weight its loss by about {1 / ratio:.1f} or sample it more often.",
        "Read macro F1 and the recall of each class instead of accuracy.",
    )


def _overfitting(found: Finding) -> tuple[str, ...]:
    gap = found.evidence["accuracy_gap"]
    return (
        f"Regularise: accuracy on training data is {_points(gap)} higher. Augmentation, weight decay, dropout "
        "or fewer epochs (stop where held-out accuracy peaks) are the first to try.",
        "Collect more varied training data, or start from pretrained weights.",
        "Check that the test data comes from where the training data does: a shift looks the same.",
    )


def _class_overlap(found: Finding) -> tuple[str, ...]:
    a, b = found.affected
    there, back = found.evidence["rate_there"], found.evidence["rate_back"]
    first = (
        f"Look at the cases confused between {a} and {b}: {_share(there)} of {a} go to {b}, "
        f"{_share(back)} of {b} to {a}. Are the two told apart by a written rule, and do the labels follow it?"
    )
    if "cosine" in found.evidence:
        first += f" Their centroids have a cosine of {found.evidence['cosine']:.2f}."
    return (
        first,
        f"Add training images that show what separates {a} from {b}; a higher resolution may show it.",
        f"If the difference does not matter in use, merge {a} and {b}.",
    )


def _representation_problem(found: Finding) -> tuple[str, ...]:
    share, wrong = found.evidence["confident_error_share"], found.evidence["wrong"]
    return (
        f"Look at the confident errors first: {_share(share)} of the {wrong:.0f} errors have a confidence of "
        "0.90 or more. They are wrong labels, images unlike the training data, or shortcuts the model learnt.",
        "Check with saliency overlays that the model looks at the object and not at its surroundings.",
        "Do not reject by confidence alone until this is understood.",
    )


def _underfitting(found: Finding) -> tuple[str, ...]:
    return (
        f"Train longer, with a higher learning rate or a larger model: accuracy is "
        f"{_share(found.evidence['accuracy'])} and mean confidence {found.evidence['mean_confidence']:.2f}.",
        "Check that preprocessing (size, channel order, mean and deviation) is the one of training.",
        "Check that the weights were loaded: an untrained model looks the same.",
    )


def _class_confusion(found: Finding) -> tuple[str, ...]:
    a, b = found.affected
    numbers = found.evidence
    return (
        f"Look at the {_count(numbers['confused'], 'test case')} of {a} predicted as {b}: they are "
        f"{_share(numbers['share_of_errors'])} of the errors on {a} and {_share(numbers['rate'])} of its cases.",
        f"Add training images of {a} that resemble {b}, and check the labels of both in the training data.",
        f"If {b} has far more training images than {a}, weight the loss of {a} up.",
    )


def _overconfidence(found: Finding) -> tuple[str, ...]:
    return (
        f"Scale the temperature on held-out data: mean confidence is {_points(found.evidence['signed_gap'])} "
        f"above accuracy ({found.evidence['mean_confidence']:.2f} against {found.evidence['accuracy']:.2f}).",
        "Train with label smoothing, mixup or fewer epochs.",
        "Until then, read thresholds on confidence as too generous.",
    )


def _underconfidence(found: Finding) -> tuple[str, ...]:
    return (
        f"Scale the temperature on held-out data: mean confidence is {_points(-found.evidence['signed_gap'])} "
        f"below accuracy ({found.evidence['mean_confidence']:.2f} against {found.evidence['accuracy']:.2f}).",
        "If label smoothing or mixup was strong in training, weaken it.",
    )


def _label_noise(found: Finding) -> tuple[str, ...]:
    return (
        f"Look at the {_count(found.evidence['suspects'], 'listed suspect')}, first ones first: about "
        f"{_share(found.evidence['share'])} of the labels seem wrong, most of them of {_list(found.affected)}.",
        "Correct them and run again; accuracy is measured too low by about as much.",
        "If the training labels came from the same source, check them too.",
    )


def _class_order_mismatch(found: Finding) -> tuple[str, ...]:
    return (
        f"Give the class names in training order: with columns renamed, accuracy goes from "
        f"{_share(found.evidence['accuracy'])} to {_share(found.evidence['reordered_accuracy'])}. "
        f"Class and the one its column is named: {_list(found.affected)}.",
        "Run again after that: the other numbers here describe the order, not the model.",
    )


def _data_quality(found: Finding) -> tuple[str, ...]:
    numbers = found.evidence
    advice = []
    if numbers["unreadable"]:
        advice.append(
            f"Replace the {_count(numbers['unreadable'], 'image')} that cannot be read: {_list(found.affected)}."
        )
    if numbers["extra_duplicates"]:
        advice.append(
            f"Remove {_count(numbers['extra_duplicates'], 'exact copy', 'exact copies')}: the same case counts "
            "several times."
        )
    if numbers["near_empty"]:
        advice.append(f"Look at the {_count(numbers['near_empty'], 'image')} of nearly one grey.")
    if numbers["low_resolution"]:
        advice.append(
            f"Replace the {_count(numbers['low_resolution'], 'small image')}, or show that small ones occur in use."
        )
    return tuple(advice)


def _leakage(found: Finding) -> tuple[str, ...]:
    return (
        f"Take {found.evidence['exact']:.0f} of {found.evidence['total']:.0f} test cases out: they are also in "
        f"the training data ({_list(found.affected)}), and the numbers here are too good by them.",
        "Split by source (scene, patient, video) rather than by image.",
    )


def _hidden_slice(found: Finding) -> tuple[str, ...]:
    numbers = found.evidence
    return (
        f"Look at the {numbers['cases']:.0f} listed cases (mostly {_list(found.affected)}) for what they share: "
        f"{_share(numbers['error_rate'])} of them are wrong, {_share(numbers['rest_error_rate'])} of the rest.",
        "Collect training images of this kind, or augment towards it.",
        "Keep these cases as a test suite of their own.",
    )


def _points(gap: float) -> str:
    return f"{100 * gap:.1f} points"


def _count(value: float, one: str, many: str | None = None) -> str:
    return f"{value:.0f} {one if round(value) == 1 else many or one + 's'}"


def _share(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def _list(names: tuple[str, ...]) -> str:
    if not names:
        return "none named"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


_ADVICE: Mapping[str, Callable[[Finding], tuple[str, ...]]] = {
    "class_imbalance": _class_imbalance,
    "overfitting": _overfitting,
    "class_overlap": _class_overlap,
    "representation_problem": _representation_problem,
    "underfitting": _underfitting,
    "class_confusion": _class_confusion,
    "overconfidence": _overconfidence,
    "underconfidence": _underconfidence,
    "label_noise": _label_noise,
    "class_order_mismatch": _class_order_mismatch,
    "data_quality": _data_quality,
    "leakage": _leakage,
    "hidden_slice": _hidden_slice,
}
