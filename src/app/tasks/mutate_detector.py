"""Mutation testing of a detector: would the test images notice if the model broke?"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

from app import durable, machine, progress
from app.errors import UserError
from app.inference.campaign import Campaign, cut
from app.inference.detection import campaign
from app.inference.detection.batches import DetectorBatches
from app.inference.detection.blocks import DetectionStore, repeated
from app.inference.detection.campaign import ExaminedDetector, GroupDetections
from app.inference.detection.rows import Semantics
from app.job import Job
from app.mutation import plan as planning
from app.mutation.mutant import Mutant
from app.mutation.operator import Operator
from app.mutation.targets import Targets
from app.report.pages.uamt import Report
from app.report.pages.uamt.tables import mutant_numbers
from app.report.pages.uamt.words import closing_lines
from app.runs import Child, Run
from app.scoring.detection import DetectionScores, ScoreSettings, Strength, score_logs
from app.scoring.detection.assembly import ScoredModel
from app.scoring.detection.columns import write_csv
from app.scoring.detection.names import safe_name
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.detection.detector import Detector
from app.subjects.detection.subject import DetectorSubject
from app.subjects.suites import read_suites
from app.tasks import detector_report, runs
from app.tasks.saved_detections import DetectionFiles, SavedDetections, strength, tag
from app.tracking import Store


class MutateDetector:
    """Runs every mutant of the chosen operators over the test images, scores the detections, and reports.

    Args:
        model: the detector under test.
        dataset: the test images.
        operators: by name.
        scoring: when a mutant is killed.
        trainer: Lightning's.
        store: the history.
        seed: of every random choice, 0 or more.
        engine: `bank` (all mutants in one pass) or `naive` (a copy and a full pass each).
        resume: id of the interrupted run to go on with.
        suites: named parts of the test images, each a file or a list of indices or paths.
        batch_size: test images a batch.
        workers: processes that decode images.
        group_size: mutants a group; None for about a minute's worth.
        save_json: also write the detections as a DeepLUQ folder tree.
        profile: `paper`, the definitions, or `deepluq`, the reference implementation; None for `paper`.

    Raises:
        UserError: what does not fit together.
    """

    def __init__(
        self,
        model: Detector,
        dataset: DetectionDataset,
        operators: Mapping[str, Operator],
        *,
        scoring: ScoreSettings,
        trainer: Any,
        store: Store,
        seed: int = 0,
        engine: Literal["bank", "naive"] = "bank",
        resume: str | None = None,
        suites: Mapping[str, str | Sequence[int | str]] | None = None,
        batch_size: int = 8,
        workers: int = 0,
        group_size: int | None = None,
        save_json: bool = False,
        profile: Literal["paper", "deepluq"] | None = None,
    ) -> None:
        self.subject = DetectorSubject(model, dataset)
        self.chosen, self.operators = dict(operators), tuple(operators.values())
        try:
            self.settings = replace(scoring, profile=profile or scoring.profile)
        except ValueError as error:
            raise UserError(str(error)) from error
        self.trainer, self.store = trainer, store
        self.seed, self.engine, self.resume = seed, engine, resume
        self.batch_size, self.workers, self.group_size = batch_size, workers, group_size
        self.save_json = save_json
        self.names = stems(dataset.paths)
        self.suites = {
            name: [self.names[case] for case in cases]
            for name, cases in read_suites(suites or {}, dataset).items()
        }

    def run(self, job: Job) -> None:
        """Look at the original, plan the mutants, run them and save what they find group by group, score, report."""
        started = datetime.now().astimezone()
        examined = self._examine()
        targets = Targets(examined.setup.module)
        drawn = planning.draw(self.chosen, targets, self.seed, job.named)
        with runs.opened(self.store, "mutate", job, subject=self.subject, resume=self.resume) as run:
            folder = runs.workplace(self.store, run)
            plan = planning.read(folder / "plan.json", self.operators)
            if plan is None:
                groups = cut(drawn.mutants, examined.seconds, len(self.subject), self.group_size, self.engine)
                plan = planning.Plan(drawn.mutants, groups)
                planning.write(plan, folder / "plan.json")
            with tempfile.TemporaryDirectory(dir=job.output, prefix=".unfinished-") as unfinished:
                place = Path(unfinished)
                saved = self._saved(plan, place)
                for group in self._groups(plan, examined, DetectionStore(folder / "blocks"), job):
                    run.children(_child(mutant, saved) for mutant in saved.add(group))
                if not job.first:
                    return
                notes = (*drawn.notes, *targets.notes, *examined.notes, *saved.finish())
                scored = self._score(plan, saved)
                report = self._report(job, run, scored, started, notes)
                self._write(place, report, scored)
                _record(run, report, _moved(place, job.output))
        lines = closing_lines(report, str(job.output / "report.html"), run.url)
        runs.tell(
            job,
            run,
            [*runs.notes(self._fewer_workers()), *runs.left_out(report.subject), *lines],
        )

    def _fewer_workers(self) -> tuple[str, ...]:
        batches = DetectorBatches.count(len(self.subject), self.batch_size)
        return machine.fewer("task.workers", self.workers, batches)

    def _saved(self, plan: planning.Plan, place: Path) -> SavedDetections:
        names = self.subject.model.name, self.subject.dataset.name
        tree = place / "deepluq" if self.save_json else None
        return SavedDetections(place / "predictions", plan.mutants, names, tree)

    def _examine(self) -> ExaminedDetector:
        return campaign.examine(
            self.subject.model.module,
            self.subject.model.to_images,
            self.subject.dataset,
            classes=rows_of(self.subject),
            semantics=cast("Semantics | None", self.settings.semantics) or "auto",
        )

    def _groups(
        self, plan: planning.Plan, examined: ExaminedDetector, blocks: DetectionStore, job: Job
    ) -> Iterator[GroupDetections]:
        total = len(plan.mutants) * len(self.subject)
        with progress.bar(f"{len(plan.mutants)} mutants × test images", total, shown=job.first) as advance:
            yield from campaign.run(
                Campaign(plan.mutants, plan.groups, self.batch_size),
                examined.setup,
                self.subject.dataset,
                self.trainer,
                blocks,
                names=self.names,
                engine=self.engine,
                workers=self.workers,
                advance=advance,
            )

    def _score(self, plan: planning.Plan, saved: SavedDetections) -> list[ScoredModel]:
        """Scores, apart for each number of repetitions: tests and intervals depend on it."""
        scored = []
        for repetitions in sorted({mutant.repetitions for mutant in plan.mutants}, reverse=True):
            chosen = [m for m in plan.mutants if m.repetitions == repetitions and m.key in saved.paths]
            if not chosen:
                continue
            scores = score_logs(
                repeated(saved.original, repetitions),
                DetectionFiles({mutant.key: saved.paths[mutant.key] for mutant in chosen}),
                settings=self.settings,
                strengths={mutant.key: strength(mutant) for mutant in chosen},
                suites=self.suites,
                seed=self.seed,
            )
            scored.append(
                ScoredModel(
                    self.subject.model.name,
                    scores,
                    (repetitions,),
                    str(self.settings.semantics or saved.original.semantics),
                )
            )
        if not scored:
            reason = next(iter(saved.reasons.values()), "none was planned")
            raise UserError(f"no mutant could be run: {reason}")
        return scored

    def _report(
        self, job: Job, run: Run, scored: Sequence[ScoredModel], started: datetime, notes: Sequence[str]
    ) -> Report:
        about = runs.run_block(run, self.store, job, started, resumed=self.resume is not None)
        told = [note for each in scored for note in each.scores.notes]
        subject = runs.subject_block(self.subject, (*notes, *told))
        return detector_report.detector_report(
            scored, about, subject, seed=self.seed, engine=self.engine, config_digest=job.digest
        )

    def _write_columns(self, output: Path, scores: DetectionScores) -> None:
        """Profile `deepluq`: the 38 columns, in the folders in which `task=score` writes them."""
        for mutant, rows in zip(scores.mutants, scores.rows, strict=False):
            folder = output / safe_name(self.subject.model.name, "model") / mutant.operator
            folder.mkdir(parents=True, exist_ok=True)
            told = Strength(mutant.operator, mutant.rate, mutant.block)
            name = mutant.key.removeprefix(f"{mutant.operator}-") if math.isnan(mutant.rate) else tag(told)
            path = folder / f"mutant_{name}.csv"
            write_csv(rows, folder / f"mutant_{mutant.key}.csv" if path.exists() else path)

    def _write(self, output: Path, report: Report, scored: Sequence[ScoredModel]) -> None:
        for each in scored:
            each.scores.write_objects(output / f"objects_t{each.repetitions[0]}.parquet")
            self._write_columns(output, each.scores)
        detector_report.write(report, output)


def rows_of(subject: DetectorSubject) -> int:
    """C of class rows made of labels, where the module's labels go from 0 to C - 1."""
    if subject.model.class_labels is not None:
        return max(subject.model.class_labels) + 1
    return subject.num_classes + int(subject.model.background)


def stems(paths: Sequence[str]) -> tuple[str, ...]:
    """A name of its own for each test image: its path without the ending, as far as that is unique.

    Else its whole path; what is the same even then (`a/b.png` and `a_b.png`) is counted.
    """
    names = [Path(path).stem for path in paths]
    if len(set(names)) < len(names):
        names = [path.replace("/", "_") for path in paths]
    given = set(names)
    taken: set[str] = set()
    for place, name in enumerate(names):
        number = 1
        while names[place] in taken:
            number += 1
            if f"{name}-{number}" not in given:
                names[place] = f"{name}-{number}"
        taken.add(names[place])
    return tuple(safe_name(name, "test image") for name in names)


def _child(mutant: Mutant, saved: SavedDetections) -> Child:
    """A mutant's run; scores come when all mutants are in."""
    params = {"operator": mutant.operator.name, "target": mutant.target, "seed": mutant.seed}
    tags = {"operator": mutant.operator.name, "layer": mutant.target, "valid": mutant.key in saved.paths}
    return Child(mutant.key, params | {**mutant.params}, {}, tags)


def _moved(place: Path, output: Path) -> list[Path]:
    """All that lies in a folder, now in the output, in the place of what is called the same there."""
    return [durable.move(path, output / path.name) for path in sorted(place.iterdir())]


def _record(run: Run, report: Report, written: Sequence[Path]) -> None:
    """Everything the report says that MLflow can show: in the parent, in a child for each mutant, as files."""
    detector_report.record(run, report)
    run.update_children({mutant.key: (mutant_numbers(mutant), {}) for mutant in report.result.mutants})
    for path in written:
        if path.name != "deepluq":  # the same as the predictions, in many small files
            run.artifact(path)
