"""Evaluation with known labels: numbers against direct computation, comparisons, curves, and the shipped options."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from app.errors import UserError
from app.estimation import CES, SRSWOR, Adaptive, ArrayOracle, DeepEST, Estimator, Population
from app.estimation.evaluation import Evaluation, KnownPopulation, Result, evaluate, generator
from app.estimation.regression import failure_curve, failure_curves
from app.estimation.tables import read_population
from tests import published_like


def made(name="p", size=300, seed=0):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 1, size)
    failures = rng.random(size) > confidence
    columns = {"confidence": confidence, "dsa": rng.gamma(2, 1, size)}
    return KnownPopulation(Population(name, np.arange(size).astype(str), columns), failures)


def test_results_equal_direct_computation():
    known = made()
    (row,) = evaluate([known], [SRSWOR()], [40], repetitions=25, seed=3, sequences=True).results
    runs = [
        SRSWOR().run(known.population, ArrayOracle(known.failures), 40, generator(3, "p", "srswor", 40, r))
        for r in range(25)
    ]
    theta = 1 - known.failures.mean()
    errors = np.array([run.value - theta for run in runs])
    assert row.mse == pytest.approx((errors**2).mean())
    assert row.bias == pytest.approx(errors.mean())
    assert row.bias_se == pytest.approx(errors.std(ddof=1) / 5)
    analytic = math.sqrt(theta * (1 - theta) / 40 * (300 - 40) / 299)
    assert row.rmse_ratio_srs == pytest.approx(math.sqrt((errors**2).mean()) / analytic)
    left_out = [math.sqrt((np.delete(errors, i) ** 2).mean()) / analytic for i in range(25)]
    jackknife = math.sqrt(24 / 25 * ((left_out - np.mean(left_out)) ** 2).sum())
    assert row.rmse_ratio_srs_se == pytest.approx(jackknife, rel=0.1)
    assert row.failures_mean == pytest.approx(np.mean([len(run.failures) for run in runs]))
    assert row.coverage == pytest.approx(np.mean([run.interval().covers(theta) for run in runs]))
    assert row.sequence_misses <= 0.2
    assert row.cost_mean == 40


def test_numbers_do_not_depend_on_what_else_is_run_or_where():
    a, b = made("a"), made("b", seed=1)
    alone = evaluate([b], [Adaptive()], [30], repetitions=4, seed=1).results[0]
    together = evaluate([a, b], [SRSWOR(), Adaptive()], [20, 30], repetitions=4, seed=1, workers=2)
    assert len(together.results) == 8
    assert (
        next(r for r in together.results if (r.subject, r.estimator, r.budget) == ("b", "adaptive", 30))
        == alone
    )


def test_what_cannot_be_run_is_skipped_with_the_reason():
    evaluation = evaluate([made()], [CES(), SRSWOR()], [20, 30], repetitions=2)
    assert [row.estimator for row in evaluation.results] == ["srswor", "srswor"]
    (skipped,) = evaluation.skipped
    assert skipped.estimator == "ces"
    assert "has none" in skipped.reason


def row(estimator, mse, found, budget=50):
    nan = math.nan
    return Result(
        "s", estimator, budget, 2, 0.9, 0.9, mse, nan, nan, 0, nan, found, 0, budget, nan, nan, nan, True, ()
    )


def test_comparisons_are_those_of_the_paper():
    evaluation = Evaluation(
        (row("a", 1.0, 6), row("b", 4.0, 3), row("c", 0.5, 9), row("a", 1, 0, 90), row("b", 2, 0, 90)), ()
    )
    pairs = {(p.budget, p.a, p.b): p for p in evaluation.comparisons()}
    assert (pairs[50, "a", "b"].precision, pairs[50, "a", "b"].failures) == (4.0, 2.0)
    assert pairs[50, "a", "b"].wins
    assert pairs[50, "b", "a"].loses
    assert pairs[90, "a", "b"].failures == 1.0
    assert evaluation.wins()["a"] == {"b": (1, 0), "c": (0, 1)}
    assert [r.budget for r in evaluation.curve("s", "a")] == [50, 90]


def test_bad_requests_are_refused():
    with pytest.raises(UserError, match="two estimators are called 'srswor'"):
        evaluate([made()], [SRSWOR(), SRSWOR()], [20])
    with pytest.raises(UserError, match="two populations are called 'p'"):
        evaluate([made(), made()], [SRSWOR()], [20])
    with pytest.raises(UserError, match="budget 300 is not allowed"):
        evaluate([made()], [SRSWOR()], [300])
    with pytest.raises(ValueError, match="at least 1"):
        evaluate([made()], [SRSWOR()], [20], repetitions=0)
    with pytest.raises(UserError, match="300 cases and"):
        KnownPopulation(made().population, np.zeros(3, dtype=bool))


def test_failure_curve_equals_scikit_learn():
    known = made(size=1500)
    for curve in failure_curves(known.population, known.failures):
        values = known.population.column(curve.variable)
        model = LogisticRegression(C=1e9, tol=1e-10, max_iter=1000).fit(values[:, None], known.failures)
        assert curve.slope == pytest.approx(model.coef_[0, 0], rel=1e-3, abs=1e-4)
        assert curve.intercept == pytest.approx(model.intercept_[0], rel=1e-3, abs=1e-3)
        assert curve.auc == pytest.approx(roc_auc_score(known.failures, values))
        assert curve.bin_rates.mean() == pytest.approx(known.failures.mean())


def test_failure_curve_of_constants_and_separable_values_is_finite():
    flat = failure_curve("x", np.ones(8), np.arange(8) < 2)
    assert flat.slope == pytest.approx(0, abs=1e-6)
    assert flat.probability == pytest.approx(np.full(101, 0.25), abs=1e-4)
    apart = failure_curve("x", np.arange(8.0), np.arange(8) > 3)
    assert np.isfinite([apart.slope, apart.intercept]).all()
    assert apart.auc == 1.0
    assert np.isnan(failure_curve("x", np.arange(3.0), np.zeros(3, bool)).auc)


OPTIONS = sorted((Path(__file__).resolve().parents[2] / "conf" / "estimators").glob("*.yaml"))


@pytest.mark.parametrize("path", OPTIONS, ids=lambda path: path.stem)
def test_every_option_builds_an_estimator_of_its_name(path):
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    config = OmegaConf.create({"target_width": None, "estimators": OmegaConf.load(path)})
    built = instantiate(config.estimators, _convert_="all")
    assert list(built) == [path.stem]
    estimator: Estimator = built[path.stem]
    assert estimator.name == path.stem
    rng = np.random.default_rng(0)
    known = made(size=80)
    columns = {**known.population.columns, "lsa": rng.normal(size=80)}
    population = Population("p", known.population.ids, columns, neurons=rng.normal(size=(80, 3)))
    assert estimator.run(population, ArrayOracle(known.failures), 20, rng).cost <= 20


@pytest.mark.parametrize(
    ("name", "estimator", "ratio", "found"),
    [
        ("CN5_MNIST", DeepEST("combined"), 0.42, 9.3),
        ("CN12_CIFAR10", DeepEST("lsa"), 1.04, 38),
        ("VGG16_CIFAR100", DeepEST(), 1.95, 128),
        ("VGG16_CIFAR10", Adaptive(), 0.68, 36),
    ],
    ids=["cn5-c", "cn12-lsa", "vgg100-cs", "vgg10-adaptive"],
)
def test_populations_like_the_published_give_like_numbers(name, estimator, ratio, found, tmp_path):
    """On the published tables themselves: 0.35 and 12.0, 0.91 and 38.0, 1.96 and 130, 0.59 and 47."""
    table = read_population(published_like.write(name, tmp_path))
    known = KnownPopulation(table.population, table.failures)
    (result,) = evaluate([known], [estimator], [200], repetitions=120).results
    assert result.rmse_ratio_srs == pytest.approx(ratio, rel=0.30)
    assert result.failures_mean == pytest.approx(found, rel=0.08)
