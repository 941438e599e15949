"""Profile `paper`: one hand-worked case for every row of its table of corrections."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.detections import DetectionLog, Detections
from app.errors import UserError
from app.scoring.detection import ScoreSettings, score_logs
from app.scoring.detection.paper import Prepared, canonical, paper_objects

SQUARE = [0, 0, 100, 100]
FAR = [300, 300, 340, 340]
H = -(0.8 * np.log(0.8) + 0.2 * np.log(0.1)) / np.log(3)  # of the row .8 .1 .1, over log 3


def table_of(original, mutant, semantics="softmax_background"):
    return paper_objects(Prepared.of(original, threshold=0.5, semantics=semantics), mutant)


def kind(table, number):
    return table.take(table.kind == number)


def score(original, mutant, **options):
    return score_logs(original, {"m": mutant}, settings=ScoreSettings(resamples=20, **options)).mutants[0]


# object identity -------------------------------------------------------------------------------------------


def test_two_classes_on_one_box_are_two_objects(scene, one_image):
    both = one_image(scene((SQUARE, 1), (SQUARE, 2)), 10)
    matches = table_of(both, both)
    assert matches.rate.tolist() == [1.0, 1.0]
    assert matches.label.tolist() == [1, 2]
    assert (matches.iou.tolist(), matches.number.tolist()) == ([1.0, 1.0], [0, 1])
    assert score(both, both).ms_iou == 0.0


def test_two_equal_detections_are_two_objects(scene, one_image):
    twice = one_image(scene((SQUARE, 1), (SQUARE, 1)), 4)
    table = table_of(twice, one_image(scene((SQUARE, 1)), 4))
    assert sorted(zip(table.kind.tolist(), table.rate.tolist(), strict=True)) == [(0, 1.0), (1, 1.0)]


def test_an_original_that_moves_is_clustered_and_told(scene, one_image):
    near = [1, 0, 101, 100]
    original = one_image(scene((SQUARE, 1)), scene((near, 1), (FAR, 2)), scene((SQUARE, 1), (FAR, 2)))
    result = score_logs(original, {"m": original}, settings=ScoreSettings(resamples=5))
    assert len(result.notes) == 1
    assert "differs between repetitions on 1 images (first: a)" in result.notes[0]
    matches = kind(result.objects, 0)
    assert matches.label.tolist() == [1, 2]
    assert matches.count.tolist() == [3, 2]
    assert matches.seen.tolist() == [[True, True, True], [False, True, True]]
    # its own movement is the original's uncertainty; the copy differs from it by nothing
    assert matches.original[0, 3] > 0
    assert (matches.score == 0).all()


def test_an_original_that_only_lists_in_another_order_is_stable(scene, one_image):
    original = one_image(scene((SQUARE, 1), (FAR, 2)), scene((FAR, 2), (SQUARE, 1)))
    assert score_logs(original, {"m": original}).notes == ()


# matching --------------------------------------------------------------------------------------------------


def test_matching_asks_for_the_class_and_takes_the_most_matches(scene, one_image):
    thief = table_of(one_image(scene((SQUARE, 1))), one_image(scene((SQUARE, 2), ([0, 0, 100, 90], 1))))
    assert kind(thief, 0).iou.tolist() == [0.9]
    assert kind(thief, 2).label.tolist() == [2]
    original = one_image(scene((SQUARE, 1), ([67, 0, 167, 100], 1)))
    mutant = one_image(scene(([29, 0, 129, 100], 1), ([-38, 0, 62, 100], 1)))
    assert kind(table_of(original, mutant), 0).iou == pytest.approx([71 / 129])


# n, p0 -----------------------------------------------------------------------------------------------------


def test_trials_are_the_repetitions_and_p0_is_a_choice(scene, one_image):
    for repetitions in (1, 5, 20):
        gone = score(one_image(scene((SQUARE, 1)), repetitions), one_image(scene(), repetitions), p0=0.3)
        assert gone.img_p["miss"] == pytest.approx(0.3**repetitions)
        assert gone.img_p["ghost"] == 1.0
        assert gone.img_killed["miss"] is (0.3**repetitions <= 0.05)


def test_p0_from_an_unchanged_run_is_the_upper_clopper_pearson_bound(scene, one_image):
    from scipy.stats import binomtest

    original = one_image(scene((SQUARE, 1)), 20)
    again = one_image(scene(), scene((SQUARE, 1)), 18, scene((SQUARE, 1), (FAR, 2)))
    result = score_logs(original, {"m": one_image(scene(), 20)}, unchanged=again)
    # one-sided at 95 %: the upper end of the two-sided 90 % interval
    bounds = [binomtest(count, 20).proportion_ci(0.9, method="exact").high for count in (1, 1, 2)]
    assert result.p0.p0 == pytest.approx(bounds)
    assert result.p0.trials == 20
    assert result.mutants[0].img_p["miss"] == pytest.approx(bounds[0] ** 20)


# Img-MS ----------------------------------------------------------------------------------------------------


def test_img_ms_adjusts_over_images_and_mutants_and_keeps_the_legacy_rule(scene):
    there, gone = scene((SQUARE, 1)), scene()
    names = ["a", "b", "c"]

    def losing(*counts):
        return DetectionLog.of(names, [[gone] * count + [there] * (4 - count) for count in counts])

    mutants = {"strong": losing(4, 1, 0), "weak": losing(1, 0, 0), "none": losing(0, 0, 0)}
    result = score_logs(losing(0, 0, 0), mutants, settings=ScoreSettings(p0=0.1, resamples=200))
    one = 1 - 0.9**4
    strong, weak, none = result.mutants
    assert strong.img_p["miss"] == pytest.approx(3 * 0.1**4)  # Holm: the smallest of three
    assert weak.img_p["miss"] == 1.0  # three times .34
    assert one > 1 / 3
    assert strong.img_p_adjusted["miss"] == pytest.approx(3 * 3 * 0.1**4)  # BH: the first of three
    assert [m.img_killed["miss"] for m in result.mutants] == [True, False, False]
    assert [m.img_killed_any["miss"] for m in result.mutants] == [True, True, False]
    assert (result.summary.img_ms["miss"], result.summary.img_ms_any["miss"]) == pytest.approx((1 / 3, 2 / 3))
    assert result.kills[:, :, 0].tolist() == [[True, False, False], [False] * 3, [False] * 3]
    assert strong.img_kills == {"miss": 1, "ghost": 0, "mg": 1}
    interval = result.summary.img_ms_ci["miss"]
    assert interval.low == 0.0  # some resamples miss image a
    assert interval.high == pytest.approx(1 / 3)
    assert none.img_p["mg"] == 1.0


# Obj-MS ----------------------------------------------------------------------------------------------------


def test_obj_ms_micro_sums_and_macro_averages_images(scene):
    boxes = [[60 * k, 0, 60 * k + 40, 40] for k in range(3)]
    original = DetectionLog.of(
        ["a", "b"], [[scene((boxes[0], 1))] * 2, [scene(*((box, 1) for box in boxes))] * 2]
    )
    mutant = DetectionLog.of(
        ["a", "b"],
        [
            [scene(), scene((boxes[0], 1))],  # M 1, X 1
            [scene(*((box, 1) for box in boxes), (FAR, 2)), scene((boxes[0], 1))],  # M 4, X 2, G 1
        ],
    )
    result = score(original, mutant)
    assert result.obj_ms == pytest.approx({"miss": 3 / 8, "ghost": 1 / 6, "mg": 4 / 9})
    assert result.obj_ms_macro["miss"] == pytest.approx((1 / 2 + 2 / 6) / 2)
    assert result.obj_ms_macro["ghost"] == pytest.approx((0 + 1 / 5) / 2)
    assert result.obj_ms_macro["mg"] == pytest.approx((1 / 2 + 3 / 7) / 2)


def test_an_undefined_obj_ms_is_nan_left_out_and_counted(scene):
    there, gone = scene((SQUARE, 1)), scene()
    original = DetectionLog.of(["a", "b"], [[there], [gone]])
    result = score(original, DetectionLog.of(["a", "b"], [[gone], [gone]]))
    assert (result.obj_ms["miss"], result.obj_ms_macro["miss"]) == (1.0, 1.0)
    assert np.isnan(result.obj_ms["ghost"])
    assert (
        result.undefined["obj_ms_miss"],
        result.undefined["obj_ms_ghost"],
        result.undefined["obj_ms_mg"],
    ) == (1, 2, 1)


# MS_iou ----------------------------------------------------------------------------------------------------


def test_ms_iou_is_of_matched_pairs_only(scene, one_image):
    original = one_image(scene((SQUARE, 1)), 4)
    mutant = one_image(scene(([0, 0, 100, 80], 1)), scene((SQUARE, 1)), scene(), scene())
    result = score(original, mutant)
    assert result.ms_iou == pytest.approx((0.2 + 0.0) / 2)
    assert result.rates["match"] == 0.5


def test_without_a_match_there_is_no_ms_iou_and_no_match_ua(scene, one_image):
    result = score(one_image(scene((SQUARE, 1)), 3), one_image(scene(), 3))
    assert np.isnan(result.ms_iou)
    assert np.isnan(list(result.ua["match"].values())).all()
    assert result.undefined["ms_iou"] == 1
    assert np.isnan(result.rates["match"])


# units -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 7.0, 0.01])
def test_spread_and_surface_have_no_unit(scene, one_image, scale):
    def box(x, y):
        return [scale * v for v in (x, y, 100 + x, 100 + y)]

    original = one_image(scene((box(0, 0), 1)), 4)
    mutant = one_image(*(scene((box(x, y), 1)) for x, y in ((0, 0), (12, 0), (12, 12), (0, 12))))
    matches = table_of(original, mutant)
    # every coordinate has variance 4 * 36 / 3 = 48; all four corners span a square of 12
    assert matches.changed[0, 3] == pytest.approx(np.sqrt(4 * 48) / 100)
    assert matches.changed[0, 4] == pytest.approx(12 * 12 / 100**2)


def test_spread_and_surface_stay_at_one_and_need_an_area(scene, one_image):
    thin = [0, 0, 100, 1]
    original = one_image(scene((thin, 1)), 4)
    wild = one_image(*(scene(([d, 0, 100 + d, 1], 1)) for d in (0, 15, 0, 15)))  # variance 150 over 100
    found = kind(table_of(original, wild), 0).changed
    assert found[0, 3] == 1.0
    point = [5, 5, 5, 5]
    ghosts = kind(table_of(one_image(scene(), 3), one_image(scene((point, 1)), 3)), 2)
    assert np.isnan(ghosts.score[:, [3, 4]]).all()


def test_entropy_and_information_are_shares_of_their_largest_value(scene, one_image):
    def hot(label):
        return [float(label == index) for index in range(3)]

    original = one_image(scene((SQUARE, 1, hot(1))), 3)
    mutant = one_image(*(scene((SQUARE, 1, hot(label))) for label in range(3)))
    found = table_of(original, mutant)
    assert found.original[0, :3].tolist() == [0, 0, 0]
    assert found.changed[0, :3] == pytest.approx([2 / 3, 1.0, 1.0])
    assert found.score[0, :3] == pytest.approx([2 / 3, 1.0, 1.0])


# match -----------------------------------------------------------------------------------------------------


def test_match_ua_is_not_mixed_with_the_rate(scene, one_image):
    original = one_image(scene((SQUARE, 1)), 10)
    mutant = one_image(scene(), 3, scene((SQUARE, 1)), 7)
    matches = kind(table_of(original, mutant), 0)
    assert matches.score.tolist() == [[0.0] * 5]
    assert matches.rate.tolist() == [0.7]


# miss ------------------------------------------------------------------------------------------------------


def test_a_miss_counts_by_its_certainty_and_says_nothing_else(scene, one_image):
    table = table_of(one_image(scene((SQUARE, 1)), 10), one_image(scene(), 3, scene((SQUARE, 1)), 7))
    misses = kind(table, 1)
    assert misses.rate.tolist() == pytest.approx([0.3])
    assert misses.score[0, 1] == pytest.approx(0.3 * (1 - H))
    assert misses.conf[0] == pytest.approx(0.3 * 0.8)
    assert np.isnan(misses.score[0, [0, 2, 3, 4]]).all()
    result = score(one_image(scene((SQUARE, 1)), 10), one_image(scene(), 3, scene((SQUARE, 1)), 7))
    assert result.miss_confidence == pytest.approx(0.24)
    assert result.undefined["ua_miss_vr"] == 1


# ghost -----------------------------------------------------------------------------------------------------


def test_ghosts_cluster_by_class_one_a_repetition(scene, one_image):
    original = one_image(scene((SQUARE, 1)), 10)
    near = [302, 300, 342, 340]
    mutant = one_image(scene((SQUARE, 1), (FAR, 1), (near, 2), (near, 1)), 10)
    ghosts = kind(table_of(original, mutant), 2)
    assert ghosts.label.tolist() == [1, 1, 2]
    assert ghosts.rate.tolist() == [1.0, 1.0, 1.0]
    assert ghosts.count.tolist() == [10, 10, 10]
    # copies: no variation, no spread; the entropy is that of the mean row, not a sum of ten
    assert ghosts.score == pytest.approx(np.array([[1, 1 - H, 1, 1, 1]] * 3))


def test_ghost_ua_is_rate_times_certainty(scene, one_image):
    shifted = [[300 + d, 300, 340 + d, 340] for d in (0, 4)]
    mutant = one_image(scene((shifted[0], 1)), scene((shifted[1], 1, [0.6, 0.4, 0.0])), scene(), scene())
    ghosts = kind(table_of(one_image(scene(), 4), mutant), 2)
    mean = np.array([0.35, 0.6, 0.05])
    entropy = -(mean * np.log(mean)).sum() / np.log(3)
    single = -(0.6 * np.log(0.6) + 0.4 * np.log(0.4)) / np.log(3)
    spread = np.sqrt(2 * 8) / 40  # x1 and x2 have variance 8
    expected = [0.5 * (1 - u) for u in (0.5, entropy, entropy - (H + single) / 2, spread, 0.0)]
    assert ghosts.rate.tolist() == [0.5]
    assert ghosts.score[0] == pytest.approx(expected)


def test_one_sight_of_a_ghost_tells_only_its_entropy(scene, one_image):
    ghosts = kind(table_of(one_image(scene(), 5), one_image(scene((FAR, 1)), scene(), 4)), 2)
    assert np.isnan(ghosts.score[0, [0, 2, 3, 4]]).all()
    assert ghosts.score[0, 1] == pytest.approx(0.2 * (1 - H))


# class rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "semantics"),
    [
        ([-2.0, 3.0, 1.0], "softmax_background"),
        ([0.0, 0.0, 0.0], "softmax_background"),
        ([0.2, 1.2, 0.0], "sigmoid"),
    ],
)
def test_rows_that_are_no_probabilities_are_refused_by_name(scene, one_image, row, semantics):
    good = one_image(scene((SQUARE, 1)), 2, semantics=semantics)
    bad = one_image(scene((SQUARE, 1)), scene((FAR, 1), (SQUARE, 1, row)), semantics=semantics)
    with pytest.raises(UserError, match=r"^m: image 'a', prediction 1, object \d: its class row"):
        score_logs(good, {"m": bad})
    with pytest.raises(UserError, match=r"^original: image 'a', prediction 1"):
        score_logs(bad, {"m": good})


def test_softmax_rows_are_divided_by_their_sum(scene, one_image):
    table = table_of(one_image(scene((SQUARE, 1, [1, 8, 1])), 2), one_image(scene(), 2))
    assert table.original[0, 1] == pytest.approx(H)


def test_sigmoid_entropy_is_the_mean_of_the_binary_ones(scene, one_image):
    def binary(p):
        return -(p * np.log2(p) + (1 - p) * np.log2(1 - p))

    original = one_image(scene((SQUARE, 1, [0.5, 0.9, 0.5])), 2, semantics="sigmoid")
    mutant = one_image(
        scene((SQUARE, 1, [0.5, 0.9, 0.5])), scene((SQUARE, 1, [0.5, 0.3, 0.5])), semantics="sigmoid"
    )
    found = table_of(original, mutant, "sigmoid")
    assert found.original[0, 1] == pytest.approx((2 + binary(0.9)) / 3)
    assert found.changed[0, 1] == pytest.approx((2 + binary(0.6)) / 3)
    assert found.changed[0, 2] == pytest.approx((binary(0.6) - (binary(0.9) + binary(0.3)) / 2) / 3)


# properties ------------------------------------------------------------------------------------------------


@st.composite
def logs(draw):
    """An original and a mutant: two images of two and one repetitions on a coarse grid, so that ties happen."""
    classes = draw(st.integers(1, 3))

    def cell():
        objects = draw(
            st.lists(
                st.tuples(*[st.integers(0, 6)] * 4, st.integers(0, classes - 1), st.integers(1, 3)),
                max_size=4,
            )
        )
        boxes = np.array([[x, y, x + w, y + h] for x, y, w, h, _, _ in objects], dtype=float).reshape(-1, 4)
        labels = np.array([item[4] for item in objects], dtype=int)
        probs = np.ones((len(objects), classes))
        probs[np.arange(len(objects)), labels] += [item[5] for item in objects]
        return Detections(boxes, labels, probs.max(axis=1, initial=0.0), probs)

    return [DetectionLog.of(["a", "b"], [[cell(), cell()], [cell()]]) for _ in range(2)]


def shuffled(log, seed):
    rng = np.random.default_rng(seed)
    cells = []
    for _, repetitions in log:
        row = []
        for found in repetitions:
            order = rng.permutation(len(found))
            row.append(
                Detections(found.boxes[order], found.labels[order], found.scores[order], found.probs[order])
            )
        cells.append(row)
    return DetectionLog.of(log.images, cells)


@given(logs(), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_the_order_of_detections_changes_nothing(pair, seed):
    original, mutant = pair
    first = table_of(original, mutant)
    second = table_of(shuffled(original, seed), shuffled(mutant, seed + 1))
    for name, column in vars(first).items():
        assert np.array_equal(column, getattr(second, name), equal_nan=column.dtype.kind == "f"), name


@given(logs())
@settings(max_examples=40, deadline=None)
def test_any_valid_sets_are_scored_within_zero_and_one(pair):
    for profile in ("paper", "deepluq"):
        options = ScoreSettings(profile=profile, resamples=10)
        result = score_logs(pair[0], {"m": pair[1]}, settings=options)
        found = result.mutants[0]
        told = [*found.obj_ms.values(), *found.obj_ms_macro.values(), *found.img_p.values()]
        if profile == "paper":
            told += [
                found.ms_iou,
                *found.rates.values(),
                *(v for row in found.ua.values() for v in row.values()),
            ]
            told += [*result.objects.score.ravel(), *result.objects.original.ravel(), *result.objects.rate]
        values = np.array(told)
        values = values[~np.isnan(values)]
        assert ((values >= 0) & (values <= 1)).all()


@given(logs())
@settings(max_examples=40, deadline=None)
def test_every_detection_is_counted_once(pair):
    original, mutant = pair
    table = table_of(original, mutant)
    counts = [int(table.count[table.kind == number].sum()) for number in range(3)]
    assert counts[0] + counts[1] == len(original.labels)
    assert counts[0] + counts[2] == len(mutant.labels)
    assert table.seen.sum() == table.count.sum()  # at most one of an object in a repetition


def _with_area(found):
    return Detections(found.boxes + np.array([0, 0, 1, 1]), found.labels, found.scores, found.probs)


@given(logs())
@settings(max_examples=30, deadline=None)
def test_a_model_against_itself_changes_nothing(pair):
    # a box without area overlaps nothing, not even itself
    cells = [[_with_area(found) for found in repetitions] for _, repetitions in pair[0]]
    original = DetectionLog.of(pair[0].images, cells)
    table = table_of(original, original)
    assert (table.kind == 0).all()
    assert (table.iou == 1.0).all()
    assert np.nan_to_num(table.score[:, 1:3]).max(initial=0.0) < 1e-12


def test_canonical_order_breaks_ties_by_class_rows(scene, one_image):
    rows = ([0.6, 0.3, 0.1], [0.6, 0.1, 0.3])
    one = one_image(scene((SQUARE, 0, rows[0]), (SQUARE, 0, rows[1])))
    other = one_image(scene((SQUARE, 0, rows[1]), (SQUARE, 0, rows[0])))
    assert np.array_equal(canonical(one).probs, canonical(other).probs)
