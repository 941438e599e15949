"""Whether two runs measured the same thing: only then can one be better than the other.

A model that is read otherwise (preprocessing, order of the classes, meaning of its outputs), other data, or another
rule give other numbers without anything having become better or worse. Such differences are named before any number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.comparison.body import Body, at, block, texts
from app.comparison.results import Delta

READ: Mapping[str, str] = {"preprocess": "preprocessing", "output": "reading of the outputs"}
"""Fields of a report's subject that say how a model is read, in words."""
RULES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "assay.mutate": (("q", "delta", "p0", "thresholds"), ("mutation_score", "mutation_score_common")),
    "assay.autopsy": (("profile", "weights"), ("autopsy_score",)),
    "assay.uamt": (("profile", "threshold", "alpha", "semantics"), ("img_ms_mg", "obj_ms_mg")),
}
"""Settings that say what a number is, and the numbers."""
OF_THE_TESTS = ("mutation_score", "mutation_score_common", "img_ms_mg", "obj_ms_mg")
"""Numbers about the test data themselves: other data for the same model are what they compare."""
OF_THE_DATA = ("assay.contaminate", "assay.estimate")
"""Reports about the data as they are: copies between splits, accuracy in operation, which other data may change."""
RULE = "rule by which it is made"


@dataclass(frozen=True)
class Otherwise:
    """What was measured otherwise."""

    whole: tuple[str, ...] = ()
    """What makes every number one of another thing."""
    spared: tuple[str, ...] = ()
    """Numbers that this does not touch."""
    single: tuple[str, ...] = ()
    """Numbers that follow another rule."""

    @property
    def named(self) -> tuple[str, ...]:
        """What differs, in words."""
        rule = (f"the {RULE}" for _ in self.single[:1])
        return (*self.whole, *rule)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences that come first."""
        told = [
            f"other {each}: the runs measured different things, and neither is better or worse for it"
            for each in self.whole
        ]
        if self.single:
            told.append(f"{self.single[0]} follows another rule in each run, so neither is better")
        return tuple(told)

    def bars(self, key: str) -> bool:
        """Whether a number cannot decide."""
        return key in self.single or (bool(self.whole) and key not in self.spared)

    def judged(self, delta: Delta) -> Delta:
        """A difference, neither better nor worse where the two numbers are of different things."""
        if delta.judgement in {"better", "worse"} and self.bars(delta.key):
            return replace(delta, judgement="changed")
        return delta


def otherwise(
    artifact: str,
    before: Body,
    after: Body,
    *,
    same_model: bool | None,
    same_data: bool | None,
    paired: bool,
) -> Otherwise:
    """What two reports of one kind measured otherwise.

    How a model is read belongs to it: of another model it may differ. Data are compared by the cases that both have.

    Args:
        artifact: of both.
        before: report of the first run.
        after: of the second.
        same_model: by digest.
        same_data: by digest.
        paired: whether test cases are compared one by one.
    """
    if artifact in OF_THE_DATA:
        same_data = True
    whole = [] if same_model is False else _read_otherwise(before, after, by_order=same_model is True)
    spared: tuple[str, ...] = ()
    if same_data is False and not paired:
        spared = OF_THE_TESTS if same_model and not whole else ()
        whole.append("data")
    settings, numbers = RULES.get(artifact, ((), ()))
    rules = [{name: block(each, "settings").get(name) for name in settings} for each in (before, after)]
    single = numbers if rules[0] != rules[1] else ()
    if artifact == "assay.mutate" and _operators(before) != _operators(after):
        single = tuple(dict.fromkeys((*single, "mutation_score")))
    return Otherwise(tuple(whole), spared, single)


def _operators(body: Body) -> set[str]:
    rows = at(body, "by_operator") or ()
    return {str(at(each, "operator")) for each in rows}


def _read_otherwise(before: Body, after: Body, *, by_order: bool) -> list[str]:
    found = []
    for name, words in READ.items():
        old, new = at(before, "subject", name), at(after, "subject", name)
        if old and new and old != new:
            found.append(f"{words} ({old}, now {new})")
    classes = [texts(at(each, "subject", "classes")) for each in (before, after)]
    if by_order and classes[0] != classes[1] and set(classes[0]) == set(classes[1]):
        found.append("order of the classes")
    return found
