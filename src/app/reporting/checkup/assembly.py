"""The report of a checkup put together from the reports of its parts and from the checkups before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.report.lineage import Run, Subject
from app.reporting.checkup import answers, steps
from app.reporting.checkup.parts import Reports, finished, headline_numbers
from app.reporting.checkup.previous import better, previous
from app.reporting.checkup.report import PARTS, CheckupReport, CheckupRun, Part, PartRun, Settings


def checkup_report(
    reports: Reports,
    others: Mapping[str, Part],
    *,
    run: Run,
    subject: Subject,
    settings: Settings,
    earlier: Iterable[CheckupReport] = (),
) -> CheckupReport:
    """The report.

    Args:
        reports: of the parts that finished.
        others: the parts that failed or were left out, by name.
        run: where it comes from.
        subject: what was looked at.
        settings: what was chosen.
        earlier: checkups of the same subject, the newest first.
    """
    done = finished(reports)
    parts = {name: done.get(name) or others[name] for name in PARTS}
    numbers = headline_numbers(reports, parts)
    before = previous(earlier, subject, settings, numbers)
    questions = answers.answers(reports, parts, numbers)
    return CheckupReport(
        run=CheckupRun(
            **vars(run), parts={name: PartRun(each.id, each.seconds) for name, each in reports.runs.items()}
        ),
        subject=subject,
        settings=settings,
        summary=numbers,
        questions=(*questions, better(before, subject)),
        parts=parts,
        next_steps=steps.next_steps(reports, parts, questions),
        unnoticed=steps.unnoticed(reports.mutate),
        mistakes=steps.mistakes(reports.estimate),
        previous=before,
    )


def metrics(report: CheckupReport) -> dict[str, float | None]:
    """Every headline number with the ends of its interval, by the stable names of metrics."""
    found: dict[str, float | None] = {}
    for key, each in report.summary.items():
        found[key] = each.value
        if each.ci is not None:
            found[f"{key}_low"], found[f"{key}_high"] = each.ci
    return found
