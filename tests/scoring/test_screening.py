import numpy as np
import pytest

from app.records import Predictions
from app.scoring.screening import screen
from app.scoring.verdict import Verdict

LABELS = np.array([0, 1, 1])


def predictions(*rows, confidence=0.5, shift=1.0):
    top1 = np.array(rows, dtype=np.int32)
    return Predictions(
        top1, np.full(top1.shape, confidence, np.float32), np.full(top1.shape, shift, np.float32)
    )


ORIGINAL = predictions([0, 1, 0], shift=0.0)


def excluded(mutants, **options):
    return [mutant.excluded for mutant in screen(ORIGINAL, mutants, LABELS, **options).mutants]


def test_invalid():
    mutants = [None, predictions([0, -1, 0]), predictions([0, 0, 0])]
    found = screen(ORIGINAL, mutants, LABELS, reasons=[None, None, "the layer has no weight"])
    assert [each.excluded for each in found.mutants] == [Verdict.INVALID] * 3
    assert [each.reason for each in found.mutants] == [
        "it gave no outcomes",
        "1 of 3 outputs are not finite",
        "the layer has no weight",
    ]
    assert not found.scored.any()
    assert not found.valid.any()
    assert not found.discordance.lost.any()


def test_equivalent_needs_the_suite_and_the_probe():
    still, moving = predictions([0, 1, 0], shift=1e-5), predictions([0, 1, 0], shift=2e-5, confidence=0.6)
    assert excluded([still, still, still, moving], probe_shifts=[None, 0.0, 1e-3, 0.0]) == [
        Verdict.EQUIVALENT,
        Verdict.EQUIVALENT,
        None,
        None,
    ]
    assert excluded([still], probe_shifts=[float("nan")]) == [Verdict.EQUIVALENT]


def test_duplicates_name_the_first_mutant_with_their_outputs():
    same, surer = predictions([0, 0, 0]), predictions([0, 0, 0], confidence=0.6)
    twice = predictions([0, 0, 0], [0, 0, 0])
    found = screen(ORIGINAL, [None, same, surer, same, twice, same], LABELS).mutants
    assert [each.twin for each in found] == [None, None, None, 1, None, 1]
    assert [each.excluded for each in found[3:]] == [Verdict.DUPLICATE, None, Verdict.DUPLICATE]


def test_the_shift_of_equivalent_mutants_makes_no_duplicates():
    still = predictions([0, 1, 0], shift=0.0)
    assert excluded([still, still]) == [Verdict.EQUIVALENT, Verdict.EQUIVALENT]


def test_accuracy_is_the_mean_over_repetitions():
    assert screen(ORIGINAL, [predictions([0, 1, 1], [1, 0, 1])], LABELS).mutants[0].accuracy == pytest.approx(
        4 / 6
    )


def test_mutants_may_come_from_a_generator():
    stream = (predictions(top1) for top1 in ([0, 1, 1], [1, 1, 1]))
    assert screen(ORIGINAL, stream, LABELS, reasons=[None, None]).discordance.lost.tolist() == [
        [0, 0, 0],
        [1, 0, 0],
    ]


@pytest.mark.parametrize("name", ["reasons", "probe_shifts"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_one_reason_and_one_probe_shift_a_mutant(name, count):
    with pytest.raises(ValueError, match=name):
        screen(ORIGINAL, [predictions([0, 1, 1]), None], LABELS, **{name: [None] * count})
