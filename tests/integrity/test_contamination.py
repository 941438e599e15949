"""Contamination of splits: planted copies, and every count against a plain loop over all pairs."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from app.errors import UserError
from app.integrity import Scan, contaminate, scan_folder, scan_images
from app.integrity.findings import DISCLAIMER, RISKS, risk


def split(name, hashes, contents=None, labels=None, *, class_names=("cat", "dog"), std=50.0) -> Scan:
    """A scan with given hashes, contents and labels."""
    n = len(hashes)
    blank = scan_images(lambda _: Image.new("L", (2, 2)), [-1] * n, class_names, name=name, workers=1)
    digests = np.zeros((n, 32), dtype=np.uint8)
    for row, content in enumerate(contents if contents is not None else [f"{name}{row}" for row in range(n)]):
        digests[row, : len(content)] = list(content.encode())
    return replace(
        blank,
        hashes=np.array(hashes, dtype=np.uint64),
        digests=digests,
        std=np.full(n, std),
        labels=np.array([-1] * n if labels is None else labels, dtype=np.int32),
    )


def lighter(image: Image.Image) -> Image.Image:
    return image.point(lambda level: min(level + 4, 255))


def test_planted_copies_are_found(folder, make_scene, encode):
    scenes = [make_scene(seed, 160, 140) for seed in range(8)]
    train = folder({f"cat/{i}.png": scenes[i] for i in range(4)}, "train")
    test = folder(
        {
            "cat/new.png": scenes[5],
            "cat/same.png": scenes[1],
            "dog/smaller.jpg": encode(scenes[2].resize((120, 105)), "JPEG"),
            "dog/also new.png": scenes[6],
        },
        "test",
    )
    result = contaminate([scan_folder(train, workers=1), scan_folder(test, workers=1)])
    assert result.overall_risk == "CRITICAL"
    counts = result.counts
    assert (counts.exact_across, counts.near_across, counts.exact_within, counts.near_within) == (1, 1, 0, 0)
    assert (counts.exact_labels_differ, counts.near_labels_differ) == (0, 1)
    group = result.groups[0]
    assert [(m.split, m.path) for m in group.members] == [("train", "cat/1.png"), ("test", "cat/same.png")]
    assert (group.risk, group.labels_differ, len(group.sha256 or "")) == ("CRITICAL", False, 64)
    pair = result.pairs[0]
    assert (pair.first.path, pair.second.path) == ("cat/2.png", "dog/smaller.jpg")
    assert (pair.kind, pair.risk, pair.across, pair.labels_differ) == ("near", "HIGH", True, True)
    assert [(each.risk, each.n, each.labels_differ) for each in result.clusters] == [
        ("CRITICAL", 2, False),
        ("HIGH", 2, True),
    ]
    exposed = {
        each.split: (each.exact, each.near, each.share, each.rows.tolist()) for each in result.exposure
    }
    assert exposed["test"] == (1, 1, 0.5, [1, 3])  # of cat/new, cat/same, dog/also new, dog/smaller
    assert result.disclaimer == DISCLAIMER
    assert "not proof" in DISCLAIMER


@pytest.mark.parametrize(
    ("kind", "across", "expected"),
    [
        ("exact", True, "CRITICAL"),
        ("exact", False, "LOW"),
        ("near", True, "HIGH"),
        ("near", False, "INFO"),
        ("weak", True, "REVIEW"),
        ("weak", False, "INFO"),
    ],
)
def test_risks_as_specified(kind, across, expected):
    assert risk(kind, across=across) == expected
    ones = 2 ** {"exact": 0, "near": 5, "weak": 14}[kind] - 1
    content = "same" if kind == "exact" else "other"
    far = 2**64 - 1
    rows = [(0, "same"), (far, "far")]
    copy = (ones, content)
    train, test = (rows, [copy]) if across else ([*rows, copy], [(far ^ (0xFFFF << 20), "x")])
    result = contaminate([split("train", *zip(*train, strict=True)), split("test", *zip(*test, strict=True))])
    assert result.overall_risk == expected


def test_limits_are_inclusive():
    hashes = [0, 2**5 - 1, 2**64 - 2**50, 2**64 - 2**49]
    result = contaminate([split("a", [0]), split("b", hashes)])
    between = {(each.first, each.second): each for each in result.between}
    assert (between["a", "b"].near, between["a", "b"].weak) == (2, 1)
    assert contaminate([split("a", [0]), split("b", [2**6 - 1])], near_distance=6).counts.near_across == 1


def all_pairs(scans):
    """Counts by a plain loop, in the words of the definition."""
    rows = [
        (
            number,
            row,
            scan.digests[row].tobytes(),
            int(scan.hashes[row]),
            scan.class_of(row),
            scan.std[row] >= 1,
        )
        for number, scan in enumerate(scans)
        for row in range(len(scan))
    ]
    copies = Counter(digest for _, _, digest, _, _, _ in rows)
    counts: Counter[str] = Counter()
    elsewhere = set()
    for a, b in itertools.combinations(rows, 2):
        place = "across" if a[0] != b[0] else "within"
        differ = a[4] is not None and b[4] is not None and a[4] != b[4]
        distance = bin(a[3] ^ b[3]).count("1")
        if a[2] == b[2]:
            counts[f"exact_{place}"] += 1
            counts["exact_labels_differ"] += differ
            near = True
        elif not (a[5] and b[5]):
            continue
        elif copies[a[2]] > 1 or copies[b[2]] > 1:
            near = distance <= 5
        else:
            near = distance <= 5
            kind = "near" if near else "weak" if distance <= 14 else "far"
            counts[f"{kind}_{place}"] += 1
            counts["near_labels_differ"] += differ and near
        if near and a[0] != b[0]:
            elsewhere |= {a[:2], b[:2]}
    return counts, elsewhere


def random_splits(seed, copies):
    rng = np.random.default_rng(seed)
    pattern = int(rng.integers(2**63))
    scans = []
    for name, n in (("train", 40), ("val", 1), ("test", 25)):
        flips = [rng.choice(64, int(rng.integers(0, 9)), replace=False).tolist() for _ in range(n)]
        contents = [f"{rng.integers(30)}" if rng.random() < copies else f"{name}-{row}" for row in range(n)]
        hashes = [pattern ^ sum(1 << bit for bit in bits) for bits in flips]
        # equal contents have equal hashes
        hashes = [
            pattern ^ (int(content) * 0x0101) if content.isdigit() else hashed
            for content, hashed in zip(contents, hashes, strict=True)
        ]
        labels = rng.integers(-1, 2, n)
        names = ("cat", "dog") if name != "test" else ("dog", "cat")
        scans.append(split(name, hashes, contents, labels, class_names=names))
    return scans


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("workers", [1, 3])
def test_counts_without_copies_against_a_loop_over_all_pairs(seed, workers):
    scans = random_splits(seed, copies=0)
    result = contaminate(scans, workers=workers, shown=10_000)
    expected, elsewhere = all_pairs(scans)
    counts = result.counts
    for name in ("near_across", "near_within", "weak_across", "weak_within", "near_labels_differ"):
        assert getattr(counts, name) == expected[name], name
    assert counts.exact_across == counts.exact_within == counts.beside_exact_across == 0
    assert {(i, row) for i, each in enumerate(result.exposure) for row in each.rows.tolist()} == elsewhere
    assert len(result.pairs) == result.n_pairs
    assert Counter(f"{p.kind}_{'across' if p.across else 'within'}" for p in result.pairs) == {
        key: value
        for key, value in expected.items()
        if key[:4] in {"near", "weak"} and key[-6:] != "differ"
        if value
    }
    order = [(RISKS.index(pair.risk), pair.distance) for pair in result.pairs if pair.risk != "INFO"]
    assert order == sorted(order)


@pytest.mark.parametrize("seed", range(4))
def test_counts_with_copies_against_a_loop_over_all_pairs(seed):
    scans = random_splits(seed, copies=0.4)
    result = contaminate(scans)
    expected, elsewhere = all_pairs(scans)
    names = "exact_across exact_within near_across near_within weak_across weak_within exact_labels_differ"
    for name in names.split():
        assert getattr(result.counts, name) == expected[name], name
    assert expected["exact_across"] > 0
    assert sum(each.exact for each in result.between) == expected["exact_across"] + expected["exact_within"]
    assert {(i, row) for i, each in enumerate(result.exposure) for row in each.rows.tolist()} == elsewhere


def test_a_copy_does_not_hide_a_near_duplicate_in_another_split():
    """Two equal pictures in train are out of the near pairs, yet a near copy of them in test is a leak."""
    train = split("train", [0, 0, 2**64 - 1], ["same", "same", "else"], [0, 0, 0])
    test = split("test", [3, 0xFFFF << 30], ["near", "far"], [1, 0])
    result = contaminate([train, test])
    counts = result.counts
    assert (counts.near_across, counts.beside_exact_across, counts.exact_within) == (0, 1, 1)
    assert result.overall_risk == "HIGH"
    assert counts.near_labels_differ == 1
    assert [each.near for each in result.exposure] == [2, 1]
    assert [(each.n, each.risk) for each in result.clusters] == [(3, "HIGH")]
    assert result.groups[0].risk == "LOW"


def test_equal_contents_of_two_splits_are_not_near_pairs_as_well():
    scans = [split("train", [0], ["same"]), split("test", [0], ["same"])]
    result = contaminate(scans)
    assert (result.counts.exact_across, result.counts.beside_exact_across, result.n_pairs) == (1, 0, 0)
    assert result.pairs == ()


def test_pictures_that_show_nothing_are_compared_by_content_alone():
    result = contaminate([split("train", [0, 0], std=0.0), split("test", [0, 1], std=0.5)])
    assert result.overall_risk == "NONE"
    assert [each.near_empty for each in result.splits] == [2, 2]


def test_labels_are_compared_by_name():
    scans = [
        split("train", [0], labels=[0], class_names=("cat", "dog")),
        split("test", [1], labels=[1], class_names=("dog", "cat")),
    ]
    assert contaminate(scans).counts.near_labels_differ == 0
    assert contaminate([scans[0], replace(scans[1], labels=np.array([0]))]).counts.near_labels_differ == 1
    assert contaminate([scans[0], replace(scans[1], labels=np.array([-1]))]).counts.near_labels_differ == 0


def test_a_set_without_variety_stays_small_and_says_so():
    """All 44,850 pairs are near, and none but the shown ones is kept."""
    rng = np.random.default_rng(0)
    scans = [split(name, (1 << rng.integers(0, 2, 150)).tolist()) for name in ("train", "test")]
    result = contaminate(scans)
    assert result.n_pairs == 300 * 299 // 2
    assert len(result.pairs) == 200
    assert all(pair.risk == "HIGH" for pair in result.pairs)
    assert result.signal_diluted
    assert all(each.signal_diluted for each in result.between)
    assert [(each.n, len(each.members)) for each in result.clusters] == [(300, 20)]
    assert {member.split for member in result.clusters[0].members} == {"train", "test"}
    assert result.exposure[0].share == 1


def test_unreadable_pictures_are_left_out(folder, make_scene):
    train = folder({"1.png": make_scene(), "bad.png": b"", "worse.png": b"x"}, "train")
    test = folder({"2.png": make_scene(3), "bad.png": b"", "worse.png": b"x"}, "test")
    result = contaminate([scan_folder(train, workers=1), scan_folder(test, workers=1)])
    assert result.overall_risk == "NONE"
    assert [(each.n, each.unreadable) for each in result.splits] == [(3, 2), (3, 2)]
    assert result.n_groups == result.n_clusters == result.n_pairs == 0


def test_empty_splits():
    result = contaminate([split("train", []), split("test", [])])
    assert result.overall_risk == "NONE"
    assert np.isnan(result.exposure[0].share)
    assert contaminate([split("train", [0]), split("test", [])]).overall_risk == "NONE"


def test_progress_ends_at_its_total():
    seen = []
    scans = random_splits(0, copies=0.4)
    contaminate(scans, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    assert len({total for _, total in seen}) == 1


@pytest.mark.parametrize(
    ("scans", "message"),
    [
        ([], "contamination needs splits"),
        ([split("x", [0]), split("x", [1])], "2 are called x"),
    ],
)
def test_splits_that_cannot_be_compared_are_refused(scans, message):
    with pytest.raises(UserError, match=message):
        contaminate(scans)


def test_hashes_of_different_specifications_are_never_compared(folder, make_scene):
    scan = scan_folder(folder({"1.png": make_scene()}), workers=1)
    with pytest.raises(UserError, match=r"hashed differently .* both as folders, or both as images"):
        contaminate([scan, split("test", [0])])


@pytest.mark.parametrize(
    "wrong", [{"near_distance": -1}, {"near_distance": 15}, {"weak_distance": 65}, {"shown": -1}]
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        contaminate([split("a", [0]), split("b", [0])], **wrong)
