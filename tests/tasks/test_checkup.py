"""The checkup: four parts below one run, one front page, the previous one beside it, and mistakes that cost little."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from app.inference.blocks import BlockStore
from app.reporting import figures

TINY = [
    "task=checkup",
    "model=fashion_cnn",
    "dataset=fashion",
    "dataset.max_samples=40",
    "operators=[layer_freezing,input_blur]",
    "operators.layer_freezing.count=2",
    "operators.input_blur.count=2",
    "task.autopsy.resamples=20",
    "task.autopsy.overlays=1",
    "task.estimate.budget=20",
    "task.estimate.repetitions=2",
]
TRAIN = ["dataset@task.train=fashion", "task.train.split=train", "task.train.max_samples=40"]
STREAM = ["dataset@task.stream=fashion_shifted", "task.stream.size=60"]
PARTS = ("autopsy", "mutate", "estimate", "contaminate")


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Figures are half of what a tiny run costs, and are tested where they are drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "png", lambda _: b"\x89PNG")
        yield


@pytest.fixture(scope="module")
def first(assay):
    ended = assay(*TINY, *TRAIN, *STREAM, "seed=1")
    assert (ended.code, ended.err) == (0, "")
    return ended


@pytest.fixture(scope="module")
def half(assay, first):
    """Another seed; the estimate fails half-way, mutate is left out."""
    return assay(*TINY, *STREAM, "seed=2", "task.estimate.layer=nowhere", "task.mutate=null")


def test_four_parts_lie_below_one_run(assay, first):
    run = first.report()["run"]
    parent = assay.client.get_run(run["id"])
    parts = {each.data.tags["assay.task"]: each for each in assay.children(run["id"])}
    assert tuple(sorted(parts)) == tuple(sorted(PARTS))
    assert {each.data.tags["assay.kind"] for each in parts.values()} == {"part"}
    assert {each.info.status for each in (parent, *parts.values())} == {"FINISHED"}
    assert parent.data.tags["assay.kind"] == "parent"
    assert {name: each["id"] for name, each in run["parts"].items()} == {
        name: each.info.run_id for name, each in parts.items()
    }
    assert len(assay.children(parts["mutate"].info.run_id)) == 4
    assert all(first.report(name)["run"]["parent"] == run["id"] for name in PARTS)
    params = parts["mutate"].data.params
    assert params["model.name"] == "fashion_cnn"
    assert params["smart"] == "False"


def test_the_numbers_are_those_of_the_parts(assay, first):
    report = first.report()
    autopsy, mutate, estimate, contaminate = (first.report(name) for name in PARTS)
    summary = {name: each["value"] for name, each in report["summary"].items()}
    assert summary["accuracy"] == autopsy["summary"]["accuracy"] == mutate["original"]["accuracy"]
    assert summary["autopsy_score"] == autopsy["summary"]["autopsy_score"]
    assert summary["mutation_score"] == mutate["summary"]["mutation_score"]
    [row] = estimate["estimates"]
    assert (summary["operational_accuracy"], summary["failures"]) == (row["value"], row["failures"])
    assert report["summary"]["operational_accuracy"]["ci"] == row["interval"]
    assert summary["operational_truth"] == estimate["populations"][0]["accuracy"]
    assert report["parts"]["contaminate"]["summary"]["drop"]["value"] == contaminate["summary"]["drop"]
    assert len(report["mistakes"]) == min(12, row["failures"])
    assert {each["key"] for each in report["unnoticed"]} <= {each["key"] for each in mutate["survivors"]}
    metrics = assay.client.get_run(report["run"]["id"]).data.metrics
    for key in ("mutation_score", "accuracy", "autopsy_score", "operational_accuracy"):
        assert metrics[key] == summary[key]
    assert metrics["accuracy_low"] == autopsy["summary"]["accuracy_ci"][0]


def test_the_page_and_the_last_lines_answer_four_questions(assay, first):
    report = first.report()
    assert [each["part"] for each in report["questions"]] == ["mutate", "autopsy", "estimate", ""]
    lines = first.out.splitlines()
    assert [line.partition("?")[0] for line in lines[:4]] == [
        each["question"].rstrip("?") for each in report["questions"]
    ]
    assert lines[4] == f"Report: {first.folder / 'report.html'}"
    assert len(lines) == 6
    page = (first.folder / "report.html").read_text()
    links = set(re.findall(r'href="([^"#]+\.html)', page))
    assert links == {f"{name}/report.html" for name in PARTS}
    assert all((first.folder / each).is_file() for each in links)
    stored = {each.path for each in assay.client.list_artifacts(report["run"]["id"])}
    assert {"report.html", "report.json", "config.yaml", *PARTS} <= stored


def test_the_same_again_is_equal_but_for_its_runs(assay, first):
    again = assay(*TINY, *TRAIN, *STREAM, "seed=1")
    assert again.numbers() == first.numbers()
    assert first.numbers()["previous"] is None
    for name in PARTS:
        assert again.numbers(name) == first.numbers(name)


def test_a_failed_part_does_not_cost_the_others(assay, half):
    message = "task.estimate.layer=nowhere is no module of the model that runs"
    assert half.code == 2
    assert half.err.startswith(f"error: not all of the checkup could be done: estimate: {message}")
    report = half.report()
    assert {name: each["status"] for name, each in report["parts"].items()} == {
        "autopsy": "finished",
        "mutate": "left out",
        "estimate": "failed",
        "contaminate": "finished",
    }
    assert report["parts"]["estimate"]["message"].startswith(message)
    assert (report["next_steps"][0]["part"], report["questions"][2]["label"]) == ("estimate", "failed")
    assert [each["verdict"] for each in report["questions"]][::2] == ["unknown", "unknown"]
    assert assay.client.get_run(report["run"]["id"]).info.status == "FINISHED"
    assert len(assay.children(report["run"]["id"])) == 2
    assert "task.mutate=null" in (half.folder / "report.html").read_text()


def test_what_has_changed_since_the_previous_one_is_shown(first, half):
    previous = half.report()["previous"]
    assert previous["run_id"] != half.report()["run"]["id"]
    assert set(previous["differs"]) == {
        "test data",
        "training data",
        "operational data",
        "operators",
        "rule of the autopsy score",
        "settings",
    }
    then, now = (each.report()["summary"] for each in (first, half))
    changes = {each["key"]: each for each in previous["changes"]}
    assert set(changes) == {"autopsy_score", "accuracy"}  # what the other parts say is not known now
    assert changes["accuracy"]["difference"] == pytest.approx(
        now["accuracy"]["value"] - then["accuracy"]["value"]
    )
    assert {each["verdict"] for each in changes.values()} == {"not comparable"}  # on other test cases
    assert half.report()["questions"][3]["label"] == "not comparable"
    page = (half.folder / "report.html").read_text()
    assert f"before={previous['run_id']} after={half.report()['run']['id']}" in page


def test_a_stream_without_labels_asks_for_them(assay):
    use = ["task.estimate.use=labelling", "task.autopsy=null", "task.mutate=null", "task.contaminate=null"]
    ended = assay(*TINY, *STREAM, "seed=3", *use)
    assert (ended.code, ended.err) == (0, "")
    report = ended.report()
    assert report["questions"][2]["label"] == "needs labels"
    [step] = [each for each in report["next_steps"] if "label" in each["title"]]
    assert "estimate/to_label.csv" in step["text"]
    assert f"with labels={ended.folder / 'estimate' / 'to_label.csv'}\n" in ended.out
    assert (ended.folder / "estimate" / "to_label.csv").is_file()
    assert json.dumps(report["summary"]) == "{}"


def test_an_interrupted_checkup_goes_on_where_it_was(assay, monkeypatch):
    """Finished parts are taken over from the old folder, and the campaign goes on within its part."""
    short = [
        *TINY,
        "task.autopsy.embedded=0",
        "task.autopsy.overlays=0",
        "task.mutate.batch_size=10",
        "seed=4",
    ]
    write, blocks = BlockStore.write, []

    def interrupted(store, block):
        write(store, block)
        blocks.append((block.group, block.batch))
        if len(blocks) == 3:
            raise KeyboardInterrupt

    before = assay.statuses()
    monkeypatch.setattr(BlockStore, "write", interrupted)
    stopped = assay(*short)
    said = rf"interrupted in the part mutate; these parts are done: {stopped.folder / 'autopsy'}; go on with resume="
    match = re.fullmatch(said + "([0-9a-f]{32})\n", stopped.err)
    assert (stopped.code, stopped.out, bool(match)) == (130, "", True), stopped.err
    assert assay.statuses() - before == {"KILLED": 2, "FINISHED": 1}
    assert (stopped.folder / "autopsy" / "report.html").is_file()

    other = assay(*short, f"resume={match[1]}", *TRAIN)
    assert (other.code, other.err.count("\n")) == (2, 1)
    assert f"resume={match[1]} was started with other settings" in other.err

    assay.client.set_tag(match[1], "assay.training_digest", "of then")
    other = assay(*short, f"resume={match[1]}")
    assert other.err.endswith("was started with other training or operational data of the same name\n")
    assay.client.set_tag(match[1], "assay.training_digest", "")
    resumed = assay(*short, f"resume={match[1]}")
    assert (resumed.code, resumed.err) == (0, "")
    assert len(blocks) == len(set(blocks)) == 5  # four batches, and one of noise
    report, parts = resumed.report(), assay.children(match[1])
    assert (report["run"]["id"], report["run"]["resumed"]) == (match[1], True)
    assert resumed.report("autopsy") == stopped.report("autopsy")
    assert resumed.report("mutate")["run"]["resumed"]
    assert Counter(each.data.tags["assay.task"] for each in parts) == dict.fromkeys(
        ("autopsy", "mutate", "contaminate"), 1
    )
    assert {each.info.status for each in parts} == {"FINISHED"}
    assert not (assay.folder / "mlruns" / "work" / report["run"]["parts"]["mutate"]["id"]).exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([*TINY, "task.autopsy.resamples=0"], "task.autopsy.resamples must be 1 or more, not 0"),
        ([*TINY, "task.mutate.smort=true"], "task.mutate.smort is unknown: did you mean smart?"),
        ([*TINY, "labels=here.csv"], "labels are of operational data: give dataset@task.stream=NAME too"),
        ([*TINY, "task.autopsy=null", "task.mutate=null", "task.contaminate=null"], "every part is left out"),
        (["task=checkup", "model=scene_detector", "dataset=scenes"], "scene_detector is a detector"),
        (
            [*TINY, "task.autopsy.layer=nowhere", "task.mutate=null", "task.contaminate=null"],
            "every part of the checkup failed: autopsy: task.autopsy.layer=nowhere",
        ),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(assay, given, message):
    before = len(assay.runs())
    ended = assay(*given)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert len(assay.runs()) == before
