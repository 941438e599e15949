"""Statistics that every numeric room asks: plain functions of NumPy arrays, and the one `Interval`.

    >>> from app.stats.proportions import wilson
    >>> found = wilson(171, 213)
    >>> round(found.low, 3), round(found.high, 3), found.level
    (0.744, 0.851, 0.95)
    >>> 0.8 in found
    True

- `interval`: what a confidence interval is, one or many at once
- `proportions`: intervals of a share, by Wilson, Clopper and Pearson, and for a finite population
- `effects`: intervals of paired differences, effect size of two shares
- `paired_tests`: McNemar and sign flips
- `multiplicity`: adjusted p-values of many tests
- `bootstrap`: draws of cases, and what draws of a number say
- `confidence_sequences`: intervals that hold however often one looks
- `change_points`: levels of a series
"""

from app.stats.interval import Interval

__all__ = ["Interval"]
