"""Operational accuracy: estimated from few labels, with the failures found on the way.

With known labels the estimators are evaluated against the truth. Without, one of them says what to label next, and
the same command goes on once the labels are there.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from app import machine, progress
from app.errors import UserError
from app.estimation import Adaptive, ArrayOracle, LabelsNeeded, PartialOracle
from app.estimation.estimate import Estimate as Estimated
from app.estimation.evaluation import Evaluation, KnownPopulation, evaluate, generator
from app.estimation.labels import Labels, no_labels
from app.job import Job
from app.limits import FileOrFolder, Level, NotNegative, Positive
from app.report.lineage import Excluded, Subject
from app.report.schema import Schema
from app.reporting.estimate import assembly, files, recording, words
from app.reporting.estimate.assembly import Cases
from app.reporting.estimate.report import ARTIFACT, VERSION, EstimateReport, Failure, Settings, Use
from app.reporting.estimate.to_label import TO_LABEL
from app.runs import Run
from app.tasks import labelling, populations, runs
from app.tasks.populations import Probing
from app.tracking import Store

MOST_REPETITIONS = 1_000_000
"""Runs of an estimator: more is a slip of the finger, and takes memory for each."""
REPETITIONS = 30
"""As in the DeepEST paper; rank estimators on 1,000."""
_RUNS_A_PROCESS = 2000
"""Runs of estimators that make a further process worth its start."""
_EXAMPLE = "adaptive"
"""Whose failures are shown, if it takes part."""
_YARDSTICKS = ("srswor", "srswr")
"""Whose failures are shown only if no other takes part: they are random sampling, which others are held against."""


class Estimate:
    """Estimates the accuracy of one or several populations.

    Args:
        population: a table of cases, or a folder of tables; None for the model's population alone.
        store: the history.
        model: the classifier, for a population of its own.
        dataset: the operational data of the model.
        train: training data of the model, for surprise.
        estimators: by name; None for `adaptive`.
        trainer: Lightning's; not needed for tables.
        seed: of every random choice, 0 or more.
        labels: what people labelled so far: a file or folder. A `to_label.csv` in the output counts too, where
            this says nothing else.
        target_width: width of the always-valid interval at which labelling stops.
        repetitions: how often each estimator is evaluated; None for 30.
        budget: labels to spend; several in an evaluation.
        use: `evaluation` needs known labels; `labelling` acts as if none were known; None decides by whether they are.
        columns: which column of the tables is what.
        layer: where activation traces are taken, a module's name or a pattern; None for the last hidden layer.
        training_classes: whether training traces are filed by predicted or by true class.
        level: of every interval.
        sequences: check the always-valid intervals too.
        workers: processes that evaluate; None for one a core where it pays.
        decoders: processes that decode pictures.
        batch_size: cases a batch.

    Raises:
        UserError: what is missing or does not fit together.
    """

    def __init__(
        self,
        population: FileOrFolder | None = None,
        *,
        store: Store,
        model: Any = None,
        dataset: Any = None,
        train: Any = None,
        estimators: Mapping[str, Any] | None = None,
        trainer: Any = None,
        seed: NotNegative = 0,
        labels: FileOrFolder | None = None,
        target_width: Level | None = None,
        repetitions: Positive | None = None,
        budget: Positive | Sequence[Positive] = 200,
        use: Literal["evaluation", "labelling"] | None = None,
        columns: Mapping[str, str] | None = None,
        layer: str | None = None,
        training_classes: Literal["predicted", "true"] = "predicted",
        level: Level = 0.95,
        sequences: bool = False,
        workers: Positive | None = None,
        decoders: NotNegative = 0,
        batch_size: Positive = 128,
    ) -> None:
        if population is None and model is None:
            raise UserError(
                "nothing to estimate over: give population=TABLE (or a folder of tables), or model=NAME dataset=NAME"
            )
        if (model is None) != (dataset is None):
            given, lacking = ("model", "dataset") if dataset is None else ("dataset", "model")
            raise UserError(
                f"{given} was given without {lacking}: give {lacking}=NAME too, or leave both out"
            )
        self.repetitions = REPETITIONS if repetitions is None else repetitions
        for name, value, least in (
            ("repetitions", self.repetitions, 1),
            ("task.workers", 1 if workers is None else workers, 1),
            ("task.decoders", decoders, 0),
            ("task.batch_size", batch_size, 1),
        ):
            if value < least:
                raise UserError(f"{name} must be {least} or more, not {value}")
        if self.repetitions > MOST_REPETITIONS:
            raise UserError(f"repetitions must be at most {MOST_REPETITIONS:,}, not {self.repetitions}")
        if not 0 < level < 1:
            raise UserError(f"task.level must lie between 0 and 1, such as 0.95, not {level}")
        if target_width is not None and not 0 < target_width < 1:
            raise UserError(
                f"target_width must lie between 0 and 1 (0.02 is ± 1 point), or be null, not {target_width}"
            )
        self.budgets = _budgets(budget)
        self.estimators = list((estimators or {"adaptive": Adaptive(target_width=target_width)}).values())
        for estimator in self.estimators:
            if not (hasattr(estimator, "run") and isinstance(getattr(estimator, "name", None), str)):
                raise UserError(
                    f"estimators must have a name and a run, which {type(estimator).__name__} has not"
                )
        self.store, self.seed, self.level, self.labels = store, seed, level, labels
        self.target_width, self.sequences, self.workers, self.use = target_width, sequences, workers, use
        self.place = population
        self.tables = [] if population is None else populations.tables(population, columns or {})
        self.probing: Probing | None = None
        if model is not None:
            subject = populations.subject_of(model, dataset, train)
            self.probing = Probing(subject, train, trainer, layer, training_classes, batch_size, decoders)

    def run(self, job: Job) -> None:
        """Gather the populations; evaluate the estimators on them, or go on with labelling; report."""
        started = datetime.now().astimezone()
        about = self._about()
        with runs.opened(self.store, "estimate", job, subject=about) as run:
            found = self._gathered(run, job)
            if not job.first:
                return
            use = self._use(found)
            told = [*about.notes, *(note for each in found for note in each.population.notes)]
            about = replace(about, notes=_once(told))
            blank = EstimateReport(
                Schema(ARTIFACT, VERSION),
                runs.run_block(run, self.store, job, started),
                about,
                self._settings(found, use, job),
                tuple(assembly.population_block(each) for each in found),
            )
            if use == "evaluation":
                report, labels = self._evaluated(found, blank, job), no_labels(found[0].population)
            else:
                report, labels = self._labelled(found[0], blank, job)
            report = replace(report, run=runs.run_block(run, self.store, job, started))
            files.write(report, job.output, found, labels, self._pictures(found))
            recording.record(run, report, job.output)
        lines = words.closing_lines(report, job.output, run.url)
        runs.tell(job, run, [*runs.remarks(report.subject, self._fewer_workers(found, use)), *lines])

    # -- populations ----------------------------------------------------------------------------------------------

    def _about(self) -> Subject:
        """The subject, before anything was run."""
        tables = ""
        if self.place is not None:
            tables = (
                self.tables[0].population.name if len(self.tables) == 1 else Path(self.place).resolve().name
            )
        digest = populations.digest_of_all(self.tables) if self.tables else ""
        cases = sum(each.population.size for each in self.tables)
        if self.probing is None:
            return Subject(tables, "none, outcomes come from tables", tables, "", digest, cases, ())
        own = self.probing.subject
        return Subject(
            f"{own.name} and {tables}" if tables else own.name,
            own.model.name,
            f"{own.dataset.name} and {tables}" if tables else own.dataset.name,
            own.model_digest,
            own.data_digest,
            cases + len(own),
            own.classes,
            tuple(Excluded(each.path, each.reason) for each in own.dataset.excluded),
            own.notes,
            own.model.shown_input,
            own.model.shown_output,
        )

    def _gathered(self, run: Run, job: Job) -> list[Cases]:
        found = list(self.tables)
        if self.probing is not None:
            folder = runs.workplace(self.store, run)
            live = populations.live(self.probing, self.store, run, folder, job)
            if live is not None:
                shutil.rmtree(folder, ignore_errors=True)
                hidden = self.use == "labelling" or not self.probing.labelled
                found.append(live if hidden else populations.with_truth(live, self.probing.subject))
        return found

    def _pictures(self, found: Sequence[Cases]) -> files.Pictures | None:
        """How to load the pictures of the model's population, which is the last."""
        return (
            None
            if self.probing is None
            else files.Pictures(found[-1].population.name, self.probing.subject.dataset.load)
        )

    # -- the two uses ---------------------------------------------------------------------------------------------

    def _use(self, found: Sequence[Cases]) -> Use:
        without = [each.population.name for each in found if each.failures is None]
        if self.use == "evaluation" or (self.use is None and not without):
            if without:
                raise UserError(f"task.use=evaluation needs known labels, {without[0]} has none")
            if self.labels is not None:
                raise UserError(
                    "labels are for data without known ones: leave them out, or give task.use=labelling"
                )
            return "evaluation"
        if len(found) > 1:
            raise UserError(
                f"labelling is about one population, these are {len(found)}; "
                f"without known labels: {', '.join(without) or 'none'}"
            )
        return "labelling"

    def _settings(self, found: Sequence[Cases], use: Use, job: Job) -> Settings:
        layers = next((each.layers for each in found if each.layers), "")
        train = None if self.probing is None else self.probing.train
        return Settings(
            use,
            self.seed,
            self.budgets,
            self.repetitions if use == "evaluation" else 1,
            self.level,
            self.target_width,
            {each.name: type(each).__name__ for each in self.estimators},
            layers,
            "" if train is None else train.name,
            job.digest,
        )

    def _evaluated(self, found: Sequence[Cases], blank: EstimateReport, job: Job) -> EstimateReport:
        known = [
            KnownPopulation(each.population, each.failures) for each in found if each.failures is not None
        ]
        total = len(known) * len(self.budgets) * len(self.estimators) * self.repetitions
        with progress.bar("runs of estimators", total, shown=job.first) as advance:
            result: Evaluation = evaluate(
                known,
                self.estimators,
                self.budgets,
                repetitions=self.repetitions,
                seed=self.seed,
                level=self.level,
                sequences=self.sequences,
                workers=self._processes(total),
                advance=advance,
            )
        if not result.results:
            raise UserError(f"no estimator could be run: {result.skipped[0].reason}")
        ran = {(row.subject, row.estimator) for row in result.results}
        examples = {
            (each.population.name, estimator.name): self._example(each, estimator)
            for each in found
            for estimator in self.estimators
            if (each.population.name, estimator.name) in ran
        }
        by_name = {each.population.name: each for each in found}
        names = [each.name for each in self.estimators]
        shown = sorted(names, key=lambda name: (name != _EXAMPLE, name in _YARDSTICKS))
        failures: list[Failure] = []
        for subject, cases in by_name.items():
            chosen = next((name for name in shown if (subject, name) in examples), None)
            if chosen is not None:
                pictured = cases.source == "model"
                failures += assembly.failure_rows(cases, examples[subject, chosen], pictured=pictured)
        return replace(
            blank,
            results=assembly.result_rows(result, self.level),
            skipped=assembly.skipped_rows(result),
            wins=assembly.win_losses(result),
            estimates=tuple(
                assembly.estimate_row(by_name[subject], each, max(self.budgets), self.level)
                for (subject, _), each in examples.items()
            ),
            failures=tuple(failures),
            example=next(name for name in shown if any(name == ran_name for _, ran_name in ran)),
        )

    def _example(self, cases: Cases, estimator: Any) -> Estimated:
        """The first repetition with the largest budget."""
        budget = max(self.budgets)
        rng = generator(self.seed, cases.population.name, estimator.name, budget, 0)
        outcomes = cases.failures if cases.failures is not None else ()
        estimate: Estimated = estimator.run(cases.population, ArrayOracle(outcomes), budget, rng)
        return estimate

    def _labelled(self, cases: Cases, blank: EstimateReport, job: Job) -> tuple[EstimateReport, Labels]:
        estimator = labelling.one_estimator(self.estimators, self.budgets, self.target_width)
        budget, population = self.budgets[0], cases.population
        labelling.check_unchanged(blank.populations[0], cases.source, self.labels, job.output)
        known = labelling.known_labels(cases, self.labels, job.output)
        subject = blank.subject
        blank = replace(blank, subject=replace(subject, notes=_once([*subject.notes, *known.notes])))
        rng = generator(self.seed, population.name, estimator.name, budget, 0)
        try:
            estimate = estimator.run(population, PartialOracle(known.outcomes), budget, rng)
        except LabelsNeeded as needed:
            command = files.with_labels(job.command, job.output / TO_LABEL)
            return replace(
                blank, labelling=assembly.labels_needed(cases, known, needed, budget, command)
            ), known
        cases = replace(cases, failures=None, true=known.classes)
        return replace(
            blank,
            estimates=(assembly.estimate_row(cases, estimate, budget, self.level),),
            failures=assembly.failure_rows(cases, estimate, pictured=self.probing is not None),
            labelling=assembly.labels_enough(known, estimate, budget),
            example=estimator.name,
        ), known

    def _fewer_workers(self, found: Sequence[Cases], use: str) -> tuple[str, ...]:
        told: tuple[str, ...] = ()
        if use == "evaluation" and self.workers is not None:
            total = len(found) * len(self.budgets) * len(self.estimators) * self.repetitions
            told += machine.fewer("task.workers", self.workers, total)
        if self.probing is not None and self.probing.decoders:
            batches = -(-len(self.probing.subject) // self.probing.batch_size) + 1
            told += machine.fewer("task.decoders", self.probing.decoders, batches)
        return told

    def _processes(self, total: int) -> int:
        if self.workers is not None:
            return machine.helpers(self.workers, total)
        return max(1, min(machine.cores(), 8, total // _RUNS_A_PROCESS))


def _budgets(budget: int | Sequence[int]) -> tuple[int, ...]:
    values = (budget,) if isinstance(budget, int) else tuple(budget)
    wrong = [each for each in values if not isinstance(each, int) or each < 1]
    if wrong or not values:
        raise UserError(
            f"task.budget must be a number of labels of at least 1, or a list of such, not {budget}"
        )
    return tuple(sorted(set(values)))


def _once(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))
