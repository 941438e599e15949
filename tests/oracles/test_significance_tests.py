"""Adjusted p-values and McNemar's exact test, as statsmodels computes them."""

import numpy as np
import pytest

from app.stats.multiplicity import benjamini_hochberg, holm
from app.stats.paired_tests import mcnemar_two_sided

pytestmark = pytest.mark.oracles


@pytest.mark.parametrize(("adjust", "method"), [(benjamini_hochberg, "fdr_bh"), (holm, "holm")])
def test_adjusted_p_values(adjust, method):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    rng = np.random.default_rng(0)
    for size in (1, 2, 9, 240):
        p_values = rng.choice([0.0, 0.01, 1.0, *rng.random(9) ** 3], size=size)
        expected = multitest.multipletests(p_values, method=method)[1]
        np.testing.assert_allclose(adjust(p_values), expected, rtol=1e-12)


def test_mcnemar():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for lost in (0, 1, 5, 31, 400):
        for gained in (0, 1, 6, 31, 380):
            expected = tables.mcnemar([[50, lost], [gained, 9]], exact=True).pvalue
            assert mcnemar_two_sided(lost, gained) == pytest.approx(expected, rel=1e-9)
