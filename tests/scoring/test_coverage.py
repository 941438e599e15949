from app.scoring.coverage import signal_coverage
from app.scoring.thresholds import SIGNALS, threshold_verdict

STILL = dict.fromkeys(SIGNALS, 0.0)


def test_by_hand():
    verdicts = [
        threshold_verdict(STILL | {"accuracy_drop": 0.5}),
        threshold_verdict(STILL | {"accuracy_drop": 0.5, "recall_drop": 0.5}),
        threshold_verdict(STILL | {"ece_rise": float("nan")}),
        threshold_verdict(None),
        threshold_verdict(STILL | {"recall_drop": 0.5}),
    ]
    found = signal_coverage(["a", "a", "a", "a", "b"], ["weight"] * 5, verdicts)
    cells = {(each.layer, each.signal): each for each in found}
    assert len(found) == 2 * len(SIGNALS)
    accuracy, recall, ece = (cells["a", signal] for signal in ("accuracy_drop", "recall_drop", "ece_rise"))
    assert (accuracy.fired, accuracy.below, accuracy.unmeasured, accuracy.only_killer) == (2, 1, 1, 1)
    assert (recall.fired, recall.below, recall.unmeasured, recall.only_killer) == (1, 2, 1, 0)
    assert (ece.fired, ece.below, ece.unmeasured, ece.only_killer) == (0, 2, 2, 0)
    assert cells["b", "recall_drop"].only_killer == 1


def test_kinds_of_one_layer_are_apart_and_nothing_is_nothing():
    found = signal_coverage(["a", "a"], ["weight", "module"], [threshold_verdict(STILL)] * 2)
    assert [(each.kind, each.below) for each in found if each.signal == "accuracy_drop"] == [
        ("weight", 1),
        ("module", 1),
    ]
    assert signal_coverage([], [], []) == ()
