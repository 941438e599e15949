import numpy as np
import pytest

from app.detections import DetectionLog, Detections
from app.errors import UserError
from app.scoring.detection import DetectionTree, ScoreSettings, Strength, score_logs

SQUARE, FAR = [0, 0, 100, 100], [300, 300, 340, 340]
QUICK = ScoreSettings(resamples=50)


def noisy(rng, images, repetitions, chance, scene):
    """Each repetition of each image loses its object with some chance."""
    there, gone = scene((SQUARE, 1)), scene()
    lost = rng.random((images, repetitions)) < chance
    return DetectionLog.of(
        [f"i{index}" for index in range(images)], [[gone if x else there for x in row] for row in lost]
    )


def steady(images, repetitions, scene):
    return DetectionLog.of(
        [f"i{index}" for index in range(images)], [[scene((SQUARE, 1))] * repetitions] * images
    )


def test_scores_rise_with_the_rate_and_the_trend_says_so(scene):
    rng = np.random.default_rng(0)
    rates = (0.1, 0.2, 0.4, 0.6)
    mutants = {f"drop_{rate}": noisy(rng, 20, 10, rate, scene) for rate in rates}
    result = score_logs(
        steady(20, 10, scene),
        mutants,
        settings=QUICK,
        strengths={key: Strength("drop", float(key[5:])) for key in mutants},
    )
    assert [m.obj_ms["miss"] for m in result.mutants] == sorted(m.obj_ms["miss"] for m in result.mutants)
    assert result.trend[0].obj_ms_miss_spearman == 1.0
    assert [(m.rate, m.operator) for m in result.mutants] == [(rate, "drop") for rate in rates]
    for mutant in result.mutants:
        assert mutant.obj_ms_ci["miss"].low <= mutant.obj_ms["miss"] <= mutant.obj_ms_ci["miss"].high
    mean = np.mean([mutant.obj_ms["miss"] for mutant in result.mutants])
    assert result.summary.obj_ms["miss"] == pytest.approx(mean)


def test_intervals_of_obj_ms_cover(scene):
    rng = np.random.default_rng(1)
    truth, hits = 0.3, 0
    original = steady(25, 4, scene)
    for seed in range(60):
        mutant = noisy(rng, 25, 4, truth, scene)
        found = score_logs(original, {"m": mutant}, settings=ScoreSettings(resamples=200), seed=seed).mutants[
            0
        ]
        hits += found.obj_ms_ci["miss"].low <= truth <= found.obj_ms_ci["miss"].high
    assert hits >= 51  # 85 % of 60, for a nominal 95 %


def test_a_model_as_noisy_as_its_unchanged_run_is_not_killed(scene):
    rng = np.random.default_rng(2)
    killed, original = 0, steady(12, 10, scene)
    for _ in range(40):
        logs = [noisy(rng, 12, 10, 0.02, scene) for _ in range(4)]
        mutants = {str(index): log for index, log in enumerate(logs[1:])}
        found = score_logs(original, mutants, settings=ScoreSettings(resamples=1), unchanged=logs[0])
        killed += any(mutant.img_killed["mg"] for mutant in found.mutants)
    assert killed <= 2  # at most 5 % of campaigns


def test_mutants_that_change_nothing_are_never_killed(scene):
    original = steady(5, 10, scene)
    result = score_logs(original, {"a": original, "b": original}, settings=QUICK, unchanged=original)
    assert result.summary.img_ms == {"miss": 0.0, "ghost": 0.0, "mg": 0.0}
    assert result.summary.obj_ms == {"miss": 0.0, "ghost": 0.0, "mg": 0.0}
    assert not result.kills.any()
    assert result.mutants[0].obj_p == {"miss": 1.0, "ghost": 1.0, "mg": 1.0}


def test_obj_ms_is_tested_against_the_unchanged_run(scene):
    original = steady(8, 4, scene)
    gone = DetectionLog.of(original.images, [[scene()] * 4] * 8)
    found = score_logs(
        original, {"gone": gone, "same": original}, settings=ScoreSettings(), unchanged=original
    )
    assert found.mutants[0].obj_p["miss"] == pytest.approx(2**-8)
    assert np.isnan(found.mutants[0].obj_p["ghost"])  # no match, no ghost: undefined
    assert found.mutants[1].obj_p["miss"] == 1.0
    without = score_logs(original, {"gone": gone}, settings=QUICK)
    assert np.isnan(without.mutants[0].obj_p["miss"])


def test_suites_are_scored_in_one_call_and_compared(scene):
    names = ["a", "b", "c", "d"]
    there, gone = scene((SQUARE, 1)), scene()
    original = DetectionLog.of(names, [[there] * 10] * 4)
    mutants = {
        str(index): DetectionLog.of(
            names, [[gone] * 10, [gone] * index + [there] * (10 - index), [there] * 10, [there] * 10]
        )
        for index in range(1, 7)
    }
    suites = {"strong": ["a", "b"], "weak": ["c", "d"], "mixed": ["a", "c"]}
    result = score_logs(original, mutants, settings=ScoreSettings(resamples=300), suites=suites)
    by_name = {suite.name: suite for suite in result.suites}
    assert by_name["strong"].img_ms["miss"] == 1.0
    assert by_name["strong"].killed["miss"] == tuple(mutants)
    assert (by_name["weak"].img_ms["miss"], by_name["weak"].killed["miss"], by_name["weak"].n) == (
        0.0,
        (),
        2,
    )
    assert by_name["mixed"].obj_ms["miss"] == 0.5
    alone = score_logs(original.take(["a", "b"]), mutants, settings=ScoreSettings(resamples=300))
    assert by_name["strong"].obj_ms == alone.summary.obj_ms
    gaps = {(gap.a, gap.b, gap.score): gap for gap in result.suite_differences}
    assert len(gaps) == 3 * 7
    one = gaps["strong", "weak", "obj_ms_miss"]
    assert one.difference == pytest.approx(np.mean([(10 + index) / 20 for index in range(1, 7)]))
    assert one.p_value == pytest.approx(2 / 2**6)  # all six mutants agree
    assert one.ci.low > 0
    assert gaps["strong", "weak", "img_ms_miss"].difference == 1.0
    assert (
        np.isnan(gaps["strong", "weak", "obj_ms_ghost"].difference)
        or gaps["strong", "weak", "obj_ms_ghost"].difference == 0
    )


def test_the_same_seed_gives_the_same_numbers_and_a_suite_with_itself_no_difference(scene):
    rng = np.random.default_rng(3)
    original, mutant = steady(6, 5, scene), noisy(rng, 6, 5, 0.3, scene)
    suites = {"one": original.images, "two": original.images}
    runs = [score_logs(original, {"m": mutant}, settings=QUICK, suites=suites, seed=7) for _ in range(2)]
    assert runs[0].summary == runs[1].summary
    assert repr(runs[0].suite_differences) == repr(runs[1].suite_differences)
    gap = next(g for g in runs[0].suite_differences if g.score == "obj_ms_miss")
    assert (gap.difference, gap.ci.low, gap.ci.high, gap.p_value) == (0, 0, 0, 1)


def test_repetitions_must_agree_unless_given(scene, one_image):
    original, shorter = one_image(scene((SQUARE, 1)), 10), one_image(scene((SQUARE, 1)), 4)
    with pytest.raises(
        UserError, match="m: image 'a' has 4 repetitions, the original 10; give the repetitions"
    ):
        score_logs(original, {"m": shorter})
    result = score_logs(original, {"m": shorter}, settings=ScoreSettings(repetitions=3, resamples=10))
    assert result.objects.seen.shape == (1, 3)
    with pytest.raises(UserError, match="m: image 'a' has 4 repetitions; 5 were asked for"):
        score_logs(original, {"m": shorter}, settings=ScoreSettings(repetitions=5))


def test_logs_that_do_not_fit_are_refused(scene, one_image):
    original = one_image(scene((SQUARE, 1)))
    two = one_image(
        Detections(np.array([[0.0, 0, 9, 9]]), np.array([1]), np.array([1.0]), np.array([[0.2, 0.8]]))
    )
    with pytest.raises(UserError, match="m: class rows have 2 numbers, the original's 3"):
        score_logs(original, {"m": two})
    with pytest.raises(UserError, match="m: class rows are sigmoid, the original's softmax_background"):
        score_logs(original, {"m": one_image(scene((SQUARE, 1)), semantics="sigmoid")})
    with pytest.raises(UserError, match="m: image 'a' has no detections"):
        score_logs(original, {"m": DetectionLog.of(["b"], [[scene()]])})
    with pytest.raises(UserError, match="suite 's': image 'x' has no saved detections"):
        score_logs(original, {"m": original}, suites={"s": ["x"]})
    with pytest.raises(UserError, match="suite 's': an image is listed twice"):
        score_logs(original, {"m": original}, suites={"s": ["a", "a"]})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"profile": "other"}, "profile must be one of paper, deepluq"),
        ({"threshold": 1.0}, "threshold must lie between 0 and 1"),
        ({"alpha": 0.0}, "alpha must lie"),
        ({"p0": 1.0}, "p0 must lie"),
        ({"level": 95}, "level must lie"),
        ({"semantics": "logits"}, "semantics must be one of"),
        ({"resamples": 0}, "resamples must be from 1 to 100,000"),
        ({"repetitions": 0}, "repetitions must be at least 1"),
        ({"profile": "deepluq", "p0": 0.1}, "profile deepluq has threshold 0.5 and p0 0.01"),
    ],
)
def test_settings_out_of_range_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        ScoreSettings(**options)


@pytest.mark.parametrize("profile", ["paper", "deepluq"])
def test_no_mutants_no_images_no_objects(scene, profile):
    settings = ScoreSettings(profile=profile, resamples=10)
    nothing = DetectionLog.of([], [])
    silent = DetectionLog.of(["a"], [[scene()] * 2])
    none = score_logs(silent, {}, settings=settings)
    assert (none.mutants, none.kills.shape) == ((), (0, 1, 3))
    assert np.isnan(none.summary.img_ms["miss"])
    empty = score_logs(nothing, {"m": nothing}, settings=settings, suites={"all": []})
    assert np.isnan(empty.mutants[0].obj_ms["miss"])
    assert empty.summary.img_ms["miss"] == 0.0
    quiet = score_logs(silent, {"m": silent}, settings=settings)
    assert np.isnan(quiet.summary.obj_ms["mg"])
    assert quiet.mutants[0].unscorable == (1 if profile == "deepluq" else 0)


def test_profile_deepluq_aggregates_its_columns(golden):
    tree = DetectionTree(golden / "c3_edges" / "preds", "mc_dropout", "toydet")
    images = tree.images()
    result = score_logs(
        tree.read("0", images),
        {"m": tree.read("0.2", images)},
        settings=ScoreSettings(profile="deepluq", resamples=10),
    )
    found, rows = result.mutants[0], result.rows[0]
    assert found.unscorable == 2
    assert found.invalid_rows == 40  # two cases, original and mutant, ten repetitions each
    assert len(result.notes) == 2
    assert found.ms_iou == pytest.approx(rows.mean("[match] iou_mean"))
    assert found.ua["ghost"]["mi"] == pytest.approx(rows.mean("[ghost] mi_diff"))
    assert found.obj_ms_macro["mg"] == pytest.approx(rows.mean("[obj_level] kill_rate_miss_ghost_mean"))
    assert found.img_killed_any["miss"] is True
    assert not result.kills[0, images.index("no_orig_but_ghosts")].any()


def test_paper_without_a_match_matches_nothing_where_the_reference_steals(golden):
    tree = DetectionTree(golden / "c3_edges" / "preds", "mc_dropout", "toydet")
    images = (
        "label_blind_hungarian",
        "hungarian_gating_trap",
        "same_box_two_labels",
        "two_ghosts_one_cluster",
    )
    table = score_logs(tree.read("0", images), {"m": tree.read("0.2", images)}, settings=QUICK).objects
    told = [[int(((table.image == i) & (table.kind == kind)).sum()) for kind in range(3)] for i in range(4)]
    assert told == [[1, 0, 1], [1, 1, 1], [2, 0, 0], [1, 0, 2]]
    assert (table.rate == 1.0).all()
