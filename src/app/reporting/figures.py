"""Figures as PNG files, for other documents and for the store.

They are drawn on their own canvases: nothing of matplotlib's global state is read or changed.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from PIL import Image

from app.report.png import take_literally
from app.report.schema import write_bytes

INK, SOFT, RULE, WASH = "#1b2430", "#556070", "#cfd5dd", "#f1f3f6"
GOOD, BAD = "#2b6cad", "#c2570c"
LINES = (GOOD, BAD, "#187a63", "#8f4f86", "#7a6a12", "#56606d")
"""Colours of curves, told apart with the common kinds of colour blindness."""
STYLES = ("-", "--", ":")
ORANGES = ("#b35806", "#cf7426", "#e39146", "#f1b074", "#f8d2ab")
BLUES = ("#d8e5f2", "#b3cfe9", "#86b2dc", "#5a97cd", "#2b6cad")
SCALE = LinearSegmentedColormap.from_list("score", [*ORANGES, "#f3efe9", *BLUES])
"""From nothing noticed to all noticed, neutral at one half; the colours of the pages."""
MOST_LAYERS, MOST_CURVES = 120, 18


def save_png(figure: Figure, path: Path) -> Path:
    """Writes a figure, whole or not at all; equal figures give equal bytes.

    Raises:
        UserError: The file cannot be written.
    """
    return write_bytes(png(figure), path)


def png(figure: Figure) -> bytes:
    """A figure as a PNG file's bytes, without dates or versions in it."""
    canvas, content = FigureCanvasAgg(figure), io.BytesIO()
    take_literally(figure)
    canvas.draw()  # type: ignore[no-untyped-call]  # `savefig` lays out and draws twice, for the same pixels
    rows = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]  # matplotlib's have no types
    Image.fromarray(rows).convert("RGB").save(content, "PNG", dpi=(figure.dpi, figure.dpi))
    return content.getvalue()
