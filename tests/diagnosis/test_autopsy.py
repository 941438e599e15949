import numpy as np
import pytest

from app.diagnosis import LeakageCounts, QualityCounts, diagnose
from app.diagnosis.recommendations import _ADVICE
from app.errors import UserError

from .models import names, sound_model


def causes(autopsy):
    return [each.cause_type for each in autopsy.findings]


@pytest.fixture(scope="module")
def model():
    return sound_model(np.random.default_rng(0), 600, 5, sharp=8)


@pytest.fixture(scope="module")
def sound(model):
    rows, labels, embeddings = model
    return diagnose(
        rows,
        labels,
        names(5),
        embeddings=embeddings,
        train_accuracy=0.99,
        quality_counts=QualityCounts(600),
        leakage_counts=LeakageCounts(600, 0),
        resamples=100,
    )


def test_a_sound_model_is_healthy(sound):
    assert causes(sound) == []
    assert (sound.health.label, sound.health.reasons) == ("healthy", ())
    assert sound.score.overall > 90
    assert sound.not_applicable == {}
    assert sound.picture.points.shape == (600, 2)
    assert sound.similarity.shape == (5, 5)
    assert sound.slices


def test_headline_numbers_agree_with_scikit_learn(model, sound):
    from sklearn import metrics as oracle

    rows, labels, _ = model
    top1 = rows.argmax(axis=1)
    precision, recall, f1, _ = oracle.precision_recall_fscore_support(labels, top1, average="macro")
    expected = {
        "accuracy": oracle.accuracy_score(labels, top1),
        "balanced_accuracy": oracle.balanced_accuracy_score(labels, top1),
        "macro_precision": precision,
        "macro_recall": recall,
        "macro_f1": f1,
        "weighted_precision": oracle.precision_score(labels, top1, average="weighted"),
        "weighted_recall": oracle.recall_score(labels, top1, average="weighted"),
        "weighted_f1": oracle.f1_score(labels, top1, average="weighted"),
        "top_3_accuracy": oracle.top_k_accuracy_score(labels, rows, k=3),
        "log_loss": oracle.log_loss(labels, rows),
    }
    for name, value in expected.items():
        assert sound.metrics[name].value == pytest.approx(value), name
    assert "top_5_accuracy" not in sound.metrics
    for name, each in sound.metrics.items():
        assert each.low <= each.value <= each.high, name
    assert [each.recall.value for each in sound.classes] == pytest.approx(
        oracle.recall_score(labels, top1, average=None)
    )
    assert sum(each.count for each in sound.confused) == (top1 != labels).sum()
    rates = [each.rate for each in sound.confused]
    assert rates == sorted(rates, reverse=True)


def test_equal_arguments_give_equal_results(model):
    rows, labels, embeddings = model
    first, again = (
        diagnose(rows, labels, names(5), embeddings=embeddings, resamples=50, seed=3) for _ in range(2)
    )
    assert first.metrics == again.metrics
    assert first.temperature == again.temperature
    assert first.slices == again.slices
    assert diagnose(rows, labels, names(5), resamples=50, seed=4).metrics["ece"] != first.metrics["ece"]


def test_with_columns_in_the_wrong_order_only_the_order_is_named(model):
    rows, labels, embeddings = model
    found = diagnose(rows[:, [1, 2, 0, 3, 4]], labels, names(5), embeddings=embeddings, resamples=10)
    assert causes(found) == ["class_order_mismatch"]
    assert found.health.label == "unhealthy"
    assert "class0 -> class2" in found.findings[0].recommendations[0]
    assert found.class_order.reordered_accuracy == pytest.approx((rows.argmax(axis=1) == labels).mean())


def test_each_planted_fault_is_named(model):
    rows, labels, _ = model
    rng = np.random.default_rng(1)
    kept = (labels != 3) | (rng.random(600) < 0.1)
    wrong = rng.random(600) < 0.1
    noisy = np.where(wrong, (labels + rng.integers(1, 5, 600)) % 5, labels)
    flipped = np.where(rng.random(600) < 0.3, rng.integers(5, size=600), labels)
    weak = np.full((600, 5), 0.18) + 0.1 * np.eye(5)[rng.integers(5, size=600)]
    faults = {
        "class_imbalance": {"probs": rows[kept], "labels": labels[kept]},
        "label_noise": {"labels": noisy},
        "underfitting": {"probs": weak},
        "overfitting": {"labels": flipped, "train_accuracy": 1.0},
        "leakage": {"leakage_counts": LeakageCounts(600, 60)},
        "data_quality": {"quality_counts": QualityCounts(600, unreadable=1)},
    }
    for cause, fault in faults.items():
        found = diagnose(**({"probs": rows, "labels": labels, "classes": names(5), "resamples": 10} | fault))
        assert cause in causes(found), cause
        finding = next(each for each in found.findings if each.cause_type == cause)
        assert finding.recommendations
        assert finding.evidence
        assert 0 < finding.confidence <= 1
        assert 0 <= finding.impact <= 1


def test_a_class_without_cases_is_named():
    rows, labels, _ = sound_model(np.random.default_rng(2), 300, 4, sharp=8)
    kept = labels != 2
    found = diagnose(rows[kept], labels[kept], names(4), resamples=20)
    finding = next(each for each in found.findings if each.cause_type == "class_imbalance")
    assert finding.affected == ("class2",)
    assert "there are none" in finding.recommendations[0]
    assert np.isnan(found.classes[2].recall.value)
    assert np.isfinite(found.metrics["macro_f1"].low)


def test_dropped_rows_keep_the_numbers_of_the_others(model):
    rows, labels, embeddings = (np.copy(each) for each in model)
    rows[[0, 7, 100]] = np.nan
    labels[300] = (rows[300].argmax() + 1) % 5
    rows[300] = 0.01 / 4
    rows[300, (labels[300] + 1) % 5] = 0.99
    found = diagnose(rows, labels, names(5), embeddings=embeddings, on_invalid="drop", resamples=10)
    assert found.probabilities.dropped == (0, 7, 100)
    assert 300 in [each.case for each in found.examples.shown if each.kind == "confident_error"]
    assert 300 in [suspect.case for suspect in found.label_noise.suspects]
    for each in found.examples.shown:
        assert (each.label, each.confidence) == (labels[each.case], rows[each.case].max())
    cases = sorted(case for each in found.slices for case in each.cases)
    assert cases == found.picture.cases.tolist() == [i for i in range(600) if i not in (0, 7, 100)]
    with pytest.raises(UserError, match="rows 0, 7, 100"):
        diagnose(rows, labels, names(5))


def test_embeddings_of_some_cases(model):
    rows, labels, embeddings = model
    some = np.arange(0, 600, 3)
    found = diagnose(rows, labels, names(5), embeddings=embeddings[some], embedding_cases=some, resamples=10)
    assert found.picture.cases.tolist() == some.tolist()
    with pytest.raises(UserError, match="different row numbers"):
        diagnose(rows, labels, names(5), embeddings=embeddings[:2], embedding_cases=[1, 1])
    with pytest.raises(UserError, match=r"0\.\.599"):
        diagnose(rows, labels, names(5), embeddings=embeddings[:2], embedding_cases=[1, 600])
    with pytest.raises(UserError, match=r"\(600, D\)"):
        diagnose(rows, labels, names(5), embeddings=embeddings[:2])
    with pytest.raises(UserError, match="pca, tsne"):
        diagnose(rows, labels, names(5), embeddings=embeddings, picture="umap")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"profile": "mine"}, "profile must be one of original, assay"),
        ({"train_accuracy": 1.2}, "from 0 to 1"),
        ({"weights": {"luck": 1}}, "luck"),
        ({"resamples": 0}, "at least 1"),
    ],
)
def test_bad_options_are_one_line(model, option, words):
    rows, labels, _ = model
    with pytest.raises(UserError, match=words) as caught:
        diagnose(rows, labels, names(5), **option)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cases", [1, 2, 3])
def test_very_few_cases_and_one_class(cases):
    rows = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])[:cases]
    found = diagnose(rows, np.zeros(cases, dtype=int), ["a", "b"], embeddings=rows, resamples=5)
    assert found.metrics["accuracy"].value == (1 if cases < 3 else pytest.approx(2 / 3))
    assert causes(found) == ["class_imbalance"]


def test_every_cause_has_advice_that_names_its_numbers():
    assert len(_ADVICE) == 13


def test_performance_may_be_weighted_otherwise(model):
    rows, labels, _ = model
    only = dict.fromkeys(("class_balance", "confusion", "confidence_quality", "representation"), 0)
    found = diagnose(rows, labels, names(5), weights=only, resamples=5)
    assert found.score.overall == found.score.sub_scores["performance"]
