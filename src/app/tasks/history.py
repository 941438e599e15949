"""History: since when is it better or worse? Every run of a task about a subject, over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from app.errors import UserError
from app.job import Job
from app.limits import Folder, Moment
from app.reporting import html, schema
from app.reporting.figures import save_png
from app.reporting.history import assembly, figures, page, tables, words
from app.reporting.history.report import HistoryReport, Settings
from app.runs import Run
from app.tasks import runs
from app.tasks.past_runs import Wanted, from_folder, from_store
from app.tracking import Store


class History:
    """Reads the runs of one task about one subject from the store or from a folder, and reports them over time.

    Args:
        store: the history.
        of: the task; None for that of the newest finished run.
        subject: what the runs are about; None for that of the newest run of the task.
        folder: where to look for reports in place of the store.
        experiment: the experiment in the store; None for the store's own.
        since: only runs from this day or time on.
        until: only runs up to this day or time.
        tags: only runs with these tags in the store, by name; None for one of any value. A mapping in it has the rest
            of names with dots.

    Raises:
        UserError: an option cannot be read or does not fit.
    """

    def __init__(
        self,
        store: Store,
        *,
        of: str | None = None,
        subject: str | None = None,
        folder: Folder | None = None,
        experiment: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        tags: Mapping[str, Any] | None = None,
    ) -> None:
        if folder is not None and (tags or experiment is not None):
            key = "tags" if tags else "experiment"
            raise UserError(f"task.{key} is of the store's runs: leave it out beside task.folder")
        self.store, self.folder = store, None if folder is None else Path(folder)
        self.wanted = Wanted(of, subject, experiment, since, until, tuple(_flat(tags or {})))

    def run(self, job: Job) -> None:
        """Gather the runs, put their numbers in the order of time, report."""
        started = datetime.now().astimezone()
        wanted = self.wanted
        past = from_folder(self.folder, wanted) if self.folder else from_store(self.store, wanted)
        found = past.gathered.found
        newest = max(found, key=lambda each: each.time)
        subject = assembly.subject_of(newest, [*past.gathered.notes, *assembly.notes(found)])
        with runs.opened(self.store, "history", job, subject=subject) as run:
            report = assembly.history_report(
                found,
                past.gathered.excluded,
                runs.run_block(run, self.store, job, started),
                subject,
                Settings(
                    task=past.task,
                    subject=past.subject,
                    chosen=past.said,
                    folder=None if self.folder is None else str(self.folder),
                    experiment=None if self.folder else wanted.experiment or self.store.experiment,
                    since=wanted.since,
                    until=wanted.until,
                    tags=wanted.tags,
                    config_digest=job.digest,
                ),
            )
            _write(job, report)
            _record(run, report, job)
        runs.tell(job, run, words.closing_lines(report, str(job.output / "report.html"), run.url))


def _flat(tags: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Each tag as `name=value`, or its name alone."""
    for name, value in tags.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            yield f"{prefix}{name}" + ("" if value is None else f"={shown}")


def _write(job: Job, report: HistoryReport) -> None:
    schema.write_json(report, job.output / "report.json")
    html.write_page(page.history_page(report), job.output / "report.html")
    tables.write_history(report, job.output / "history.csv")
    pictured = page.pictured(report)
    names = figures.names(pictured)
    for each in pictured:
        save_png(figures.over_time(each, report), job.output / names[each.key])


def _record(run: Run, report: HistoryReport, job: Job) -> None:
    """Everything the report says that MLflow can show: headline series by run, a line a series, files."""
    run.log_metrics(tables.metrics(report))
    run.log_series(
        {
            each.key: [(i, point.value) for i, point in enumerate(each.points) if point.value is not None]
            for each in page.pictured(report)
        }
    )
    run.set_tags({"verdict": report.verdict, "of": report.settings.task})
    run.table(tables.series_columns(report), "series.json")
    for path in sorted(job.output.iterdir()):
        if path.suffix in {".json", ".html", ".png", ".csv"}:
            run.artifact(path)
