"""Made-up reports."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.report.pages.mutate import Report
from tests.report.campaigns import campaign


@pytest.fixture(scope="session")
def make_report() -> Callable[..., Report]:
    """The builder of made-up mutation reports."""
    return campaign
