"""Operational accuracy: estimates from few labels with honest intervals, and the failures found on the way.

An estimator picks the cases to label and turns their outcomes into an estimate:

    >>> import numpy as np
    >>> from app.estimation import Adaptive, ArrayOracle, Population
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.beta(8, 1, 2000)
    >>> failures = rng.random(2000) > confidence
    >>> population = Population("demo", np.arange(2000).astype(str), {"confidence": confidence})
    >>> estimate = Adaptive().run(population, ArrayOracle(failures), budget=100, rng=np.random.default_rng(1))
    >>> estimate.cost
    100
    >>> estimate.interval(0.95).covers(1 - failures.mean())
    True
"""

from app.estimation.adaptive import Adaptive
from app.estimation.betting import SequenceInterval
from app.estimation.cross_entropy import CES
from app.estimation.deepest import DeepEST
from app.estimation.estimate import Estimate, Estimator, Trace
from app.estimation.intervals import DesignInterval, ExactInterval
from app.estimation.lure import LURE
from app.estimation.oracle import ArrayOracle, LabelsNeeded, Ledger, Oracle, PartialOracle, Reason
from app.estimation.population import Population
from app.estimation.simple import SRSWOR, SRSWR, ModelAssistedSRS
from app.estimation.stratified import CSS, StratifiedNeyman
from app.stats import Interval
from app.stats.confidence_sequences import Bets

__all__ = [
    "CES",
    "CSS",
    "LURE",
    "SRSWOR",
    "SRSWR",
    "Adaptive",
    "ArrayOracle",
    "Bets",
    "DeepEST",
    "DesignInterval",
    "Estimate",
    "Estimator",
    "ExactInterval",
    "Interval",
    "LabelsNeeded",
    "Ledger",
    "ModelAssistedSRS",
    "Oracle",
    "PartialOracle",
    "Population",
    "Reason",
    "SequenceInterval",
    "StratifiedNeyman",
    "Trace",
]
