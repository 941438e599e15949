"""Mutation testing of a classifier: would the test cases notice if the model broke?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from app import machine, progress
from app.diagnosis.signals import signals
from app.inference import campaign
from app.inference.batches import Batches, fitting, limits_of
from app.inference.blocks import BlockStore
from app.inference.campaign import Examined, GroupOutcomes
from app.job import Job
from app.mutation import plan as planning
from app.mutation import saliency
from app.mutation.mutant import Mutant
from app.mutation.operator import Operator
from app.mutation.targets import Targets
from app.report import png, render, sinks
from app.report.charts import Spec
from app.report.document import Document
from app.report.pages.mutate import ARTIFACT, VERSION, Report, charts
from app.report.pages.mutate.page import page
from app.report.pages.mutate.tables import mutant_rows
from app.report.pages.mutate.words import closing_lines
from app.report.schema import Schema
from app.runs import Child, Run
from app.scoring.assembly import Campaign, Measured, mutation_result
from app.scoring.judgement import Judgement, judge
from app.scoring.options import Scoring
from app.scoring.rates import over_rate
from app.scoring.results import Settings
from app.scoring.suites import score_suites
from app.scoring.thresholds import SIGNALS
from app.subjects.dataset import ImageDataset
from app.subjects.model import Model
from app.subjects.subject import Subject
from app.subjects.suites import read_suites
from app.tasks import runs
from app.tracking import Store

SALIENCY_SAMPLES = 256
OUTCOME_BYTES = 12
"""Of one pass over one test case: class, confidence and shift."""


class MutateClassifier:
    """Runs every mutant of the chosen operators over the test cases, judges them, and reports.

    Args:
        model: the classifier under test.
        dataset: the test cases.
        operators: by name.
        scoring: when a mutant is killed, in both profiles.
        trainer: Lightning's.
        store: the history.
        seed: of every random choice, 0 or more.
        engine: `bank` (all mutants in one pass) or `naive` (a copy and a full pass each).
        resume: id of the interrupted run to go on with.
        suites: named parts of the test cases, each a file or a list of indices or paths.
        smart: draw layers and channels by saliency.
        batch_size: test cases a batch.
        workers: processes that decode images.
        group_size: mutants a group; None for about a minute's worth.

    Raises:
        UserError: what does not fit together.
    """

    def __init__(
        self,
        model: Model,
        dataset: ImageDataset,
        operators: Mapping[str, Operator],
        *,
        scoring: Scoring,
        trainer: Any,
        store: Store,
        seed: int = 0,
        engine: Literal["bank", "naive"] = "bank",
        resume: str | None = None,
        suites: Mapping[str, str | Sequence[int | str]] | None = None,
        smart: bool = False,
        batch_size: int = 128,
        workers: int = 0,
        group_size: int | None = None,
    ) -> None:
        self.subject = Subject(model, dataset)
        self.chosen, self.operators = dict(operators), tuple(operators.values())
        self.scoring, self.trainer, self.store = scoring, trainer, store
        self.seed, self.engine, self.resume = seed, engine, resume
        self.suites = read_suites(suites or {}, dataset)
        self.smart, self.batch_size, self.workers, self.group_size = smart, batch_size, workers, group_size

    def run(self, job: Job) -> None:
        """Look at the original, plan the mutants, run and measure them group by group, judge, report."""
        started = datetime.now().astimezone()
        examined = self._examine()
        targets = Targets(examined.classifier.module, self._saliency(examined))
        drawn = planning.draw(self.chosen, targets, self.seed, job.named)
        self._refuse_too_many(drawn.mutants)
        with runs.opened(self.store, "mutate", job, subject=self.subject, resume=self.resume) as run:
            folder = runs.workplace(self.store, run)
            plan = planning.read(folder / "plan.json", self.operators)
            if plan is None:
                groups = campaign.cut(
                    drawn.mutants, examined.seconds, len(self.subject), self.group_size, self.engine
                )
                plan = planning.Plan(drawn.mutants, groups)
                planning.write(plan, folder / "plan.json")
            found: list[GroupOutcomes] = []
            measured: list[Measured] = []
            for group in self._groups(plan, examined, BlockStore(folder / "blocks"), job):
                found.append(group)
                measured += self._measure(plan.mutants[len(measured) :], group)
                run.children(_child(each) for each in measured[-len(group.mutants) :])
            if not job.first:
                return
            result = self._judge(found, measured)
            settings = self._settings(plan, job)
            notes = tuple(
                dict.fromkeys(
                    [
                        *examined.notes,
                        *drawn.notes,
                        *targets.notes,
                        *(note for group in found for note in group.notes),
                    ]
                )
            )
            notes += self._warning(result)
            about = runs.run_block(run, self.store, job, started, resumed=self.resume is not None)
            report = Document(
                Schema(ARTIFACT, VERSION),
                about,
                runs.subject_block(self.subject, notes),
                settings,
                mutation_result(result, self.subject.classes, self.seed),
            )
            _record(run, report, self._write(job, report, result))
        lines = closing_lines(report, str(job.output / "report.html"), run.url)
        runs.tell(job, run, [*runs.remarks(report.subject, self._fewer_workers()), *lines])

    def _refuse_too_many(self, mutants: Sequence[Mutant]) -> None:
        passes, cases = sum(each.repetitions for each in mutants), len(self.subject)
        machine.refuse_above(
            passes * cases * OUTCOME_BYTES,
            f"the outcomes of {passes:,} passes of {len(mutants):,} mutants over {cases:,} test cases",
            "fewer mutants (operators.NAME.count), repetitions or test cases (dataset.max_samples)",
        )

    def _fewer_workers(self) -> tuple[str, ...]:
        return machine.fewer("task.workers", self.workers, Batches.count(len(self.subject), self.batch_size))

    def _examine(self) -> Examined:
        model, data = self.subject.model, self.subject.dataset
        examined = campaign.examine(
            model.module,
            model.preprocess.to_batch,
            data,
            model.output,
            key=model.output_key,
            classes=self.subject.known_classes,
        )
        self.subject.check_outputs(examined.outputs)
        return examined

    def _saliency(self, examined: Examined) -> saliency.Saliency | None:
        if not self.smart or all(operator.kind == "input" for operator in self.operators):
            return None
        part = Subject(self.subject.model, self.subject.dataset.sample(SALIENCY_SAMPLES, self.seed))
        labels = torch.as_tensor(part.labels, dtype=torch.long)
        size = fitting(32, len(part), limits_of(self.subject.model.module))
        places = [range(len(part))[first : first + size] for first in range(0, len(part), size)]
        images = ([part.dataset.load(i) for i in place] for place in places)
        batches = (
            (examined.classifier.to_batch(batch), labels[list(place)])
            for place, batch in zip(places, images, strict=True)
        )
        return saliency.measure(
            examined.classifier.module,
            batches,
            examined.classifier.output,
            scores_of=examined.classifier.scores,
        )

    def _groups(
        self, plan: planning.Plan, examined: Examined, blocks: BlockStore, job: Job
    ) -> Iterator[GroupOutcomes]:
        total = len(plan.mutants) * len(self.subject)
        with progress.bar(f"{len(plan.mutants)} mutants × test cases", total, shown=job.first) as advance:
            yield from campaign.run(
                campaign.Campaign(plan.mutants, plan.groups, self.batch_size),
                examined.classifier,
                self.subject.dataset,
                self.trainer,
                blocks,
                engine=self.engine,
                workers=self.workers,
                advance=advance,
            )

    def _measure(self, mutants: Sequence[Any], group: GroupOutcomes) -> list[Measured]:
        labels, classes = self.subject.labels, self.subject.num_classes
        return [
            Measured(
                mutant,
                each,
                None if each.predictions is None else signals(each.predictions, labels, classes),
            )
            for mutant, each in zip(mutants, group.mutants, strict=False)
        ]

    def _judge(self, found: Sequence[GroupOutcomes], measured: Sequence[Measured]) -> Campaign:
        original = found[0].original
        outcomes = [each.outcomes for each in measured]
        judgement = judge(
            original,
            [each.predictions for each in outcomes],
            self.subject.labels,
            classes=self.subject.num_classes,
            rng=np.random.default_rng([self.seed, 1]),
            reasons=[each.reason for each in outcomes],
            probe_shifts=[each.probe_shift for each in outcomes],
            rule=self.scoring,
        )
        return Campaign(
            original=original,
            labels=self.subject.labels,
            paths=self.subject.dataset.paths,
            measured=measured,
            layers=[name for name, _ in self.subject.model.module.named_modules()],
            judgement=judgement,
            thresholds=self.scoring.thresholds,
            suites=self._suites(judgement),
        )

    def _warning(self, result: Campaign) -> tuple[str, ...]:
        """What makes a reader doubt the original before its mutants."""
        accuracy = float(result.original.right(result.labels).mean())
        if accuracy > 1.5 / self.subject.num_classes:
            return ()
        return (
            f"the original is right in only {100 * accuracy:.1f} % of the test cases, near chance: check "
            "model.preprocess and model.class_names before anything else",
        )

    def _suites(self, judgement: Judgement) -> Any:
        return (
            score_suites(judgement, self.suites, np.random.default_rng([self.seed, 2]))
            if self.suites
            else None
        )

    def _settings(self, plan: planning.Plan, job: Job) -> Settings:
        thresholds = dict(zip(SIGNALS, astuple(self.scoring.thresholds), strict=True))
        repetitions = max((mutant.repetitions for mutant in plan.mutants), default=1)
        rule = self.scoring
        return Settings(
            self.seed,
            self.engine,
            rule.q,
            rule.delta,
            rule.p0,
            repetitions,
            thresholds,
            config_digest=job.digest,
        )

    def _write(self, job: Job, report: Report, result: Campaign) -> list[Path]:
        """Report, charts and tables; returns their paths."""
        found = report.result
        drawn: dict[str, Spec | Sequence[Spec] | None] = {
            "score_by_operator": charts.score_bars(report),
            "heat_map": charts.heat_maps(report),
            "effect_over_rate": charts.curves(found.mutants, 2 * charts.MOST_CURVES),
        }
        keys = [mutant.key for mutant in found.mutants]
        kills = result.judgement.kill_matrix.unpack()
        return [
            report.write(job.output / "report.json"),
            render.write_page(page(report, self._thumbnails(report)), report, job.output / "report.html"),
            *(png.write_png(spec, job.output / f"{name}.png") for name, spec in drawn.items() if spec),
            sinks.write_kill_matrix(keys, kills, job.output / "kill_matrix.parquet"),
            sinks.write_csv(mutant_rows(found), job.output / "mutants.csv"),
            sinks.write_predictions(self._predicted(result), job.output / "predictions.csv"),
        ]

    def _thumbnails(self, report: Report) -> dict[int, str]:
        """Small images of the test cases that kill most, as data URIs."""
        found = {}
        for each in report.result.kill_matrix.top_cases:
            image = self.subject.dataset.load(each.case)
            image.thumbnail((96, 96))
            found[each.case] = render.image_uri(image)
        return found

    def _predicted(self, result: Campaign) -> Iterator[tuple[int, str, str, str, float]]:
        """What the original says of each test case."""
        names, seen = self.subject.classes, result.original
        top1, sure = seen.top1[0].tolist(), seen.confidence[0].tolist()
        for case, (path, label) in enumerate(zip(result.paths, result.labels.tolist(), strict=True)):
            yield case, path, names[label], names[top1[case]], sure[case]


def _child(each: Measured) -> Child:
    """A mutant's run; p-values and verdicts come when all mutants are in."""
    mutant, own = each.mutant, each.signals
    metrics = {}
    if own is not None:
        metrics = {"accuracy": own.accuracy, "ece": own.ece, "autopsy_score": own.autopsy_score}
    params = {"operator": mutant.operator.name, "target": mutant.target, "seed": mutant.seed}
    params |= {"repetitions": mutant.repetitions, **mutant.params}
    return Child(mutant.key, params, metrics, {"operator": mutant.operator.name, "layer": mutant.target})


def _record(run: Run, report: Report, written: Sequence[Path]) -> None:
    """Everything the report says that MLflow can show: in the parent, in its children, as files."""
    result = report.result
    run.log_measures(each for each in result.measures() if not each.key.startswith(("recall/", "precision/")))
    run.log_series(over_rate(result.mutants))
    for name in ("effect", "p_adjusted", "kills"):
        values = [(step, getattr(mutant, name)) for step, mutant in enumerate(result.mutants)]
        run.log_series({f"mutant/{name}": values})
    changes = {}
    for mutant in result.mutants:
        metrics = {
            name: getattr(mutant, name) for name in ("effect", "cohens_h", "p_value", "p_adjusted", "kills")
        }
        if mutant.signals is not None:
            metrics |= {name: signal.value for name, signal in vars(mutant.signals).items()}
        if mutant.difficulty is not None:
            metrics["difficulty"] = mutant.difficulty.score
        tags = {"verdict": mutant.verdict, "verdict_thresholds": mutant.verdict_thresholds}
        changes[mutant.key] = (metrics, tags | ({"reason": mutant.reason} if mutant.reason else {}))
    run.update_children(changes)
    shown = ("key", "operator", "target", "verdict", "effect", "p_adjusted", "kills")
    run.table({name: [getattr(mutant, name) for mutant in result.mutants] for name in shown}, "mutants.json")
    for path in written:
        run.artifact(path)
