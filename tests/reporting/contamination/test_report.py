"""The report of contamination: from findings to JSON and back, to words and to a page."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from app.integrity import contaminate, quality, scan_images
from app.integrity.suggestions import suggestions
from app.report.lineage import Run, Subject
from app.report.schema import dumps, write_json
from app.reporting.contamination import figures, page, report, tables, words
from app.reporting.contamination.assembly import Found, contamination_report
from app.reporting.figures import png

RUN = Run("id", None, "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:09+00:00", 9.0, "python -m app", "here")


def scene(seed):
    rough = np.random.default_rng(seed).integers(0, 256, (7, 8), dtype=np.uint8)
    return Image.fromarray(rough).resize((80, 70), Image.Resampling.BICUBIC)


def made(*splits, likeness=None, names=("train", "test", "val"), planted=()):
    """The report of splits, each of (seed of the scene, label) pairs."""
    scans = [
        scan_images(
            lambda row, part=part: scene(part[row][0]),
            [label for _, label in part],
            ("<i>cat</i>", "dog"),
            name=name,
            workers=1,
        )
        for name, part in zip(names, splits, strict=False)
    ]
    found = contaminate(scans)
    alike = np.full(len(found.pairs), np.nan if likeness is None else likeness)
    subject = Subject(
        "+".join(s.name for s in scans), "", "data", "", "d" * 64, sum(map(len, scans)), ("cat", "dog")
    )
    return contamination_report(
        Found(found, alike, suggestions(scans, found, alike), tuple(map(quality, scans))),
        RUN,
        subject,
        seed=0,
        splits={scan.name: f"folder/{scan.name}" for scan in scans},
        compared=100,
        planted=planted,
    )


@pytest.fixture(scope="module")
def leaking():
    return made([(0, 0), (1, 0), (2, 1)], [(1, 1), (2, 1), (5, 0), (6, 0)])


def test_the_form_of_version_1_does_not_change(leaking):
    body = json.loads(dumps(leaking))
    assert (body["schema"]["artifact"], body["schema"]["version"]) == ("assay.contaminate", 1)
    assert list(body) == [
        *("schema", "run", "subject", "settings", "disclaimer", "summary", "exposure", "between", "n_groups"),
        *("groups", "n_pairs", "pairs", "n_clusters", "clusters", "quality", "suggestions", "hash_spec"),
    ]
    assert {"overall_risk", "exact_across", "confirmed_across", "drop", "review"} <= set(body["summary"])


def test_written_and_loaded_reports_are_equal(leaking, tmp_path):
    path = write_json(leaking, tmp_path / "report.json")
    assert report.load(path) == leaking
    assert dumps(report.load(path)) == path.read_text(encoding="utf-8")


def test_counts_are_those_of_the_splits(leaking):
    summary = leaking.summary
    assert (summary.overall_risk, summary.exact_across, summary.exact_labels_differ) == ("CRITICAL", 2, 1)
    assert [(each.split, each.exact, each.share) for each in leaking.exposure] == [
        ("train", 2, pytest.approx(2 / 3)),
        ("test", 2, 0.5),
    ]
    assert [each.path for each in leaking.suggestions] == ["case-00000", "case-00001"]
    assert (summary.drop, summary.review) == (2, 0)
    metrics = tables.metrics(leaking)
    assert metrics["contaminate/risk"] == 5
    assert metrics["contaminate/share/test"] == 0.5
    assert all(name.startswith("contaminate/") for name in metrics)


@pytest.mark.parametrize(
    ("splits", "sentence"),
    [
        (([(0, 0), (1, 0)], [(1, 0), (5, 0)]), "1 of 2 pictures of test is in train, too: 1 byte for byte."),
        (([(0, 0)], [(5, 0)]), "The splits share no picture."),
        (([(0, 0), (0, 0)], [(5, 0)]), "The splits share no picture, but 1 pair inside a split are copies."),
        (
            ([(0, 0)], [(0, 0)], [(0, 0), (5, 0)]),
            "2 of 3 pictures of the splits beside train are in another split",
        ),
    ],
)
def test_the_headline_says_what_is_shared(splits, sentence):
    found = made(*splits)
    assert words.headline(found).sentence.startswith(sentence)
    assert words.closing_lines(found, "report.html")[0].startswith(f"Risk {found.summary.overall_risk}. ")


def test_unconfirmed_pairs_are_not_called_copies(leaking):
    pair = report.Pair(
        report.Member("train", "a", None),
        report.Member("test", "b", None),
        "near",
        3,
        0.9,
        False,
        True,
        "HIGH",
        False,
    )
    calm = replace(
        leaking,
        summary=replace(
            leaking.summary, overall_risk="HIGH", exact_across=0, near_across=1, compared=1, drop=0
        ),
        exposure=(
            report.Exposure("train", 9, 0, 0, 1, 0.0, 1 / 9),
            report.Exposure("test", 9, 0, 0, 1, 0.0, 1 / 9),
        ),
        pairs=(pair,),
    )
    head = words.headline(calm)
    told = "Near duplicates across splits: 1 pair within distance 5, none of those compared is a copy tone by tone."
    assert head.sentence == told  # as the badge HIGH says
    assert head.meaning.startswith("1 of 9 pictures of test looks like one in train.")
    assert "none is a copy tone by tone" in head.meaning


def test_the_page_escapes_names_and_puts_the_risk_first(leaking):
    thumbnails = {name: png(figures.distances(leaking)) for name in page.pictured(leaking)[:1]}
    text = page.contamination_page(leaking, thumbnails)
    assert text == page.contamination_page(leaking, thumbnails)
    assert "<i>cat" not in text
    assert text.index("CRITICAL") < text.index("<h1>")
    assert text.count("data:image/png") == 2  # in its group and among the labels
    assert "What to leave out" in text


def test_planted_copies_are_listed(leaking):
    planted = report.Planted("near", "test", "p", "train", "o", "darker", "cat", "dog", found=False)
    text = page.contamination_page(
        replace(
            leaking,
            settings=replace(leaking.settings, planted=(planted,)),
            summary=replace(leaking.summary, planted=1, planted_found=0),
        )
    )
    assert "0 of 1 planted copy found" in text
    assert "missed" in text


def test_pictures_stop_at_their_share_of_the_page(leaking, monkeypatch):
    monkeypatch.setattr(page, "PICTURE_BYTES", 2000)
    big = {name: b"\x89PNG" + bytes(1000) for name in page.pictured(leaking)}
    assert page.contamination_page(leaking, big).count("data:image/png") <= 4
    with pytest.raises(ValueError, match="no PNG"):
        page.contamination_page(leaking, dict.fromkeys(big, b"text"))
