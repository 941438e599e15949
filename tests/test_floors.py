"""Every room keeps to its floor: what it imports says so."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "app"
GROUND = {
    "records",
    "errors",
    "tables",
    "faults",
    "interrupts",
    "durable",
    "detections",
    "runs",
    "writer",
    "lineage",
    "job",
    "progress",
    "images",
    "samples",
    "workplaces",
    "array_files",
    "machine",
    "visible",
    "limits",
    "import_path",
    "measures",
}
NUMERIC = {"stats", "scoring", "estimation", "diagnosis", "integrity", "comparison"}
FLOOR_1 = {"subjects", "inference", "mutation", "reporting", "report"}
DOOR = {"__main__", "config", "launch", "sweep", "complaints", "command_line"}
HISTORY = {"tracking", "pages", "database", "patience"}
HYDRA = {"hydra", "omegaconf"}
ASKED = {
    "scoring": {"stats", "diagnosis", "measures"},
    "estimation": {"stats", "measures"},
    "diagnosis": {"stats", "measures"},
    "integrity": {"images", "samples", "machine", "measures"},
    "comparison": {"stats", "scoring", "diagnosis", "measures"},
}
"""Rooms and ground files that a numeric room asks beside its own: `stats` lies below all others and asks none; mutants
are scored by their diagnosis too; a comparison repeats tests and scores of others."""
NEIGHBOURS = {"inference": {"mutation"}, "reporting": {"report"}}
"""Rooms of the same floor that a room may ask: `reporting` holds the pages that are not yet made of blocks."""
EVERYWHERE = {"numpy", "scipy"}
INSIDE_FUNCTIONS = {"sklearn", "hotcoco", "pyarrow", "pandas", "faiss"}

# A room that reads what files state about boxes; yaml where a data set keeps its names in such a file.
NUMERIC |= {"annotations"}
ASKED["diagnosis"] = ASKED.get("diagnosis", set()) | {"annotations"}
INSIDE_FUNCTIONS |= {"yaml"}


@dataclass(frozen=True)
class Import:
    """One import statement's module."""

    file: str
    line: int
    module: str
    """Dotted; of `from app.x import y`, app.x.y where that is a module, else app.x."""
    at_top: bool
    """Whether it runs when the file is imported."""

    @property
    def library(self) -> str:
        return self.module.partition(".")[0]

    @property
    def room(self) -> str | None:
        """The room or ground file of ours; None for libraries."""
        parts = self.module.split(".")
        return (parts[1] if len(parts) > 1 else "__init__") if parts[0] == "app" else None

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def imports_of(path: Path) -> list[Import]:
    return list(_walk(ast.parse(path.read_text()), str(path.relative_to(SOURCE)), at_top=True))


def _walk(node: ast.AST, file: str, *, at_top: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(file, child.lineno, each.name, at_top) for each in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{file}:{child.lineno}: relative imports hide the room"
            for each in child.names:
                whole = f"{child.module}.{each.name}"
                ours = SOURCE.parent.joinpath(*whole.split("."))
                module = whole if ours.is_dir() or ours.with_suffix(".py").exists() else str(child.module)
                yield Import(file, child.lineno, module, at_top)
        elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(child, file, at_top=at_top and not function)


FILES = sorted(SOURCE.rglob("*.py"))


@cache
def imports() -> list[Import]:
    return [each for path in FILES for each in imports_of(path)]


def place_of(each: Import) -> str:
    """The room of a file, or its own name if it stands outside the rooms."""
    return each.file.split("/")[0].removesuffix(".py")


def third_party(each: Import) -> bool:
    return each.room is None and each.library not in sys.stdlib_module_names


def said(found: list[Import]) -> str:
    return "\n".join(map(str, found))


def test_every_file_has_a_known_place():
    known = GROUND | NUMERIC | FLOOR_1 | DOOR | HISTORY | {"tasks", "__init__"}
    places = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES}
    assert places <= known, f"new rooms or files: {sorted(places - known)}; give them a floor here"
    assert {"scoring", "diagnosis", "subjects", "inference", "tasks"} <= places


@pytest.mark.parametrize("room", sorted(NUMERIC))
def test_numeric_rooms_know_only_the_ground_and_numbers(room):
    libraries = EVERYWHERE | ({"PIL"} if room == "integrity" else set())
    wrong = []
    for each in imports():
        if place_of(each) != room:
            continue
        if each.room is not None:
            allowed = each.room in {
                room,
                "records",
                "errors",
                "detections",
                "tables",
                "limits",
                *ASKED.get(room, ()),
            }
        else:
            lazily = not each.at_top and each.library in INSIDE_FUNCTIONS
            allowed = not third_party(each) or each.library in libraries or lazily
        if not allowed:
            wrong.append(each)
    assert not wrong, said(wrong)


def test_statistics_rest_on_numpy_and_scipy_alone():
    wrong = [
        each
        for each in imports()
        if place_of(each) == "stats"
        and (each.room not in {None, "stats"} or (third_party(each) and each.library not in EVERYWHERE))
    ]
    assert not wrong, said(wrong)


@pytest.mark.parametrize("room", sorted(FLOOR_1))
def test_rooms_of_a_floor_leave_each_other_alone(room):
    neighbours = FLOOR_1 - {room} - NEIGHBOURS.get(room, set())
    above = DOOR | HISTORY | {"tasks"}
    wrong = [each for each in imports() if place_of(each) == room and each.room in neighbours | above]
    wrong += [each for each in imports() if place_of(each) == room and each.library in HYDRA | {"mlflow"}]
    assert not wrong, said(wrong)


def test_reports_show_numbers_and_compute_none():
    """No statistics in the room of reports; drawing and templates have a file each."""
    homes = {"matplotlib": {"report/png.py"}, "jinja2": {"report/render.py"}}
    wrong = []
    for each in (each for each in imports() if place_of(each) == "report" and third_party(each)):
        lazily = not each.at_top and each.library in {"pandas", "pyarrow"}
        plain = each.library in {"numpy", "markupsafe", "PIL"}
        if not (plain or lazily or each.file in homes.get(each.library, ())):
            wrong.append(each)
    assert not wrong, said(wrong)


def test_only_the_door_knows_hydra():
    wrong = [each for each in imports() if each.library in HYDRA and place_of(each) not in DOOR]
    assert not wrong, said(wrong)


def test_only_tracking_knows_mlflow():
    wrong = [each for each in imports() if each.library == "mlflow" and each.file != "tracking.py"]
    wrong += [each for each in imports() if each.library == "mlflow" and each.at_top]
    assert not wrong, said(wrong)
    assert '"mlflow"' in (SOURCE / "tracking.py").read_text()  # imported by name, when first used


def test_the_ground_rests_on_nothing():
    wrong = [
        each
        for each in imports()
        if place_of(each) in GROUND
        and (
            each.room not in GROUND | {None, "__init__"}
            or (
                third_party(each)
                and each.library != "numpy"
                and not (each.library == "PIL" and each.file in {"images.py", "samples.py"})
                and not (each.library == "rich" and not each.at_top)
                and not (each.library == "pyarrow" and place_of(each) == "tables" and not each.at_top)
            )
        )
    ]
    assert not wrong, said(wrong)


def test_tables_are_read_and_written_in_one_place():
    wrong = [each for each in imports() if each.module == "csv" and place_of(each) != "tables"]
    assert not wrong, said(wrong)
    for path in FILES:
        text = path.read_text()
        assert not any(call in text for call in (".read_csv(", ".to_csv(", ".read_parquet(")), path


def test_nothing_below_imports_a_task():
    wrong = [each for each in imports() if each.room == "tasks" and place_of(each) not in {"tasks", "sweep"}]
    assert not wrong, said(wrong)


@pytest.mark.parametrize(
    "relative", ["from app.subjects import Model\n", "import torch\n", "import pandas\n"]
)
def test_the_walk_sees_an_import(relative, tmp_path):
    def within():
        return list(_walk(ast.parse(relative), "scoring/x.py", at_top=True))

    assert [each.module for each in within()] == [relative.split()[1]]
    hidden = ast.parse("def f():\n    " + relative)
    assert [each.at_top for each in _walk(hidden, "scoring/x.py", at_top=True)] == [False]


def test_numbers_start_without_the_machinery():
    """Importing torch costs 4 CPU seconds, Lightning 10, MLflow 3: whoever wants numbers does not pay."""
    rooms = ", ".join(f"app.{room}" for room in sorted(NUMERIC) if (SOURCE / room / "__init__.py").exists())
    heavy = ("torch", "hydra", "omegaconf", "mlflow", "pandas", "sklearn", "matplotlib", "pytorch_lightning")
    code = f"import sys, {rooms}; print(*(name for name in {heavy} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
