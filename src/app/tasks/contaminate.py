"""Contamination: do the splits of a data set share pictures, and are the pictures themselves sound?"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from PIL import Image

from app import machine, progress
from app.errors import UserError
from app.images import USUAL, Decoding
from app.integrity import QualityLimits, Scan, contaminate, quality
from app.integrity.likeness import SAME, likenesses
from app.integrity.suggestions import suggestions
from app.job import Job
from app.limits import Bits, ImageFolder, Made, NotNegative, Positive
from app.reporting import html, schema
from app.reporting.contamination import figures, page, tables, words
from app.reporting.contamination.assembly import SHOWN, Found, contamination_report
from app.reporting.contamination.report import ContaminationReport, Planted
from app.reporting.figures import save_png
from app.reporting.lineage import Excluded, Subject
from app.runs import Run
from app.tasks import runs
from app.tasks.splits import Name, Split, read_splits
from app.tracking import Store


class Contaminate:
    """Compares splits picture by picture, looks at the quality of each, and reports.

    Args:
        splits: by name, the training split first: folders of pictures, or data sets; one alone is compared with itself.
        store: the history.
        quality: from where on a picture is faulty.
        seed: of what is planted, 0 or more.
        near_distance: bits in which the hashes of near duplicates differ at most.
        weak_distance: the same for loose look-alikes.
        compared: pairs that are compared tone by tone, the riskiest first.
        classes: whether the subfolders of folders are classes.
        plant: copies to plant as a check of the check; None for none.
        workers: threads; None for one a core, at most 8.
        decoding: what the formats of files in folders leave open.

    Raises:
        UserError: what is missing or does not fit together.
    """

    def __init__(
        self,
        splits: Mapping[str, ImageFolder | Made] | None,
        *,
        store: Store,
        quality: QualityLimits,
        seed: NotNegative = 0,
        near_distance: Bits = 5,
        weak_distance: Bits = 14,
        compared: NotNegative = 5000,
        classes: bool = True,
        plant: Any = None,
        workers: Positive | None = None,
        decoding: Decoding = USUAL,
    ) -> None:
        if not 0 <= near_distance <= weak_distance <= 64:
            raise UserError(
                "distances must be 0 <= task.near_distance <= task.weak_distance <= 64, not "
                f"{near_distance} and {weak_distance}"
            )
        if compared < 0:
            raise UserError(f"task.compared must be 0 or more, not {compared}")
        if workers is not None and workers < 1:
            raise UserError(f"task.workers must be 1 or more, or null, not {workers}")
        self.splits, self.planted = read_splits(
            splits or {}, classes=classes, plant=plant, seed=seed, decoding=decoding
        )
        self.store, self.limits, self.seed = store, quality, seed
        self.near_distance, self.weak_distance, self.compared = near_distance, weak_distance, compared
        self.workers = workers

    def run(self, job: Job) -> None:
        """Scan the splits, compare all pictures, look at the closest pairs again, report."""
        started = datetime.now().astimezone()
        scans = [self._scan(split) for split in self.splits]
        known = self._known(scans)
        with runs.opened(self.store, "contaminate", job, subject=known) as run:
            found = self._compare(scans)
            report = contamination_report(
                found,
                runs.run_block(run, self.store, job, started),
                known,
                seed=self.seed,
                splits={split.name: split.where for split in self.splits},
                compared=self.compared,
                planted=self._looked_for(found),
                config_digest=job.digest,
            )
            self._write(job, report, scans, found)
            _record(run, report, found, job)
        lines = words.closing_lines(report, str(job.output / "report.html"), run.url)
        told = [*runs.notes(self._fewer_workers(scans)), *runs.left_out(report.subject)]
        report_at = next(place for place, line in enumerate(lines) if line.startswith("Report: "))
        runs.tell(job, run, [*lines[:report_at], *told, *lines[report_at:]])

    def _scan(self, split: Split) -> Scan:
        with progress.bar(f"pictures of {split.name}", len(split)) as advance:
            return split.scan(self.workers, _steps(advance))

    def _known(self, scans: Sequence[Scan]) -> Subject:
        """The data, as a subject without a model; its digest is of every picture's content and class."""
        hasher = hashlib.sha256()
        for scan in scans:
            hasher.update(f"{scan.name}\0{scan.class_names}\0".encode())
            hasher.update(scan.digests.tobytes() + scan.labels.tobytes())
        name = "+".join(split.name for split in self.splits)
        return Subject(
            name=name,
            model="",
            dataset=name,
            model_digest="",
            data_digest=hasher.hexdigest(),
            n=sum(map(len, scans)),
            classes=tuple(dict.fromkeys(each for scan in scans for each in scan.class_names)),
            excluded=tuple(
                Excluded(f"{scan.name}: {path}", reason)
                for scan in scans
                for path, reason in zip(scan.paths, scan.reasons, strict=True)
                if reason
            ),
            notes=_notes(scans),
        )

    def _fewer_workers(self, scans: Sequence[Scan]) -> tuple[str, ...]:
        most = max(map(len, scans))
        return () if self.workers is None else machine.fewer("task.workers", self.workers, most)

    def _compare(self, scans: Sequence[Scan]) -> Found:
        with progress.bar("pairs of pictures", sum(map(len, scans)) ** 2 // 2) as advance:
            found = contaminate(
                scans,
                near_distance=self.near_distance,
                weak_distance=self.weak_distance,
                shown=max(self.compared, SHOWN),
                workers=machine.helpers(self.workers or 1, machine.cores()),
                progress=_steps(advance),
            )
        splits = {split.name: split for split in self.splits}
        names = [
            ((pair.first.split, pair.first.path), (pair.second.split, pair.second.path))
            for pair in found.pairs[: self.compared]
        ]
        alike = np.full(len(found.pairs), np.nan)
        alike[: len(names)] = likenesses(names, lambda name: splits[name[0]].grey(name[1]))
        return Found(
            contamination=found,
            likeness=alike,
            suggestions=suggestions(scans, found, alike),
            quality=tuple(quality(scan, self.limits) for scan in scans),
        )

    def _looked_for(self, found: Found) -> tuple[Planted, ...]:
        """What was planted, and whether it was found beside its original."""
        copies = {
            (each.split, each.path): (each.of_split, each.of_path)
            for each in found.suggestions
            if each.reason != "look-alike"
        }
        beside = {
            frozenset([(pair.first.split, pair.first.path), (pair.second.split, pair.second.path)])
            for pair, value in zip(found.contamination.pairs, found.likeness.tolist(), strict=True)
            if value >= SAME
        }
        told = []
        for planting, plant in self.planted:
            copy, original = (planting.into, plant.path), (planting.source, plant.copy_of)
            seen = copies.get(copy) == original or (copy in copies and frozenset([copy, original]) in beside)
            told.append(
                Planted(
                    kind=plant.kind,
                    split=planting.into,
                    path=plant.path,
                    source_split=planting.source,
                    source_path=plant.copy_of,
                    change=plant.change,
                    class_name=plant.class_name,
                    true_class=plant.true_class,
                    found=seen,
                )
            )
        return tuple(told)

    def _write(self, job: Job, report: ContaminationReport, scans: Sequence[Scan], found: Found) -> None:
        schema.write_json(report, job.output / "report.json")
        thumbnails = self._thumbnails(page.pictured(report))
        html.write_page(page.contamination_page(report, thumbnails), job.output / "report.html")
        tables.write_suggestions(found.suggestions, job.output / "suggestions.csv")
        tables.write_index(scans, job.output / "index.csv")
        save_png(figures.distances(report), job.output / "distances.png")

    def _thumbnails(self, names: Sequence[Name]) -> dict[Name, bytes]:
        splits, drawn = {split.name: split for split in self.splits}, {}
        for name in names:
            image = splits[name[0]].load(name[1])
            if image is not None:
                drawn[name] = _thumbnail(image)
        return drawn


def _thumbnail(image: Image.Image, side: int = 104) -> bytes:
    """A small picture file; tiny pictures are enlarged with their pixels kept sharp."""
    if max(image.size) < side // 2:
        factor = side // max(image.size)
        image = image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)
    image.thumbnail((2 * side, 2 * side))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _steps(advance: Callable[[int], None]) -> Callable[[int, int], None]:
    """What moves a bar on, from what is told how much is done."""
    before = 0

    def told(done: int, _: int) -> None:
        nonlocal before
        advance(done - before)
        before = done

    return told


def _notes(scans: Sequence[Scan]) -> tuple[str, ...]:
    notes = []
    for scan in scans:
        notes += [f"{scan.name}: {each}" for each in scan.notes]
        if scan.skipped:
            first = scan.skipped[0]
            notes.append(
                f"{scan.name}: {len(scan.skipped)} files were not looked at, such as {first.path}, which "
                f"{first.reason}"
            )
    classes = [set(scan.class_names) for scan in scans]
    if any(classes) and any(each != classes[0] for each in classes[1:]):
        different = ", ".join(f"{scan.name} has {len(scan.class_names)}" for scan in scans)
        notes.append(f"the splits do not have the same classes: {different}")
    return tuple(notes)


def _record(run: Run, report: ContaminationReport, found: Found, job: Job) -> None:
    """Everything the report says that MLflow can show: metrics, what to leave out as a table, files."""
    run.log_metrics(tables.metrics(report))
    run.set_tags({"risk": report.summary.overall_risk})
    run.table(tables.suggestion_columns(found.suggestions[:SHOWN]), "suggestions.json")
    for path in sorted(job.output.iterdir()):
        if path.suffix in {".json", ".html", ".png", ".csv"}:
            run.artifact(path)
