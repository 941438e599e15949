"""`task=history` end to end: the runs of a store and of a folder, what is left out, and mistakes in one line."""

from __future__ import annotations

import csv
import re
from datetime import UTC, datetime, timedelta

import pytest

from app.errors import UserError
from app.reporting.history import report as reports
from app.reporting.history.gathering import scan
from app.tasks.past_runs import Wanted, from_folder, from_store
from app.tracking import Store
from tests.reporting.history.bodies import autopsy, write

SUBJECT = "history_net@history_photos"


class Past:
    """Runs as other tasks leave them in the store, each a minute after the one before."""

    def __init__(self, folder):
        self.store = Store(folder=folder / "mlruns")
        self.store.client  # noqa: B018 - made if it is not there
        self.next = datetime.now(UTC).replace(microsecond=0)

    def add(self, body, task="autopsy", status="FINISHED", subject=SUBJECT, store=None, **tags):
        """A run, with its report unless the body is None."""
        self.next += timedelta(minutes=1)
        own = {"task": task, "kind": "parent", "subject": subject, **tags}
        info = (store or self.store).create(f"{task} {subject}", own, start=self.next)
        if body is not None:
            body["run"] = {"id": info.id, "started": self.next.isoformat()}
            write(info.folder / "report.json", body)
        (store or self.store).end(info.id, status, self.next + timedelta(seconds=30))
        return info


@pytest.fixture(scope="module")
def past(assay):
    """Four runs of an autopsy, the last on other data, with failures and other tasks between them."""
    runs = Past(assay.folder)
    ids = {}
    ids["first"] = runs.add(autopsy(1, 0.90, subject=SUBJECT)).id
    ids["failed"] = runs.add(None, status="FAILED").id
    ids["tagged"] = runs.add(autopsy(1, 0.91, subject=SUBJECT), release="1.4").id
    ids["newer"] = runs.add(autopsy(1, 0.99, subject=SUBJECT, version=7)).id
    ids["empty"] = runs.add(None).id
    ids["running"] = runs.add(None, status="KILLED").id
    runs.add(autopsy(1, 0.5, subject="other@photos"), subject="other@photos")
    ids["gap"] = runs.add(autopsy(1, None, subject=SUBJECT, model="m2"), release="1.4").id
    ids["last"] = runs.add(autopsy(1, 0.80, subject=SUBJECT, model="m2", data="d2")).id
    runs.ids = ids
    return runs


@pytest.fixture(scope="module")
def plain(assay, past):
    """The history that no option asks for."""
    ended = assay("task=history")
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_no_option_takes_the_newest_runs_task_and_subject(plain, past):
    assert plain.out.startswith(f"By the newest finished run: autopsy about {SUBJECT}.\n")
    body = plain.report()
    assert body["settings"]["task"] == "autopsy"
    assert body["subject"]["name"] == SUBJECT
    assert [each["run_id"] for each in body["runs"]] == [
        past.ids[k] for k in ("first", "tagged", "gap", "last")
    ]
    assert body["verdict"] == "regressed"
    assert "Accuracy is worse (90.0 to 80.0 %)" in plain.out
    assert "Report: " in plain.out
    assert "MLflow: http" in plain.out
    assert reports.load(plain.folder / "report.json").headlines[0].key == "accuracy"


def test_runs_on_other_models_and_data_are_marked_and_gaps_stay(plain):
    body = plain.report()
    assert [each["changed"] for each in body["runs"]] == [[], [], ["model"], ["data"]]
    series = {each["key"]: each for each in body["series"]}
    points = series["accuracy"]["points"]
    assert [each["value"] for each in points] == [0.90, 0.91, None, 0.80]
    assert points[2]["reason"]
    assert [each["data_digest"] for each in body["runs"]] == ["d1", "d1", "d1", "d2"]
    assert series["accuracy"]["best"]["value"] == 0.91
    assert series["accuracy"]["first"]["run_id"] == body["runs"][0]["run_id"]


def test_what_was_left_out_has_its_reason(plain, past):
    reasons = {each["run_id"] or each["where"]: each["reason"] for each in plain.report()["excluded"]}
    assert reasons.pop(past.ids["failed"]) == "it failed"
    assert reasons.pop(past.ids["running"]) == "it was interrupted"
    assert reasons.pop(past.ids["empty"]) == "it has no report.json"
    assert "version 7 of assay.autopsy" in reasons.pop(f"run {past.ids['newer']}")
    assert not reasons
    assert "4 runs or files left out" in plain.out


def test_the_run_has_the_files_and_charts(plain, assay, past):
    names = {path.name for path in plain.folder.iterdir() if path.is_file()}
    assert {"report.json", "report.html", "history.csv", "over_time_accuracy.png"} <= names
    (run,) = assay.runs(f"tags.`assay.task` = 'history' and tags.`assay.subject` = '{SUBJECT}'")[-1:]
    assert run.data.tags["assay.verdict"] == "regressed"
    assert run.data.metrics["history/runs"] == 4
    history = assay.client.get_metric_history(run.info.run_id, "accuracy")
    assert [(each.step, each.value) for each in history] == [(0, 0.90), (1, 0.91), (3, 0.80)]
    artifacts = {each.path for each in assay.client.list_artifacts(run.info.run_id)}
    assert {"report.json", "report.html", "history.csv", "over_time_accuracy.png", "series.json"} <= artifacts
    with (plain.folder / "history.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["key"] == "accuracy"]
    assert [row["value"] for row in rows] == ["0.9", "0.91", "", "0.8"]


def test_a_history_is_no_run_of_a_history(plain, assay, past):
    again = assay("task=history")
    assert again.numbers() == plain.numbers()


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["+task.tags.release=1.4"], ["tagged", "gap"]),
        (["+task.tags.release=null", "+task.tags.assay.release=1.4"], ["tagged", "gap"]),
    ],
)
def test_filters_choose(assay, past, options, kept):
    ended = assay("task=history", "task.of=autopsy", f"task.subject={SUBJECT}", *options)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"As asked for: autopsy about {SUBJECT}.")
    assert [each["run_id"] for each in ended.report()["runs"]] == [past.ids[name] for name in kept]


def test_dates_choose_by_the_reports_own_time(assay, past):
    begin, end = (past.store.info(past.ids[name]).start.isoformat() for name in ("tagged", "gap"))
    dates = [f"task.since='{begin}'", f"task.until='{end}'"]
    ended = assay("task=history", "task.of=autopsy", f"task.subject={SUBJECT}", *dates)
    assert [each["run_id"] for each in ended.report()["runs"]] == [past.ids["tagged"], past.ids["gap"]]


@pytest.mark.parametrize(
    ("since", "until", "kept"),
    [
        ("2026-05-02", None, [2, 3, 4]),
        (None, "2026-05-02", [1, 2]),  # to the end of the day
        (None, "2026-05-02T07:59:59+00:00", [1]),
        ("2026-05-02T10:00+02:00", "20260503", [2, 3]),
    ],
)
def test_a_day_is_meant_whole(tmp_path, since, until, kept):
    for day in (1, 2, 3, 4):
        write(tmp_path / str(day) / "report.json", autopsy(day))
    found = Wanted(since=since, until=until).in_time(scan(tmp_path).found)
    assert sorted(each.time.day for each in found) == kept


def test_another_experiment_has_its_own_runs(assay, past):
    other = Store(folder=assay.folder / "mlruns", experiment="elsewhere")
    for value in (0.7, 0.6):
        past.add(autopsy(1, value, subject=SUBJECT), store=other)
    ended = assay("task=history", "task.experiment=elsewhere")
    assert (ended.code, ended.err) == (0, "")
    accuracy = ended.report()["series"][0]
    assert [each["value"] for each in accuracy["points"]] == [0.7, 0.6]


@pytest.fixture
def folder(assay, tmp_path):
    write(tmp_path / "a" / "report.json", autopsy(1, 0.9))
    write(tmp_path / "b" / "report.json", autopsy(2, 0.8))
    write(tmp_path / "c" / "report.json", autopsy(3, 0.7, version=9))
    write(tmp_path / "d" / "report.json", autopsy(4, 0.7, day=1, subject="other@photos"))
    write(tmp_path / "e" / "report.json", {"some": "thing"})
    (tmp_path / "broken_report.json").write_text("{")
    outside = tmp_path.parent / f"{tmp_path.name}_outside"
    write(outside / "report.json", autopsy(5, 0.1))
    (tmp_path / "link").symlink_to(outside, target_is_directory=True)
    return tmp_path


def test_a_folder_is_a_history_too(assay, folder):
    ended = assay("task=history", f"task.folder={folder}")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("By the newest report: autopsy about net@photos.")
    body = ended.report()
    assert [each["source"] for each in body["runs"]] == ["a/report.json", "b/report.json"]
    assert {each["where"] for each in body["excluded"]} == {
        *("c/report.json", "e/report.json", "broken_report.json", "link")
    }
    assert any("1 more of other tasks or subjects" in each for each in body["subject"]["notes"])


def test_mistakes_are_one_line(assay, past):
    mistakes = {
        ("task.of=autopsyy",): (
            "task.of=autopsyy is an unknown task: did you mean autopsy? experiment assay in .* has finished runs of "
            "autopsy"
        ).replace("?", "[?]"),
        ("task.of=autopsy", "task.subject=nobody@nothing"): (
            "a history takes 2 finished runs: experiment assay in .* has 0 of autopsy about nobody@nothing; "
            f"allowed: .*task.of=autopsy task.subject={SUBJECT}"
        ),
        (
            "task.folder=.",
            "+task.tags.a=1",
        ): "task.tags is of the store's runs: leave it out beside task.fol",
        ("task.tag=a",): "task.tag is unknown: did you mean tags",
        ("before=abc",): "task=history does not read 'before': leave it out",
    }
    before = assay.statuses()
    for options, said in mistakes.items():
        ended = assay("task=history", *options)
        assert (ended.code, ended.out) == (2, ""), options
        assert ended.err.count("\n") == 1
        assert re.search(said, ended.err), f"{options}: {ended.err}"
    assert assay.statuses() == before


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            {"of": "nope"},
            "task.of=nope is an unknown task; experiment assay in .* has finished runs of autopsy",
        ),
        (
            {"of": "estimate", "experiment": "lonely"},
            "task.of=estimate has no run; experiment lonely in .* has no finished run at all",
        ),
        ({"of": "history"}, "task.of=history is an unknown task"),
        ({"of": "autopsy", "subject": "other@photos"}, "has 1 of autopsy about other@photos; allowed: "),
        (
            {"of": "autopsy", "subject": SUBJECT, "tags": ("release=2",)},
            f"has 0 of autopsy about {SUBJECT} tagged release=2; allowed: ",
        ),
        ({"experiment": "nope"}, "experiment nope is not in .*; allowed: .*assay"),
    ],
)
def test_too_little_in_a_store_says_what_there_is(past, wanted, said):
    Store(past.store.uri, experiment="lonely").client  # noqa: B018 - made if it is not there
    with pytest.raises(UserError, match=said):
        from_store(past.store, Wanted(**wanted))


def test_too_little_in_a_folder_says_what_there_is(folder, tmp_path):
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UserError, match="nothing has no report; run a task again first"):
        from_folder(tmp_path / "nothing", Wanted())
    said = (
        "has 1 of autopsy about other@photos .4 left out, such as broken_report.json: it is not JSON.*; "
        "allowed: task.of=autopsy task.subject=net@photos"
    )
    with pytest.raises(UserError, match=said):
        from_folder(folder, Wanted(subject="other@photos"))
    with pytest.raises(
        UserError, match=r"task.of=nope is an unknown task; task.folder=.* has reports of autopsy"
    ):
        from_folder(folder, Wanted("nope"))
    with pytest.raises(UserError, match=r"has no report of mutate about x since 2026-05-01 .4 left out"):
        from_folder(folder, Wanted("mutate", "x", since="2026-05-01"))


def test_dates_that_cannot_be_are_mistakes():
    with pytest.raises(UserError, match=r"task.since=yesterday must be a day or time such as 2026-05-03"):
        Wanted(since="yesterday")
    with pytest.raises(UserError, match=r"task.since=2026-05-04 is later than task.until=2026-05-03"):
        Wanted(since="2026-05-04", until="2026-05-03")
