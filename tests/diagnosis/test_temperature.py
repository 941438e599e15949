import numpy as np
import pytest
from scipy import optimize, special

from app.diagnosis import scoring_rules
from app.diagnosis.temperature import LIMITS, cross_fit, fit, scale

from .models import sound_model


@pytest.mark.parametrize("planted", [0.4, 1.0, 2.5])
def test_the_planted_temperature_is_found(planted):
    rows, labels, _ = sound_model(np.random.default_rng(0), 4000, 5, sharp=3)
    assert fit(scale(rows, 1 / planted), labels) == pytest.approx(planted, rel=0.08)


def test_equal_to_minimising_the_log_loss():
    rng = np.random.default_rng(1)
    rows, labels = special.softmax(3 * rng.normal(size=(200, 4)), axis=1), rng.integers(4, size=200)
    labels = np.where(rng.random(200) < 0.5, rows.argmax(axis=1), labels)
    found = optimize.minimize_scalar(
        lambda t: scoring_rules.log_losses(scale(rows, t), labels).mean(), bounds=(0.1, 10), method="bounded"
    )
    assert fit(rows, labels) == pytest.approx(found.x, rel=1e-3)


def test_scaling_heals_an_overconfident_model_on_held_out_cases():
    rows, labels, _ = sound_model(np.random.default_rng(2), 2000, 5, sharp=3)
    found = cross_fit(scale(rows, 1 / 3), labels, np.random.default_rng(0))
    assert found.temperature == pytest.approx(3, rel=0.15)
    assert found.ece_after < 0.03
    assert found.ece_before > 0.08
    assert found.log_loss_after < found.log_loss_before


def test_a_perfect_a_hopeless_and_a_single_case():
    rows = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert fit(rows, np.array([0, 1])) == LIMITS[0]
    assert fit(rows, np.array([1, 0])) == LIMITS[1]
    alone = cross_fit(rows[:1], np.array([0]), np.random.default_rng(0))
    assert alone.ece_after == alone.ece_before == pytest.approx(0.1)
