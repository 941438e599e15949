"""Evaluation of a detector from its detections: how good it is, what it gets wrong, and what to do about it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from PIL import Image

from app.annotations.content import listed
from app.annotations.forms import ENDINGS
from app.diagnosis.detection import DetectionEvaluation, EvaluationSet, evaluate, files
from app.errors import UserError
from app.job import Job
from app.limits import FileOrFolder, Folder, NotNegative, Overlap, Positive
from app.report import schema
from app.report.lineage import Subject
from app.reporting import html
from app.reporting.detection_eval import crops, figures, page, tables, words
from app.reporting.detection_eval.assembly import detection_report
from app.reporting.detection_eval.report import DetectionReport, FalseNegative, Settings, Suspect
from app.reporting.figures import save_png
from app.runs import Run
from app.tables import read_class_names
from app.tasks import runs
from app.tasks.pictures import PictureFolder
from app.tracking import Store


class DetectEval:
    """Matches detections with true boxes, measures, sorts the mistakes, and reports.

    Args:
        detections: a JSON file (flat or COCO), or a folder of YOLO text, VOC XML or VOC results.
        ground_truth: the same, without scores.
        store: the history.
        seed: of the bootstrap, 0 or more.
        iou: smallest IoU of a match.
        images: folder of the pictures, to show the mistakes and to have YOLO's boxes in pixels; None for neither.
        box_format: of flat JSON: two corners, or a corner and the sides.
        class_names: of YOLO's class numbers, a list or a file; None for those of ``classes.txt`` or ``data.yaml``, or
            the numbers.
        first_pixel: of VOC's boxes: what the first pixel is called.
        coco: whether COCO's scores are measured, too.
        max_detections: the surest detections of an image and class that count there.
        resamples: bootstrap samples of the images.
        shown: mistakes of a kind that are listed.

    Raises:
        UserError: what is missing, cannot be read or does not fit together.
    """

    def __init__(
        self,
        detections: FileOrFolder,
        ground_truth: FileOrFolder,
        *,
        store: Store,
        seed: NotNegative = 0,
        iou: Overlap = 0.5,
        images: Folder | None = None,
        box_format: Literal["xyxy", "xywh"] = "xyxy",
        class_names: str | Sequence[str | int] | None = None,
        first_pixel: Literal[0, 1] = 1,
        coco: bool = True,
        max_detections: Positive = 100,
        resamples: Positive = 200,
        shown: NotNegative = 100,
    ) -> None:
        self.detections = _given("detections", detections)
        self.ground_truth = _given("ground_truth", ground_truth)
        self.pictures = None if images is None else PictureFolder(images)
        self.store, self.seed, self.iou, self.images = store, seed, iou, images
        self.first_pixel = first_pixel
        self.coco, self.max_detections, self.resamples, self.shown = coco, max_detections, resamples, shown
        self.data = files.read(
            self.ground_truth,
            self.detections,
            box_format=box_format,
            class_names=None
            if class_names is None
            else read_class_names(class_names, "task.class_names", unique=False),
            first_pixel=first_pixel,
            image_sizes=self.pictures,
        )

    def run(self, job: Job) -> None:
        """Match and measure, then write report, pictures and tables, and file them."""
        started = datetime.now().astimezone()
        known = self._known()
        with runs.opened(self.store, "detect_eval", job, subject=known) as run:
            found = self._evaluate()
            report = detection_report(
                self.data, found, runs.run_block(run, self.store, job, started), known, self._settings(job)
            )
            self._write(job, report)
            _record(run, report, job)
        runs.tell(job, run, words.closing_lines(report, str(job.output / "report.html"), run.url))

    def _known(self) -> Subject:
        """The detector is known by what it found, the data by what is there."""
        model, dataset = _name(self.detections), _name(self.ground_truth)
        return Subject(
            name=f"{model}@{dataset}",
            model=model,
            dataset=dataset,
            model_digest=_digest(self.detections),
            data_digest=_digest(self.ground_truth),
            n=len(self.data.images),
            classes=self.data.class_names,
            notes=self.data.notes + self._without_picture(self.data),
        )

    def _without_picture(self, data: EvaluationSet) -> tuple[str, ...]:
        if self.pictures is None:
            return ()
        lost = [name for name in data.images if name not in self.pictures]
        if len(lost) == len(data.images) and lost:
            raise UserError(f"task.images: {self.images} has no picture of any image, such as {lost[0]}")
        return (f"{len(lost)} images have no picture in {self.images}, such as {lost[0]}",) if lost else ()

    def _evaluate(self) -> DetectionEvaluation:
        return evaluate(
            self.data,
            iou=self.iou,
            coco=self.coco,
            max_detections=self.max_detections,
            resamples=self.resamples,
            shown=self.shown,
            seed=self.seed,
        )

    def _settings(self, job: Job) -> Settings:
        truth_form, found_form = self.data.forms
        return Settings(
            seed=self.seed,
            iou=self.iou,
            max_detections=self.max_detections,
            resamples=self.resamples,
            ground_truth=str(self.ground_truth),
            ground_truth_form=truth_form,
            detections=str(self.detections),
            detections_form=found_form,
            images=self.images or "",
            pixels=self.data.pixels,
            config_digest=job.digest,
            first_pixel=self.first_pixel,
        )

    def _write(self, job: Job, report: DetectionReport) -> None:
        schema.write_json(report, job.output / "report.json")
        html.write_page(page.detection_page(report, self._crops(report)), job.output / "report.html")
        tables.write_classes(report, job.output / "classes.csv")
        tables.write_mistakes(report, job.output / "mistakes.csv")
        drawn = {
            "precision_recall": figures.precision_recall(report),
            "reliability": figures.reliability(report),
        }
        for name, figure in drawn.items():
            if figure is not None:
                save_png(figure, job.output / f"{name}.png")

    def _crops(self, report: DetectionReport) -> dict[page.Key, bytes]:
        """Pictures of the mistakes that the page shows; each image is decoded once."""
        if self.pictures is None or not self.data.pixels:
            return {}
        by_image: dict[str, list[tuple[page.Key, page.Mistake]]] = {}
        for key, mistake in page.pictured(report):
            by_image.setdefault(mistake.image, []).append((key, mistake))
        drawn = {}
        for name, mistakes in by_image.items():
            image: Image.Image | None = self.pictures.load(name)
            if image is not None:
                for key, each in mistakes:
                    drawn[key] = crops.crop(image, each.box, "truth" if _is_truth(each) else "detection")
        return drawn


def _is_truth(mistake: page.Mistake) -> bool:
    spurious = isinstance(mistake, Suspect) and mistake.reason == "spurious box"
    return spurious or isinstance(mistake, FalseNegative)


def _given(key: str, path: str) -> Path:
    found = Path(path).expanduser()
    if not found.exists():
        raise UserError(f"{key}: {path} does not exist")
    return found


def _name(path: Path) -> str:
    """What a file or folder is called, as the half of a subject's name."""
    resolved = path.resolve()
    return (resolved.name if path.is_dir() else resolved.stem).replace("@", "_") or "root"


def _digest(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files of boxes."""
    hasher = hashlib.sha256()
    for name in listed(path, ENDINGS).files if path.is_dir() else [""]:
        content = (path / name).read_bytes()
        hasher.update(f"{name}\0{len(content)}\0".encode(errors="surrogateescape"))
        hasher.update(content)
    return hasher.hexdigest()


def _record(run: Run, report: DetectionReport, job: Job) -> None:
    """Everything the report says that MLflow can show: metrics, the classes as a table, files."""
    run.log_metrics(tables.metrics(report))
    run.table(tables.class_columns(report), "classes.json")
    for path in sorted(job.output.iterdir()):
        if path.suffix in {".json", ".html", ".png", ".csv"}:
            run.artifact(path)
