import pytest

from app.reporting.figures import png
from app.reporting.uamt.figures import heat_map, score_over_rate


def test_curves_run_through_the_scores(whole):
    figure = score_over_rate(whole)
    misses = figure.axes[0].lines[0]
    assert list(misses.get_xdata()) == [0.1, 0.3, 0.5]
    assert list(misses.get_ydata()) == pytest.approx([0, 100 / 6, 500 / 6])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "mc_dropout, net",
        "mc_dropblock, block 1, net",
        "mc_dropout, other",
    ]


def test_the_heat_map_numbers_every_cell(whole):
    figure = heat_map(whole)
    assert [text.get_text() for text in figure.axes[0].texts] == ["17", "33", "100"]
    assert figure.axes[2].texts[-1].get_text() == "–"


def test_no_rates_and_no_blocks_have_no_figures(make_scored, make_report, things):
    seen, log = things
    report = make_report(make_scored("net", {("mc_dropout", 0.5, None): log(seen(0), seen(1))}))
    assert score_over_rate(report) is None
    assert heat_map(report) is None


def test_equal_figures_are_equal_files(whole):
    assert png(heat_map(whole)) == png(heat_map(whole))
