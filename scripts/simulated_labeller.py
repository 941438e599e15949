"""Fills in a `to_label.csv` as a person would, from the true classes of the embedded images.

    python -m app +experiment=estimate_labelling output=out/field
    python scripts/simulated_labeller.py out/field/to_label.csv
    python -m app +experiment=estimate_labelling output=out/field

The last two lines repeat until the estimate is there. With `--most 10` the labeller stops after ten cases: a wave is
unfinished then, and only its rest is asked for.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from app.subjects.fashion import fashion


def fill(table: Path, most: int | None = None) -> int:
    """Writes the true classes of cases without a label into a table; returns how many.

    Args:
        table: the `to_label.csv`.
        most: cases to label; None for all.
    """
    data = fashion()
    true = {path: data.class_names[label] for path, label in zip(data.paths, data.labels, strict=True)}
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    filled = 0
    for row in rows:
        if not row["label"] and (most is None or filled < most):
            row["label"] = true[row["path"]]
            filled += 1
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0] if rows else ["path", "label"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return filled


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Fill in the to_label.csv that python -m app +experiment=estimate_labelling wrote."
    )
    parser.add_argument("table", type=Path)
    parser.add_argument("--most", type=int, default=None, help="stop after so many cases")
    given = parser.parse_args()
    if not given.table.is_file():
        parser.error(f"{given.table} does not exist: python -m app +experiment=estimate_labelling writes one")
    print(f"{fill(given.table, given.most)} labels given in {given.table}")


if __name__ == "__main__":
    main()
