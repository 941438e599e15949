"""Mutation testing of a detector: would the test images notice if the model broke?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app import detections, progress
from app.detections import DetectionLog
from app.errors import UserError
from app.inference.campaign import Campaign, cut
from app.inference.detection import campaign
from app.inference.detection.blocks import DetectionStore, repeated
from app.inference.detection.campaign import ExaminedDetector, GroupDetections
from app.job import Job
from app.mutation import plan as planning
from app.mutation.mutant import Mutant
from app.mutation.operator import Operator
from app.mutation.targets import Targets
from app.reporting import html, schema
from app.reporting.figures import save_png
from app.reporting.uamt import figures, page, tables, words
from app.reporting.uamt.assembly import Scored, uamt_report
from app.reporting.uamt.report import UamtReport
from app.runs import Child, Run
from app.scoring.detection import ScoreSettings, Strength, score_logs
from app.scoring.detection.folder import write_index
from app.scoring.detection.tree import DetectionTree
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.detection.detector import Detector
from app.subjects.detection.subject import DetectorSubject
from app.subjects.suites import read_suites
from app.tasks import runs
from app.tracking import Store

RAN_ONCE = (
    "mutants without randomness ran once: the test over repetitions cannot tell their misses and ghosts from noise, so "
    "read their Obj-MS and the any-rule instead of Img-MS"
)


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
    ) -> None:
        self.subject = DetectorSubject(model, dataset)
        self.operators = tuple(operators.values())
        self.settings, self.trainer, self.store = scoring, trainer, store
        self.seed, self.engine, self.resume = seed, engine, resume
        self.batch_size, self.workers, self.group_size = batch_size, workers, group_size
        self.save_json = save_json
        self.names = stems(dataset.paths)
        self.suites = {
            name: [self.names[case] for case in cases]
            for name, cases in read_suites(suites or {}, dataset).items()
        }

    def run(self, job: Job) -> None:
        """Look at the original, plan the mutants, run them group by group, score, report."""
        started = datetime.now().astimezone()
        examined = self._examine()
        targets = Targets(examined.setup.module)
        drawn = planning.draw(self.operators, targets, self.seed)
        with runs.opened(self.store, "mutate", job, subject=self.subject, resume=self.resume) as run:
            folder = runs.workplace(self.store, run)
            plan = planning.read(folder / "plan.json", self.operators)
            if plan is None:
                groups = cut(drawn, examined.seconds, len(self.subject), self.group_size, self.engine)
                plan = planning.Plan(drawn, groups)
                planning.write(plan, folder / "plan.json")
            found = list(self._groups(plan, examined, DetectionStore(folder / "blocks"), job))
            if not job.first:
                return
            kept = self._keep(plan, found, job.output / "predictions")
            if self.save_json:
                self._save_tree(plan, found, job.output / "deepluq")
            scored = self._score(plan, found, kept)
            report = self._report(
                job, run, scored, started, (*targets.notes, *examined.notes, *_notes(plan, found))
            )
            self._write(job.output, report, scored)
            _record(run, report, plan, job.output)
        shutil.rmtree(folder, ignore_errors=True)
        print("\n".join(words.closing_lines(report, str(job.output / "report.html"), run.url)))

    def _examine(self) -> ExaminedDetector:
        return campaign.examine(
            self.subject.model.module,
            self.subject.model.to_images,
            self.subject.dataset,
            classes=self.subject.num_classes + int(self.subject.model.background),
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

    def _keep(self, plan: planning.Plan, found: Sequence[GroupDetections], folder: Path) -> dict[str, Path]:
        """The detections as files: `original.npz`, and one a mutant that could be run.

        Those with the most repetitions make a folder that `task=score` reads, with the deterministic original as
        often; the others lie in folders below, named by their number of repetitions.
        """
        folder.mkdir(parents=True, exist_ok=True)
        most = max(mutant.repetitions for mutant in plan.mutants)
        detections.save(repeated(found[0].original, most), folder / "original.npz")
        kept = {}
        outcomes = [each for group in found for each in group.mutants]
        for mutant, each in zip(plan.mutants, outcomes, strict=True):
            if each.log is not None:
                place = folder if mutant.repetitions == most else folder / f"t{mutant.repetitions}"
                place.mkdir(exist_ok=True)
                kept[mutant.key] = place / f"{mutant.key}.npz"
                detections.save(each.log, kept[mutant.key])
        indexed = {m.key: strength(m) for m in plan.mutants if m.key in kept and m.repetitions == most}
        write_index(folder, self.subject.model.name, self.subject.dataset.name, indexed)
        return kept

    def _save_tree(self, plan: planning.Plan, found: Sequence[GroupDetections], root: Path) -> None:
        """The stochastic mutants as a DeepLUQ folder tree, for other tools and `task=score`."""
        outcomes = [each for group in found for each in group.mutants]
        originals: set[str] = set()
        for mutant, each in zip(plan.mutants, outcomes, strict=True):
            told = strength(mutant)
            if each.log is None or np.isnan(told.rate):
                continue
            tree = DetectionTree(root, told.operator, self.subject.model.name, self.subject.dataset.name)
            if told.operator not in originals:
                originals.add(told.operator)
                tree.write(tree.original_tag, repeated(found[0].original, mutant.repetitions))
            tree.write(f"{told.rate:g}" + ("" if told.block is None else f"_{told.block}"), each.log)

    def _score(
        self, plan: planning.Plan, found: Sequence[GroupDetections], kept: Mapping[str, Path]
    ) -> list[Scored]:
        """Scores, apart for each number of repetitions: tests and intervals depend on it."""
        scored = []
        for repetitions in sorted({mutant.repetitions for mutant in plan.mutants}, reverse=True):
            chosen = [m for m in plan.mutants if m.repetitions == repetitions and m.key in kept]
            if not chosen:
                continue
            scores = score_logs(
                repeated(found[0].original, repetitions),
                _Files({mutant.key: kept[mutant.key] for mutant in chosen}),
                settings=self.settings,
                strengths={mutant.key: strength(mutant) for mutant in chosen},
                suites=self.suites,
                seed=self.seed,
            )
            scored.append(
                Scored(self.subject.model.name, scores, (repetitions,), str(found[0].original.semantics))
            )
        if not scored:
            reasons = [each.reason for group in found for each in group.mutants]
            raise UserError(f"no mutant could be run: {next(filter(None, reasons), 'none was planned')}")
        return scored

    def _report(
        self, job: Job, run: Run, scored: Sequence[Scored], started: datetime, notes: Sequence[str]
    ) -> UamtReport:
        about = runs.run_block(run, self.store, job, started, resumed=self.resume is not None)
        told = [note for each in scored for note in each.scores.notes]
        subject = runs.subject_block(self.subject, (*notes, *told))
        return uamt_report(
            scored, about, subject, seed=self.seed, engine=self.engine, config_digest=job.digest
        )

    def _write(self, output: Path, report: UamtReport, scored: Sequence[Scored]) -> None:
        for each in scored:
            each.scores.write_objects(output / f"objects_t{each.repetitions[0]}.parquet")
            each.scores.write_columns(output)
        tables.write_mutants(report, output / "mutants.csv")
        drawn = {"score_over_rate": figures.score_over_rate(report), "heat_map": figures.heat_map(report)}
        for name, figure in drawn.items():
            if figure is not None:
                save_png(figure, output / f"{name}.png")
        schema.write_json(report, output / "report.json")
        html.write_page(page.uamt_page(report), output / "report.html")


class _Files(Mapping[str, DetectionLog]):
    """Logs by key, read when they are asked for."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self.paths = paths

    def __getitem__(self, key: str) -> DetectionLog:
        return detections.load(self.paths[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


def strength(mutant: Mutant) -> Strength:
    """What the scores are drawn over: rate and block of a stochastic mutant."""
    rate, block = mutant.params.get("rate", float("nan")), mutant.params.get("block")
    return Strength(mutant.operator.name, float(rate), None if block is None else int(block))


def stems(paths: Sequence[str]) -> tuple[str, ...]:
    """A name of its own for each test image: its path without the ending, as far as that is unique."""
    short = [Path(path).stem for path in paths]
    if len(set(short)) == len(short):
        return tuple(short)
    return tuple(path.replace("/", "_") for path in paths)


def _notes(plan: planning.Plan, found: Sequence[GroupDetections]) -> tuple[str, ...]:
    notes = [note for group in found for note in group.notes]
    outcomes = [each for group in found for each in group.mutants]
    for mutant, each in zip(plan.mutants, outcomes, strict=True):
        if each.reason is not None:
            notes.append(f"{mutant.key} is invalid and not scored: {each.reason}")
        elif each.unchanged:
            notes.append(f"{mutant.key} changed no parameter")
    if any(mutant.repetitions == 1 for mutant in plan.mutants):
        notes.append(RAN_ONCE)
    return tuple(dict.fromkeys(notes))


def _record(run: Run, report: UamtReport, plan: planning.Plan, output: Path) -> None:
    """Everything the report says that MLflow can show: in the parent, in a child for each mutant, as files."""
    run.log_metrics(tables.summary_metrics(report))
    for name, values in tables.series(report).items():
        run.log_series({f"mutant/{name}": list(enumerate(values))})
    scores = {mutant.key: mutant for mutant in report.mutants}
    run.children(
        Child(
            mutant.key,
            {"operator": mutant.operator.name, "target": mutant.target, "seed": mutant.seed, **mutant.params},
            tables.mutant_metrics(scores[mutant.key]) if mutant.key in scores else {},
            {"operator": mutant.operator.name, "layer": mutant.target, "valid": mutant.key in scores},
        )
        for mutant in plan.mutants
    )
    run.table(tables.mutant_columns(report), "mutants.json")
    for path in sorted(output.iterdir()):
        if path.name == "predictions" or path.suffix in {".json", ".html", ".png", ".csv", ".parquet"}:
            run.artifact(path)
