from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from app.reporting import figures
from app.reporting import mutate as m

Builder = Callable[..., m.MutateReport]


def labels(axes: object) -> list[str]:
    return [t.get_text() for t in axes.get_yticklabels()]  # type: ignore[attr-defined]


def test_bars_stand_weakest_first_at_their_scores(make_report: Builder) -> None:
    report = make_report(per_operator=8)
    axes = figures.score_by_operator(report).axes[0]
    scores = {o.operator: o.mutation_score for o in report.by_operator}
    drawn = [bar.get_width() for bar in axes.patches]
    assert drawn == [scores[name] for name in labels(axes) if scores[name] is not None]
    assert drawn == sorted(drawn)


def test_the_heat_map_numbers_every_cell(make_report: Builder) -> None:
    report = make_report(per_operator=8)
    layers, images = figures.heat_map(report).axes
    assert len(layers.patches) + len(images.patches) == len(report.by_layer)
    assert labels(images) == ["(input)"]
    one = next(c for c in report.by_layer if c.mutation_score == 0.5 and c.layer != "(input)")
    assert "50" in [t.get_text() for t in layers.texts]
    assert one.layer in labels(layers)


def test_the_curve_runs_through_the_effects(make_report: Builder) -> None:
    report = make_report()
    figure = figures.effect_over_rate(report)
    assert figure is not None
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    effects = {x.params["rate"]: x.effect for x in report.mutants[::-1] if x.operator == "mc_dropout"}
    assert list(lines["mc_dropout"].get_ydata()) == pytest.approx(
        [100 * (effects[rate] or 0.0) for rate in (0.1, 0.2, 0.3, 0.4, 0.5)]
    )


@pytest.mark.parametrize("layers", [0, 3])
def test_empty_campaigns_have_figures(make_report: Builder, layers: int) -> None:
    report = make_report(per_operator=0, layers=layers)
    for figure in (figures.score_by_operator(report), figures.heat_map(report)):
        assert Image.open(io.BytesIO(figures.png(figure))).size[0] > 300
    assert figures.effect_over_rate(report) is None


def test_operators_without_a_score_say_so(make_report: Builder) -> None:
    report = make_report(per_operator=1)
    none = tuple(replace(o, mutation_score=None, mutation_score_ci=None) for o in report.by_operator)
    axes = figures.score_by_operator(replace(report, by_operator=none)).axes[0]
    assert {t.get_text() for t in axes.texts if t.get_text().startswith("none")} == {"none could be judged"}


def test_equal_figures_are_equal_files(make_report: Builder, tmp_path: Path) -> None:
    report = make_report(per_operator=3, layers=3)
    one = figures.save_png(figures.heat_map(report), tmp_path / "a.png")
    two = figures.save_png(figures.heat_map(report), tmp_path / "b.png")
    assert one.read_bytes() == two.read_bytes()
    assert b"Software" not in one.read_bytes()


def test_names_are_drawn_as_they_are(make_report: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    report = make_report(per_operator=2, layers=2)
    usual = figures.png(figures.score_by_operator(report))
    named = [replace(each, operator=r"$\frac{x}$ \u202e") for each in report.by_operator]
    figure = figures.score_by_operator(replace(report, by_operator=tuple(named)))
    assert figures.png(figure)[:4] == b"\x89PNG"
    assert set(labels(figure.axes[0])) == {r"$\frac{x}$ \u202e"}
    monkeypatch.setattr(figures, "_take_literally", lambda _: None)
    assert figures.png(figures.score_by_operator(report)) == usual


def test_no_global_state_of_matplotlib_is_touched() -> None:
    code = "import sys, app.reporting.figures; print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
