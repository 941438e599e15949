"""Is it better? Two reports of one task, compared number by number, with a verdict that chance cannot buy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.comparison import comparability, verdict
from app.comparison.body import Body, at, texts
from app.comparison.cases import Cases, Shared, rebuilt, shared
from app.comparison.causes import causes
from app.comparison.classes import (
    class_changes,
    class_rows,
    confusion_moves,
    detector_confusions,
)
from app.comparison.deltas import delta, deltas
from app.comparison.differences import Difference, paired_shares, shares
from app.comparison.estimators import LARGER, error_ratio, waiting
from app.comparison.mutants import PairedMutants, mutants
from app.comparison.readings import Readings, read
from app.comparison.results import Comparability, Comparison, ConfusionMove, Delta, Section
from app.comparison.score_draws import noise, shared_score
from app.comparison.substitutes import (
    accuracy_of_common,
    macro_f1_of_common,
    mean_ap_of_common,
    pictures_copied,
    population_accuracies,
    untested,
)
from app.comparison.things import otherwise
from app.comparison.verdict import Candidate
from app.errors import UserError
from app.measures import Measure, Value, measure


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two runs."""

    body: Body
    """Its report."""
    cases: Cases | None = None
    """What it said about each test case, where that is saved."""
    parts: Mapping[str, Side] = field(default_factory=dict)
    """Of a checkup, the reports of its parts that can be read."""


@dataclass(frozen=True)
class Limits:
    """From where on a difference matters, and how chance is measured."""

    score: float = 1.0
    """Points of the autopsy score."""
    share: float = 0.01
    """Of accuracy, mutation score and other shares."""
    resamples: int = 400
    """Bootstrap samples of the test cases."""
    seed: int = 0
    """Of what is drawn."""


def compare(
    before: Side, after: Side, limits: Limits | None = None, *, of_checkups: bool = False
) -> Comparison:
    """The comparison of two reports of one artifact that is no checkup.

    Args:
        before: the first run.
        after: the second.
        limits: from where on a difference matters.
        of_checkups: whether they are parts of checkups, which ask how accurate the model is and not how good its
            estimators are.

    Raises:
        UserError: a report cannot be read, or they are of different tasks.
    """
    limits = limits or Limits()
    first, second = _read("before", before.body), _read("after", after.body)
    if first.artifact != second.artifact:
        raise UserError(
            f"before is a report of task={first.task} and after one of task={second.task}: "
            "only reports of one task are compared"
        )
    return _Work(before, after, first, second, limits).comparison(of_checkups=of_checkups)


def _read(role: str, body: Body) -> Readings:
    try:
        return read(body)
    except UserError as error:
        raise UserError(f"{role}: {error}") from None


class _Work:
    """One comparison being made."""

    def __init__(self, before: Side, after: Side, first: Readings, second: Readings, limits: Limits) -> None:
        self.before, self.after, self.first, self.second, self.limits = before, after, first, second, limits
        self.bodies = before.body, after.body
        self.notes: list[str] = comparability.older(first, second)
        self.same_data = comparability.same(first.data_digest, second.data_digest)
        self.shared, self.unpaired = self._shared()
        self.otherwise = otherwise(
            first.artifact,
            *self.bodies,
            same_model=comparability.same(first.model_digest, second.model_digest),
            same_data=self.same_data,
            paired=self.shared is not None,
        )
        self.skipped: list[Section] = []
        self.names = [texts(at(each, "subject", "classes")) for each in self.bodies]
        self.common = [name for name in self.names[1] if name in self.names[0]]
        self.other_classes = all(self.names) and set(self.names[0]) != set(self.names[1])

    @property
    def artifact(self) -> str:
        return self.first.artifact

    def comparison(self, *, of_checkups: bool) -> Comparison:
        """Everything, and the verdict on it."""
        extra: list[Delta] = []
        known: dict[str, Difference | None] = {}
        pairs = mutants(*self.bodies) if self.artifact in {"assay.mutate", "assay.uamt"} else None
        if self.artifact in {"assay.autopsy", "assay.mutate"}:
            known |= self._classifier(extra)
        if pairs is not None:
            known |= self._mutants(pairs, extra)
        if self.artifact == "assay.detect_eval" and self.other_classes:
            self._common_ap(extra)
        if self.artifact == "assay.estimate":
            self.skipped += waiting(*self.bodies)
            if not of_checkups:
                self._estimators(extra)
            certain, samples = population_accuracies(
                self.first, self.second, same_data=self.same_data is True
            )
            extra += certain
            known |= samples
        if self.artifact == "assay.contaminate" and not self.same_data:
            self._copies(extra)
        pictures = self.artifact == "assay.contaminate"
        found = deltas(self.first, self.second, known, facts=pictures and self.same_data is True)
        if pictures and not self.same_data:
            found = [untested(each) for each in found]
        names = {each.key for each in extra}
        found = [*extra, *(each for each in found if each.key not in names)]
        found = sorted(self._without_other_hashes(found), key=lambda each: not each.headline)
        found = [self.otherwise.judged(each) for each in found]
        candidates = self._candidates(found, pairs)
        free = [each for each in candidates if not self.otherwise.bars(each.delta.key)]
        outcome, within_noise, decision = verdict.decide(free)
        if candidates and not free:
            decision = replace(decision, rule="different things")
        confusion = self._confusion()
        return Comparison(
            verdict=outcome,
            within_noise=within_noise,
            decision=decision,
            comparability=self._comparability(),
            deltas=tuple(found),
            classes=class_changes(*self.bodies, self.shared),
            causes=causes(*self.bodies),
            confusion=confusion,
            mutants=None if pairs is None else pairs.found,
        )

    def _shared(self) -> tuple[Shared | None, str]:
        if self.artifact not in {"assay.autopsy", "assay.mutate"}:
            return None, "this task has no outcomes of single test cases"
        if self.before.cases is None or self.after.cases is None:
            sides = (("before", self.before), ("after", self.after))
            lacking = " and ".join(name for name, side in sides if side.cases is None)
            return None, f"{lacking}: which test cases were right is not saved beside the report"
        return shared(self.before.cases, self.after.cases, same_data=self.same_data is True)

    def _classifier(self, extra: list[Delta]) -> dict[str, Difference | None]:
        """What chance does to the numbers of a classifier."""
        known: dict[str, Difference | None] = {}
        score = shared_score(*self.bodies)
        cases = [side.cases or rebuilt(side.body) for side in (self.before, self.after)]
        if cases[0] is not None and cases[1] is not None:
            sides = (self.bodies[0], cases[0]), (self.bodies[1], cases[1])
            known |= noise(
                *sides,
                score,
                resamples=self.limits.resamples,
                seed=self.limits.seed,
                shared=self.shared,
            )
        known["accuracy"] = self._accuracy()
        if score is not None and score.left_out:
            what = measure("autopsy_score", headline=True)
            made = delta(what, Value(what, score.before), Value(what, score.after), known.get(what.key))
            parts = ", ".join(score.left_out)
            extra.append(replace(made, note=f"without the sub-scores that only one run has: {parts}"))
            self.notes.append(f"the autopsy scores are compared without {parts}, which only one run has")
        if self.other_classes:
            self._common_classes(extra)
        return known

    def _accuracy(self) -> Difference | None:
        """Case by case if both runs saw the same ones, else from how many were right."""
        if self.shared is not None:
            return paired_shares(self.shared.before.right, self.shared.after.right)
        counts = []
        for each in (self.first, self.second):
            found = each.get("accuracy")
            if found is None or found.value is None or not found.n:
                return None
            counts.append((round(found.value * found.n), found.n))
        return shares(counts[0], counts[1])

    def _common_classes(self, extra: list[Delta]) -> None:
        """Accuracy and macro F1 of other classes are other numbers: those of the common classes take their place."""
        found = accuracy_of_common(self.first, self.second, self.common, self.shared)
        mean = macro_f1_of_common(*self.bodies, self.common)
        extra += [each for each in (found, mean) if each is not None]
        instead = "" if found is None else ": the accuracy on the test cases of the common classes does"
        score = "accuracy and autopsy score" if self.artifact == "assay.autopsy" else "accuracy"
        self.notes.append(f"the classes differ, so that {score} of all test cases cannot decide{instead}")

    def _common_ap(self, extra: list[Delta]) -> None:
        """A mean AP over other classes is another number; that of the common ones has no interval."""
        found = mean_ap_of_common(self.first, self.second, self.common)
        extra += [] if found is None else [found]
        self.notes.append("the classes differ, and with them what mean AP is the mean of: it cannot decide")

    def _mutants(self, pairs: PairedMutants, extra: list[Delta]) -> dict[str, Difference | None]:
        """What chance does to the scores of common mutants; one of its own where others came or went."""
        if self.artifact == "assay.mutate" and not pairs.whole and pairs.shares is not None:
            title = f"Mutation score of the {pairs.found.common} common mutants"
            what = Measure("mutation_score_common", title, "higher", "share", headline=True)
            first, second = (Value(what, value, n=pairs.found.common) for value in pairs.shares)
            extra.insert(0, delta(what, first, second, pairs.killed, told=True))
        return dict(pairs.known)

    def _copies(self, extra: list[Delta]) -> None:
        """Of other pictures, the share that another split has, too, stands in for the pairs."""
        found = pictures_copied(*self.bodies, same_hashes=self._same_hashes)
        extra += [] if found is None else [found]
        known = self.same_data is False
        other = "the pictures differ" if known else "whether the pictures are the same is not known"
        instead = "" if found is None else "; the share of pictures with a copy does"
        self.notes.append(f"{other}: counts of pairs cannot decide{instead}")

    def _estimators(self, extra: list[Delta]) -> None:
        found = error_ratio(*self.bodies)
        if found is not None:
            extra.append(delta(found[0].measure, *found, told=True))

    @property
    def _same_hashes(self) -> bool:
        return bool(at(self.bodies[0], "hash_spec") == at(self.bodies[1], "hash_spec"))

    def _without_other_hashes(self, found: Sequence[Delta]) -> list[Delta]:
        """Hashes that were made otherwise are never compared, nor what was counted with them."""
        if self.artifact != "assay.contaminate" or self._same_hashes:
            return list(found)
        self.skipped.append(Section("look-alikes", "the hashes were made in different ways (hash_spec)"))
        hashed = {"risk", "copies_across", "drop", "review", "clusters"}
        starts = ("confirmed_", "near_", "share_sure/")
        return [each for each in found if each.key not in hashed and not each.key.startswith(starts)]

    def _candidates(self, found: Sequence[Delta], pairs: PairedMutants | None) -> list[Candidate]:
        """The numbers that may decide, the most telling first."""
        by_key = {each.key: each for each in found}
        share, keys = self.limits.share, tuple[str, ...]()
        if self.artifact == "assay.contaminate":
            if not self.same_data:
                return [Candidate(by_key["copied"])] if "copied" in by_key else []
            keys = ("copies_across", "risk") if "copies_across" in by_key else ("exact_across",)
            return [Candidate(by_key[key], fact=True) for key in keys if key in by_key]
        if self.artifact == "assay.estimate":
            stems = ("accuracy", "estimated_accuracy")
            keys = tuple(each.key for each in found if each.headline and each.key.partition("/")[0] in stems)
            truths = {f"estimated_{key}" for key in keys if by_key[key].difference is not None}
            keys = tuple(key for key in keys if key not in truths)
            ratio = [Candidate(by_key["rmse_ratio"], LARGER)] if "rmse_ratio" in by_key else []
            known = bool(self.same_data)
            exact = {key: known and key.partition("/")[0] == "accuracy" for key in keys}
            return [*(Candidate(by_key[key], share, fact=exact[key]) for key in keys), *ratio]
        accuracy = "accuracy_common" if self.other_classes else "accuracy"
        keys = {
            "assay.autopsy": (accuracy,),
            "assay.mutate": (
                "mutation_score_common"
                if pairs is not None and (pairs.most or self.otherwise.bars("mutation_score"))
                else "mutation_score",
                accuracy,
            ),
            "assay.uamt": ("img_ms_mg", "obj_ms_mg"),
            "assay.detect_eval": () if self.other_classes else ("mean_ap",),
        }[self.artifact]
        if "mutation_score_common" in keys and "mutation_score_common" not in by_key:
            keys = ("mutation_score", *keys[1:])
        chosen = [Candidate(by_key[key], share) for key in keys if key in by_key]
        if self.artifact == "assay.autopsy" and "autopsy_score" in by_key and not self.other_classes:
            chosen.append(Candidate(by_key["autopsy_score"], self.limits.score))
        return chosen

    def _confusion(self) -> tuple[ConfusionMove, ...]:
        if self.artifact == "assay.autopsy":
            return confusion_moves(*self.bodies, same_cases=self._all_shared) or ()
        if self.artifact == "assay.detect_eval":
            return detector_confusions(*self.bodies) or ()
        return ()

    @property
    def _all_shared(self) -> bool:
        found = self.shared
        return found is not None and not (found.only_before or found.only_after or found.relabelled)

    def _comparability(self) -> Comparability:
        first, second = self.first, self.second
        compared, skipped = comparability.sections(self.artifact, *self.bodies)
        versions = first.version, second.version
        missing = comparability.missing(*self.bodies, deep=versions[0] != versions[1])
        differing = comparability.settings(*self.bodies)
        names = self.names
        only = [tuple(each for each in a if each not in b) for a, b in (names, names[::-1])]
        if class_rows(self.bodies[0]) and names[0] != names[1] and not only[0] and not only[1]:
            self.notes.append("the classes come in another order: they are compared by name")
        if self.same_data is False and self.shared is None:
            self.notes.append("the data differ: what changed may be the data as well as the model")
        if self.shared is not None:
            self._note_cases(self.shared)
        generators = [str(at(each, "schema", "generator", "version") or "") for each in self.bodies]
        return Comparability(
            artifact=self.artifact,
            versions=versions,
            generators=(generators[0], generators[1]),
            partial=bool(missing or skipped or self.skipped or versions[0] != versions[1]),
            same_model=comparability.same(first.model_digest, second.model_digest),
            same_data=self.same_data,
            same_settings=not differing,
            same_classes=set(names[0]) == set(names[1]),
            same_cases=self.shared is not None,
            shared_cases=None if self.shared is None else len(self.shared),
            unpaired_reason=self.unpaired,
            classes_common=sum(name in names[0] for name in names[1]),
            classes_only_before=only[0],
            classes_only_after=only[1],
            settings=differing,
            missing=missing,
            compared_sections=compared,
            skipped_sections=(*skipped, *self.skipped),
            notes=tuple(dict.fromkeys((*self.otherwise.notes, *self.notes))),
            otherwise=self.otherwise.named,
        )

    def _note_cases(self, found: Shared) -> None:
        parts = {
            "have another label now": found.relabelled,
            "are only in before": found.only_before,
            "are only in after": found.only_after,
        }
        told = [f"{n} {'test case' if n == 1 else 'test cases'} {words}" for words, n in parts.items() if n]
        if told:
            self.notes.append(
                f"{', '.join(told)}: the {len(found)} others are compared one by one, "
                "and the difference of accuracy is theirs"
            )
