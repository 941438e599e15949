"""An estimator of ours: every k-th case in the order of confidence."""

import numpy as np

from app.estimation import DesignInterval, Estimate, Ledger, Oracle, Population, Reason


class Systematic:
    """Systematic sampling with a random start, along the cases sorted by a column.

    Every case is drawn with the same probability n/N, so the mean of the sample is unbiased. The sample holds
    all degrees of confidence in the right shares; the variance is estimated from neighbours in that order
    (successive differences, Wolter 2007, ch. 8).
    """

    name = "systematic"

    def __init__(self, column: str = "confidence") -> None:
        self.column = column

    def run(self, population: Population, oracle: Oracle, budget: int, rng: np.random.Generator) -> Estimate:
        """The estimate from `budget` labels: pick cases, ask for their outcomes, turn them into an estimate."""
        n, size = population.check_budget(budget), population.size
        order = np.argsort(population.column(self.column), kind="stable")
        picked = order[((rng.random() + np.arange(n)) * size / n).astype(int)]

        ledger = Ledger(oracle, size)
        failed = ledger.ask(picked, Reason.STRATUM)  # 1.0 a failure, 0.0 right

        value = 1 - failed.mean()
        variance = (np.diff(failed) ** 2).sum() / (2 * n * (n - 1)) * (1 - n / size)
        return Estimate.of(
            self.name, ledger, value, variance**0.5, interval_method=DesignInterval(value, variance, n)
        )
