"""The PNG files of a mutation report."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from PIL import Image

from app.report import png
from app.report.charts import Spec
from app.report.pages.mutate import Report
from app.report.pages.mutate.charts import curves, heat_maps, score_bars
from tests.report.campaigns import changed

Builder = Callable[..., Report]


def axes_of(*specs: Spec) -> list[Axes]:
    """What is drawn into the file of these charts, before it is pixels."""
    return list(png._figure(list(specs)).axes)


def labels(axes: Axes) -> list[str]:
    return [t.get_text() for t in axes.get_yticklabels()]


def test_bars_stand_weakest_first_at_their_scores(make_report: Builder) -> None:
    report = make_report(per_operator=8)
    [axes] = axes_of(score_bars(report))
    scores = {o.operator: o.mutation_score for o in report.result.by_operator}
    drawn = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]  # bars are rectangles
    assert drawn == [scores[name] for name in labels(axes) if scores[name] is not None]
    assert drawn == sorted(drawn)
    low, high = axes.get_ylim()
    assert low > high, "the first row is on top"


def test_the_heat_map_numbers_every_cell(make_report: Builder) -> None:
    report = make_report(per_operator=8)
    layers, images = axes_of(*heat_maps(report))
    assert len(layers.patches) + len(images.patches) == len(report.result.by_layer)
    assert len(layers.texts) - 1 == len(layers.patches), "a number a cell, and the subtitle"
    assert labels(images) == ["(input)"]
    one = next(c for c in report.result.by_layer if c.mutation_score == 0.5 and c.layer != "(input)")
    assert "50" in [t.get_text() for t in layers.texts]
    assert one.layer in labels(layers)


def test_the_curve_runs_through_the_effects(make_report: Builder) -> None:
    report = make_report()
    spec = curves(report.result.mutants)
    assert spec is not None
    [axes] = axes_of(spec)
    lines = {line.get_label(): line for line in axes.lines}
    effects = {x.params["rate"]: x.effect for x in report.result.mutants[::-1] if x.operator == "mc_dropout"}
    rates = [0.1, 0.2, 0.3, 0.4, 0.5]
    assert list(lines["mc_dropout"].get_xdata()) == rates  # type: ignore[arg-type]  # an array
    assert list(lines["mc_dropout"].get_ydata()) == pytest.approx([effects[rate] or 0.0 for rate in rates])  # type: ignore[arg-type]
    ticks = zip(axes.get_yticks(), labels(axes), strict=True)
    assert all(100 * value == pytest.approx(float(shown.replace("−", "-"))) for value, shown in ticks)


@pytest.mark.parametrize("layers", [0, 3])
def test_empty_campaigns_have_figures(make_report: Builder, layers: int) -> None:
    report = make_report(per_operator=0, layers=layers)
    assert Image.open(io.BytesIO(png.png(score_bars(report)))).size[0] > 300
    assert heat_maps(report) == ()
    assert curves(report.result.mutants) is None


def test_operators_without_a_score_say_so(make_report: Builder) -> None:
    report = make_report(per_operator=1)
    none = tuple(replace(o, mutation_score=None, mutation_score_ci=None) for o in report.result.by_operator)
    [axes] = axes_of(score_bars(changed(report, by_operator=none)))
    said = [t.get_text() for t in axes.texts if t.get_text().startswith("none")]
    assert said == ["none could be judged"] * len(none)
    assert not axes.patches


def test_equal_figures_are_equal_files(make_report: Builder, tmp_path: Path) -> None:
    report = make_report(per_operator=3, layers=3)
    one = png.write_png(heat_maps(report), tmp_path / "a.png")
    two = png.write_png(heat_maps(report), tmp_path / "b.png")
    assert one.read_bytes() == two.read_bytes()
    assert b"Software" not in one.read_bytes()
    other = png.write_png(heat_maps(make_report(per_operator=3, layers=3, seed=1)), tmp_path / "c.png")
    assert other.read_bytes() != one.read_bytes()


def test_no_global_state_of_matplotlib_is_touched() -> None:
    code = "import sys, app.report.png; print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
