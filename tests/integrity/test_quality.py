"""Quality of pictures made with known faults."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageFilter

from app.integrity import QualityLimits, quality, scan_folder


def detailed(seed: int = 0, width: int = 80, height: int = 70) -> Image.Image:
    levels = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    return Image.fromarray(levels).filter(ImageFilter.GaussianBlur(0.7))


def blocks() -> Image.Image:
    levels = np.random.default_rng(0).integers(0, 256, (4, 4), dtype=np.uint8)
    return Image.fromarray(levels).resize((160, 140), Image.Resampling.NEAREST)


def counts(result) -> dict[str, int]:
    return {fault.kind: fault.n for fault in result.faults if fault.n}


def test_a_sound_split_has_no_fault(scanned):
    result = quality(scanned("train", [detailed(seed) for seed in range(5)], [0, 0, 0, 1, 1], ("cat", "dog")))
    assert counts(result) == {}
    assert (result.total, result.unreadable, result.extra_duplicates, result.share_faulty) == (5, (), 0, 0)
    assert [(each.name, each.n) for each in result.classes] == [("cat", 3), ("dog", 2)]


@pytest.mark.parametrize(
    ("kind", "image"),
    [
        ("low_resolution", detailed(9, 63, 70)),
        ("low_resolution", detailed(9, 70, 63)),
        ("near_empty", Image.new("RGB", (80, 70), (200, 10, 10))),
        ("too_dark", detailed(9).point(lambda level: level // 5)),
        ("too_bright", detailed(9).point(lambda level: 243 + level // 22)),
        ("blurry", blocks().filter(ImageFilter.GaussianBlur(5))),
        ("odd_aspect", detailed(9, 240, 70)),
        ("odd_aspect", detailed(9, 70, 240)),
        ("odd_size", detailed(9, 400, 380)),
    ],
)
def test_one_fault_is_found_and_no_other(scanned, kind, image):
    others = [detailed(seed) for seed in range(5)]
    result = quality(scanned("train", [*others, image], [0] * 5 + [1], ("cat", "dog")))
    assert counts(result) == {kind: 1}
    flagged = result.fault(kind).worst[0]
    assert (flagged.path, flagged.class_name) == ("case-00005", "dog")


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_a_pure_colour_is_dark_only_where_its_channel_is(scanned, folder, channel):
    def pure(levels: Image.Image) -> Image.Image:
        channels = [Image.new("L", levels.size)] * 3
        channels[channel] = levels
        return Image.merge("RGB", channels)

    grey = detailed(9).convert("L")
    bright, dark = pure(grey), pure(grey.point(lambda level: (level > 110) * 60))
    result = quality(scanned("train", [detailed(1), bright, dark]))
    assert [each.path for each in result.fault("too_dark").worst] == ["case-00002"]
    files = scan_folder(folder({"a.png": bright, "b.png": dark, "c.png": detailed(1)}))
    assert [each.path for each in quality(files).fault("too_dark").worst] == ["b.png"]


def test_limits_are_where_they_are_said_to_be(scanned):
    levels = np.full((70, 80), 100, dtype=np.uint8)
    levels[:, ::2] = 102  # a standard deviation of exactly 1
    below = levels.copy()
    below[0, 0] = 101
    scan = scanned("train", [Image.fromarray(levels), Image.fromarray(below), detailed(0, 64, 64)])
    result = quality(scan)
    assert [each.path for each in result.fault("near_empty").worst] == ["case-00001"]
    assert result.fault("low_resolution").n == 0


def test_portrait_and_landscape_are_the_same_aspect(scanned):
    images = [detailed(seed, 120, 80) for seed in range(4)] + [detailed(9, 80, 120)]
    assert quality(scanned("train", images)).fault("odd_aspect").n == 0


def test_duplicates_across_classes_come_first(scanned):
    one, two = detailed(1), detailed(2)
    images = [one, one, one, two, two, detailed(3)]
    result = quality(scanned("train", images, [0, 0, 0, 0, 1, 1], ("cat", "dog")))
    assert (result.duplicate_groups, result.extra_duplicates, result.groups_spanning_classes) == (2, 3, 1)
    assert [each.n for each in result.duplicates] == [2, 3]
    assert result.duplicates[0].class_names == ("cat", "dog")
    assert result.duplicates[0].spans_classes
    assert result.duplicates[0].paths == ("case-00003", "case-00004")
    assert not result.duplicates[1].spans_classes
    assert [each.extra_duplicates for each in result.classes] == [2, 1]


def test_share_of_faults_as_the_sub_score_defines_it(folder):
    """Of 8 pictures: 1 unreadable, 1 extra copy, 1 near-empty that is also low in resolution."""
    good = {f"a/{seed}.png": detailed(seed) for seed in range(5)}
    root = folder(
        {
            **good,
            "a/copy.png": detailed(0),
            "b/cut.png": b"x",
            "b/tiny.png": Image.new("L", (9, 9)),
            "b/n.txt": b"",
        }
    )
    result = quality(scan_folder(root, workers=1))
    assert result.total == 8
    assert result.share_faulty == pytest.approx((1 + 1 + 1 + 1) / 8)
    assert [(each.path, each.class_name) for each in result.unreadable] == [("b/cut.png", "b")]
    assert [each.path for each in result.skipped] == ["b/n.txt"]
    rows = [(each.n, each.unreadable, each.low_resolution, each.near_empty) for each in result.classes]
    assert rows == [(6, 0, 0, 0), (2, 1, 1, 1)]


def test_identical_broken_files_are_no_duplicates(folder):
    result = quality(scan_folder(folder({"1.png": b"", "2.png": b"", "3.png": detailed()}), workers=1))
    assert (len(result.unreadable), result.duplicate_groups) == (2, 0)
    assert [(each.name, each.n) for each in result.classes] == [("", 3)]


def test_a_list_is_cut_and_its_count_is_not(scanned):
    images = [detailed(seed, 20 + seed, 20 + seed) for seed in range(9)]
    result = quality(scanned("train", images), QualityLimits(shown=2))
    fault = result.fault("low_resolution")
    assert fault.n == 9
    assert [each.value for each in fault.worst] == [20, 21]


@pytest.mark.parametrize("images", [[], [Image.new("L", (0, 0))]])
def test_nothing_readable(scanned, images):
    result = quality(scanned("train", images))
    assert (result.total, len(result.unreadable)) == (len(images), len(images))
    assert counts(result) == {}
    assert np.isnan(result.share_faulty) if not images else result.share_faulty == 1


@pytest.mark.parametrize(
    "wrong", [{"min_width": -1}, {"aspect_factor": 1.0}, {"size_factor": 0}, {"shown": -1}]
)
def test_impossible_limits_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        QualityLimits(**wrong)
