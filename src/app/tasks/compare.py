"""Comparison: did it get better from one run to another, beyond what chance explains?"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from app.comparison import Cases, Comparison, Limits, Side, cases, compare_all
from app.comparison.body import UNSOUND, at, block, count, texts
from app.comparison.cases import COLUMNS
from app.comparison.measures import PARTS
from app.errors import NotPassed, UserError
from app.job import Job
from app.limits import Amount, NotNegative, Report, Resamples
from app.reporting import figures as canvases
from app.reporting import html, lineage, schema
from app.reporting.compare import figures, page, tables, words
from app.reporting.compare.report import CompareReport, Settings, Source, compare_report
from app.runs import Run
from app.tables import known, read_table
from app.tasks import runs
from app.tasks.chosen import Chosen, choose_two
from app.tracking import Store

PREDICTIONS = "predictions.csv"


class Compare:
    """Compares two runs or reports of one task, and reports what got better, what worse, and what is chance.

    Args:
        before: the first one: a run's id or the beginning of one, `latest`, `previous`, a model's name, or a
            report.json; None for `previous`, the run before `after` of the same task and subject.
        after: what is compared with it, in any of these forms; None for `latest`.
        store: the history.
        fail_on: `regressed` makes a regression end with exit code 1; `unknown` also what cannot be compared.
        seed: of the bootstrap, 0 or more.
        smallest_score: points of the autopsy score from which on a difference matters.
        smallest_share: the same of shares.
        resamples: bootstrap samples.

    Raises:
        UserError: an option is out of range.
    """

    def __init__(
        self,
        before: Report | None = None,
        after: Report | None = None,
        *,
        store: Store,
        fail_on: Literal["regressed", "unknown"] | None = None,
        seed: NotNegative = 0,
        smallest_score: Amount = 1.0,
        smallest_share: Amount = 0.01,
        resamples: Resamples = 400,
    ) -> None:
        for name, value in (("smallest_score", smallest_score), ("smallest_share", smallest_share)):
            if not value >= 0:
                raise UserError(f"task.{name} must be 0 or more, not {value}")
        if resamples < 100:
            raise UserError(f"task.resamples must be 100 or more, not {resamples}")
        self.before, self.after = before or "previous", after or "latest"
        self.store, self.fail_on = store, fail_on
        self.limits = Limits(smallest_score, smallest_share, resamples, seed)

    def run(self, job: Job) -> None:
        """Find both reports, compare them, report; raise NotPassed if the verdict is one to fail on."""
        started = datetime.now().astimezone()
        before, after = choose_two(self.store, self.before, self.after)
        found = compared(before, after, self.limits)
        subject = _subject(after)
        with runs.opened(self.store, "compare", job, subject=subject) as run:
            report = compare_report(
                found,
                words.decided_by(found.decision, found.deltas),
                run=runs.run_block(run, self.store, job, started),
                subject=subject,
                settings=self._settings(job),
                before=source(before),
                after=source(after),
            )
            _write(job.output, report)
            _record(run, report, job.output)
        runs.tell(job, run, words.closing_lines(report, str(job.output / "report.html"), run.url))
        self._gate(found, report)

    def _settings(self, job: Job) -> Settings:
        return Settings(
            before=self.before,
            after=self.after,
            fail_on=self.fail_on,
            smallest_score=self.limits.score,
            smallest_share=self.limits.share,
            resamples=self.limits.resamples,
            seed=self.limits.seed,
            config_digest=job.digest,
        )

    def _gate(self, found: Comparison, report: CompareReport) -> None:
        failing = {None: set[str](), "regressed": {"regressed"}, "unknown": {"regressed", "unknown"}}
        if found.verdict in failing[self.fail_on]:
            raise NotPassed(words.gate(report))


def compared(before: Chosen, after: Chosen, limits: Limits) -> Comparison:
    """The comparison of two reports.

    Raises:
        UserError: they cannot be compared, or what one of them holds makes no sense.
    """
    sides = side(before), side(after)
    try:
        return compare_all(*sides, limits)
    except UNSOUND as error:
        for role, chosen, each in zip(("before", "after"), (before, after), sides, strict=True):
            _check(role, chosen, each, limits)
        raise UserError(
            f"{before.report} and {after.report} are no sound reports to compare: {_line(error)}"
        ) from error


def _check(role: str, chosen: Chosen, each: Side, limits: Limits) -> None:
    """Raises UserError if a report cannot even be compared with itself."""
    try:
        compare_all(each, each, limits)
    except UNSOUND as error:
        raise UserError(f"{role}: {chosen.report} is no sound report: {_line(error)}") from error


def _line(error: Exception) -> str:
    return f"{type(error).__name__}, {str(error).partition(chr(10))[0]}"


def side(chosen: Chosen) -> Side:
    """A report with what was predicted of each test case, and the parts of a checkup with theirs."""
    parts = {name: part for name in PARTS if (part := chosen.part(name)) is not None}
    return Side(chosen.body, _cases(chosen), {name: side(part) for name, part in parts.items()})


def _cases(chosen: Chosen) -> Cases | None:
    path = chosen.artifact(PREDICTIONS) if chosen.task in {"autopsy", "mutate"} else None
    if path is None:
        return None
    try:
        table = read_table(path, known(COLUMNS))
    except UserError:
        return None
    return cases({name: column.words() for name, column in table.columns.items() if name in COLUMNS})


def source(chosen: Chosen) -> Source:
    """What a report says about one of the two."""
    return Source(
        source=chosen.source,
        report=str(chosen.report),
        run_id=chosen.run_id,
        task=chosen.task,
        subject=chosen.subject,
        n=count(at(chosen.body, "subject", "n")),
        started=str(at(chosen.body, "run", "started") or ""),
        model_digest=str(at(chosen.body, "subject", "model_digest") or ""),
        data_digest=str(at(chosen.body, "subject", "data_digest") or ""),
    )


def _subject(chosen: Chosen) -> lineage.Subject:
    """The subject of the second run, without its notes, which are not about the comparison."""
    known = block(chosen.body, "subject")
    return lineage.Subject(
        name=chosen.subject,
        model=str(known.get("model") or ""),
        dataset=str(known.get("dataset") or ""),
        model_digest=str(known.get("model_digest") or ""),
        data_digest=str(known.get("data_digest") or ""),
        n=count(known.get("n")) or 0,
        classes=texts(known.get("classes")),
    )


def _write(output: Path, report: CompareReport) -> None:
    schema.write_json(report, output / "report.json")
    html.write_page(page.compare_page(report), output / "report.html")
    tables.write_deltas(report, output / "deltas.csv")
    figure = figures.differences(report)
    if figure is not None:
        canvases.save_png(figure, output / "differences.png")


def _record(run: Run, report: CompareReport, output: Path) -> None:
    """Everything the report says that MLflow can show: verdict, differences as metrics and as a table, files."""
    run.log_metrics(tables.metrics(report))
    run.set_tags(
        {
            "verdict": report.verdict,
            "within_noise": report.within_noise,
            "before": report.before.run_id or report.before.report,
            "after": report.after.run_id or report.after.report,
            "decided_by": report.decided_by,
        }
    )
    run.table(tables.delta_columns(report), "deltas.json")
    for path in sorted(output.iterdir()):
        if path.suffix in {".json", ".html", ".png", ".csv"}:
            run.artifact(path)
