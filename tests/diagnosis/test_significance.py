from collections import Counter

import numpy as np
import pytest

from app.diagnosis.causes import Finding
from app.diagnosis.class_order import class_order
from app.diagnosis.hypotheses import Evidence
from app.diagnosis.label_noise import label_noise
from app.diagnosis.metrics import confusion
from app.diagnosis.significance import Support

from .models import names, sound_model


@pytest.mark.parametrize(("cases", "classes"), [(150, 3), (400, 10), (1500, 30), (1000, 2)])
def test_a_sound_model_gets_no_finding(cases, classes):
    models, fired = 50, Counter()
    for seed in range(models):
        rng = np.random.default_rng(seed)
        rows, labels, _ = sound_model(rng, cases, classes)
        top1, confidence = rows.argmax(axis=1), rows.max(axis=1)
        evidence = Evidence(
            confusion(top1, labels, classes),
            confidence,
            top1 == labels,
            tuple(names(classes)),
            label_noise(rows, labels, rng),
            class_order(top1, labels, classes, rng),
            train_accuracy=min(1.0, float(confidence.mean()) + 0.05),
        )
        fired.update({each.cause_type for each in evidence.findings("assay")})
    # At a rate of 1 % each, more than 3 of 50 has a chance of 0.2 %.
    assert all(count <= 3 for count in fired.values()), fired


def test_the_original_rules_do_fire_on_sound_models():
    rng = np.random.default_rng(0)
    fired = Counter()
    for _ in range(30):
        rows, labels, _ = sound_model(rng, 150, 3, sharp=9)
        top1, confidence = rows.argmax(axis=1), rows.max(axis=1)
        matrix, right = confusion(top1, labels, 3), top1 == labels
        noise, order = label_noise(rows, labels, rng), class_order(top1, labels, 3, rng)
        evidence = Evidence(matrix, confidence, right, ("a", "b", "c"), noise, order)
        for profile in ("original", "assay"):
            fired[profile] += bool(evidence.findings(profile))
    assert fired["original"] >= 5
    assert fired["assay"] <= 2


def support(matrix, **options):
    matrix = np.array(matrix)
    right = np.arange(matrix.sum()) < np.trace(matrix)
    return Support(matrix, np.full(right.size, 0.95), right, tuple(names(len(matrix))), **options)


def test_a_few_rare_cases_are_chance_and_many_are_not():
    def rare(cases):
        return Finding("class_imbalance", 0.6, {"cases": cases, "ratio_to_median": cases / 5})

    small = support(np.diag([5, 5, 5, 2]))
    assert small.keep([rare(2)]) == ()
    assert small.keep([rare(0)]) == (rare(0),)
    large = support(np.diag([50, 50, 50, 20]))
    assert len(large.keep([rare(20)])) == 1


def test_overfitting_needs_a_gap_beyond_the_interval():
    finding = Finding("overfitting", 0.6)
    few, many = ([[4, 1], [1, 4]], [[400, 100], [100, 400]])
    assert support(few, train_accuracy=0.95).keep([finding]) == ()
    assert support(many, train_accuracy=0.96).keep([finding]) == (finding,)


def test_confident_errors_must_be_more_than_announced():
    # 100 predictions at 0.95 announce 5 errors: 8 are no surprise, 20 are.
    finding = Finding("representation_problem", 0.6)
    assert support([[46, 4], [4, 46]]).keep([finding]) == ()
    assert support([[40, 10], [10, 40]]).keep([finding]) == (finding,)


def test_other_causes_pass():
    finding = Finding("underfitting", 0.6)
    assert support([[1]]).keep([finding]) == (finding,)
