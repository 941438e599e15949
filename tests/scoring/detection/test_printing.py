import pytest

from app.errors import UserError
from app.scoring.detection import ScoreSettings, object_tables, score_logs


def test_one_test_case_in_words(scene, one_image):
    original = one_image(scene(([0, 0, 10, 10], 1), ([50, 0, 60, 10], 2)), 4)
    mutant = one_image(scene(([0, 0, 10, 9], 1)), scene(([0, 0, 10, 10], 1), ([80, 80, 90, 90], 0)), 3)
    scores = score_logs(original, {"m": mutant}, settings=ScoreSettings(resamples=5))
    text = object_tables(scores, "m", "a")
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["a", "under", "m", "(paper)"]
    assert ["match:", "1"] in lines
    assert ["object", "class", "seen", "rate", "iou", "vr", "ie", "mi", "var", "ps"] in lines
    first = next(line for line in lines if "####" in line)
    assert first[:8] == ["0", "1", "####", "1.0000", "0.9750", "0.0000", "0.0000", "0.0000"]
    assert next(line for line in lines if line[:3] == ["0", "0", ".###"])[3] == "0.7500"
    assert next(line for line in lines if line[:3] == ["1", "2", "####"])[5] == "-"  # a miss has no vr


def test_empty_sets_have_no_table(scene, one_image):
    nothing = one_image(scene())
    text = object_tables(score_logs(nothing, {"m": nothing}), "m", "a")
    assert text.split() == ["a", "under", "m", "(paper)", "match:", "0", "miss:", "0", "ghost:", "0"]


def test_unknown_names_are_told(scene, one_image):
    scores = score_logs(one_image(scene()), {"m": one_image(scene())})
    with pytest.raises(UserError, match="no mutant 'x' here; there are m"):
        object_tables(scores, "x", "a")
    with pytest.raises(UserError, match="no image 'x' among the 1 scored"):
        object_tables(scores, "m", "x")
