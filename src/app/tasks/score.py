"""Scores of a detector's mutants from saved detections: would the images notice if the detector broke?"""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from app import durable, progress
from app.errors import UserError
from app.job import Job
from app.limits import File, Folder, NotNegative, Positive
from app.report.lineage import Subject
from app.report.pages.uamt import Report
from app.report.pages.uamt.tables import mutant_numbers
from app.report.pages.uamt.words import closing_lines
from app.runs import Child, Run
from app.scoring.detection.assembly import ScoredModel
from app.scoring.detection.image_lists import read_image_list, stem_of
from app.scoring.detection.names import safe_name
from app.scoring.detection.results import ScoreSettings
from app.scoring.detection.sources import ScoredSource, Source, digest, find_sources
from app.tasks import detector_report, runs
from app.tracking import Store


class Score:
    """Scores the saved detections of one or several models' mutants, and reports.

    Args:
        predictions: a DeepLUQ folder tree, or a folder of `.npz` files.
        scoring: thresholds, tests, resamples.
        store: the history.
        seed: of bootstrap and permutation, 0 or more.
        profile: `paper`, the definitions, or `deepluq`, the reference implementation; None for `paper`.
        repetitions: T to score; None for all.
        dataset: folder of the data set in a tree; None for `orig`.
        models: of a tree; empty for all.
        operators: of a tree; empty for all.
        images: the images to score, as a file or a list of names; None for all.
        suites: named parts of the images, each a file or a list of names.
        unchanged: a tree with a second run of the unchanged models.
        case: names a folder of the output; may be empty.
        allow_unsafe_load: whether a list of images may be a pickle.

    Raises:
        UserError: what is missing or does not fit together.
    """

    def __init__(
        self,
        predictions: Folder,
        *,
        scoring: ScoreSettings,
        store: Store,
        seed: NotNegative = 0,
        profile: Literal["paper", "deepluq"] | None = None,
        repetitions: Positive | None = None,
        dataset: str | None = None,
        models: Sequence[str] = (),
        operators: Sequence[str] = (),
        images: File | Sequence[str] | None = None,
        suites: Mapping[str, File | Sequence[str]] | None = None,
        unchanged: Folder | None = None,
        case: str = "",
        allow_unsafe_load: bool = False,
    ) -> None:
        if not isinstance(scoring, ScoreSettings):
            raise UserError("scoring must be one for detectors: scoring=detection")
        if profile == "deepluq" and unchanged is not None:
            raise UserError("task.unchanged is for profile=paper: leave it out")
        try:
            self.settings = replace(scoring, profile=profile or scoring.profile, repetitions=repetitions)
        except ValueError as error:
            raise UserError(str(error)) from error
        self.case = safe_name(case, "case") if case else ""
        self.root, self.store, self.seed = Path(predictions), store, seed
        self._unsafe = allow_unsafe_load
        self.images = None if images is None else self._listed(images, "task.images")
        self.suites = {
            name: self._listed(what, f"task.suites.{name}") for name, what in (suites or {}).items()
        }
        self.sources = find_sources(
            self.root,
            dataset=dataset,
            models=models,
            operators=operators,
            unchanged=None if unchanged is None else Path(unchanged),
        )

    def run(self, job: Job) -> None:
        """Score every source, then write report, tables and figures, all or none, and file them."""
        started = datetime.now().astimezone()
        known, predictions = self._known()
        with runs.opened(self.store, "score", job, subject=known) as run:
            found = self._score()
            scored = [
                ScoredModel(source.model, each.scores, each.repetitions, each.semantics)
                for source, each in zip(self.sources, found, strict=True)
            ]
            images = {image: None for each in scored for image in each.scores.images}
            about = replace(known, n=len(images), notes=_notes(scored))
            report = detector_report.detector_report(
                scored,
                runs.run_block(run, self.store, job, started),
                about,
                seed=self.seed,
                predictions_digest=predictions,
                config_digest=job.digest,
            )
            written = self._write(job.output, report, found)
            _record(run, report, written)
        runs.tell(job, run, closing_lines(report, str(job.output / "report.html"), run.url))

    def _listed(self, what: str | Sequence[str], key: str) -> tuple[str, ...]:
        """The stems that a file or a list names."""
        if isinstance(what, str):
            return read_image_list(Path(what), allow_unsafe_load=self._unsafe)
        stems = tuple(stem_of(safe_name(str(name), "image")) for name in what)
        if not stems:
            raise UserError(f"{key} lists no image: give a file or a list of names")
        twice = next((stem for index, stem in enumerate(stems) if stem in stems[:index]), None)
        if twice is not None:
            raise UserError(f"{key} lists image {twice!r} twice")
        return stems

    def _known(self) -> tuple[Subject, str]:
        """What is known of the subject before scoring, and the digest of all saved detections.

        A model is known by what its original said, data by the names of what it was read from.
        """
        original, rest = (
            [path for source in self.sources for path in source.files()[side]] for side in (0, 1)
        )
        models = "+".join(dict.fromkeys(source.model for source in self.sources))
        dataset = "+".join(dict.fromkeys(source.dataset for source in self.sources))
        names = dict.fromkeys(path.parent.relative_to(self.root).as_posix() for path in original)
        known = Subject(
            name=f"{models}@{dataset}",
            model=models,
            dataset=dataset,
            model_digest=digest(original, self.root),
            data_digest=hashlib.sha256("\n".join(names).encode("utf-8", "surrogateescape")).hexdigest(),
            n=0,
            classes=(),
        )
        return known, digest([*original, *rest], self.root)

    def _score(self) -> list[ScoredSource]:
        found = []
        with progress.bar("models and operators", len(self.sources)) as advance:
            for source in self.sources:
                found.append(
                    source.score(self.settings, images=self.images, suites=self.suites, seed=self.seed)
                )
                advance(1)
        return found

    def _write(self, output: Path, report: Report, found: Sequence[ScoredSource]) -> list[Path]:
        """Everything into a folder of its own first, so that nothing is there half."""
        with tempfile.TemporaryDirectory(dir=output, prefix=".unfinished-") as unfinished:
            place = Path(unfinished)
            for source, each in zip(self.sources, found, strict=True):
                self._write_tables(place, source, each)
            detector_report.write(report, place)
            files = sorted(path.relative_to(place) for path in place.rglob("*") if path.is_file())
            for file in files:
                durable.move(place / file, output / file)
        return [output / part for part in dict.fromkeys(file.parts[0] for file in files)]

    def _write_tables(self, place: Path, source: Source, found: ScoredSource) -> None:
        folder = place / self.case / source.folder
        folder.mkdir(parents=True)
        found.scores.write_columns(folder, found.names)
        found.scores.write_objects(folder / "objects.parquet")


def _notes(scored: Sequence[ScoredModel]) -> tuple[str, ...]:
    """What scoring noted, with model and operator where there are several."""
    notes = []
    for each in scored:
        where = f"{each.model}, {', '.join(each.operators)}: " if len(scored) > 1 else ""
        notes += [f"{where}{note}" for note in each.scores.notes]
    return tuple(dict.fromkeys(notes))


def _record(run: Run, report: Report, written: Sequence[Path]) -> None:
    """Everything the report says that MLflow can show: in the parent, in a child for each mutant, as files."""
    detector_report.record(run, report)
    mutants = report.result.mutants
    several = len({mutant.model for mutant in mutants}) > 1
    run.children(
        Child(
            f"{mutant.model}/{mutant.key}" if several else mutant.key,
            {
                "operator": mutant.operator,
                "model": mutant.model,
                "rate": None if math.isnan(mutant.rate) else mutant.rate,
                "block": mutant.block,
            },
            mutant_numbers(mutant),
            {"operator": mutant.operator, "img_killed": mutant.img_killed["mg"]},
        )
        for mutant in mutants
    )
    for path in written:
        run.artifact(path)
