"""A case study: the predictions of one or several models in a DeepLUQ tree, scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.detections import DetectionLog
from app.errors import UserError
from app.scoring.detection.image_lists import stem_of
from app.scoring.detection.names import safe_name
from app.scoring.detection.results import DetectionScores, ScoreSettings
from app.scoring.detection.scores import score_logs
from app.scoring.detection.tree import DetectionTree, TreeMutants, models_in, operators_in


def score_tree(
    root: Path,
    model: str,
    operator: str,
    *,
    dataset: str = "orig",
    settings: ScoreSettings | None = None,
    images: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    suites: Mapping[str, Sequence[str]] | None = None,
    unchanged: DetectionLog | None = None,
    seed: int = 0,
) -> DetectionScores:
    """All scores of one model's mutants under one operator, from their JSON files.

    Args:
        root: Folder that holds `experiment_results_{operator}`.
        model: Folder of the model.
        operator: `mc_dropout`, `mc_dropblock` or another one.
        dataset: Folder of the data set.
        settings: Profile, thresholds, resamples.
        images: Names of the images to score, with or without extension; None: those of the original.
        tags: Of the mutants to score, such as `0.1` or `0.1_3`; None: those on disk.
        suites: Named lists of images.
        unchanged: A second run of the unchanged model.
        seed: Of bootstrap and permutation.

    Raises:
        UserError: Naming the folder, file or object that is missing or bad.
    """
    chosen = settings or ScoreSettings()
    tree = DetectionTree(root, operator, model, dataset)
    stems = tuple(map(_plain, images)) if images is not None else tree.images()
    names = tuple(tags) if tags is not None else tree.tags
    if not stems:
        raise UserError("no images to score were listed")
    if not names:
        raise UserError(f"{tree.folder}: holds an original but no mutant")
    semantics = chosen.semantics or "softmax_background"
    original = tree.read(
        tree.original_tag,
        stems,
        repetitions=chosen.repetitions,
        semantics=semantics,
        probabilities=chosen.profile == "paper",
    )
    mutants = TreeMutants(
        tree=tree,
        names=names,
        stems=stems,
        repetitions=chosen.repetitions,
        semantics=semantics,
        probabilities=chosen.profile == "paper",
        original=original,
    )
    return score_logs(
        original,
        mutants,
        settings=chosen,
        strengths={tree.key(tag): tree.strength(tag) for tag in names},
        suites={name: tuple(map(_plain, listed)) for name, listed in (suites or {}).items()},
        unchanged=unchanged,
        seed=seed,
    )


def _plain(name: str) -> str:
    """The stem of an image name that is no path."""
    return stem_of(safe_name(name, "image"))


@dataclass(frozen=True)
class CaseStudy:
    """Several models of one case."""

    name: str
    """Names a folder of the output; may be empty."""
    root: Path
    """Folder that holds the `experiment_results_{operator}` folders."""
    models: tuple[str, ...] = ()
    """Empty: those on disk."""
    operators: tuple[str, ...] = ()
    """Empty: those on disk."""
    dataset: str = "orig"
    images: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Image list of each model; a model without one has its original's images."""

    def __post_init__(self) -> None:
        if self.name:
            safe_name(self.name, "case")


@dataclass(frozen=True)
class CaseResult:
    """The scores of one model under one operator."""

    model: str
    operator: str
    scores: DetectionScores


def run_case(
    study: CaseStudy, *, settings: ScoreSettings | None = None, seed: int = 0
) -> Iterator[CaseResult]:
    """Score every model of a case under every operator, one after another.

    Raises:
        UserError: Naming the folder, file or object that is missing or bad.
    """
    operators = study.operators or operators_in(study.root)
    if not operators:
        raise UserError(f"{study.root}: holds no experiment_results_OPERATOR folder")
    for operator in operators:
        on_disk = models_in(study.root, operator)
        for model in study.models or on_disk:
            images = study.images.get(model)
            scores = score_tree(
                study.root,
                model,
                operator,
                dataset=study.dataset,
                settings=settings,
                images=images,
                seed=seed,
            )
            yield CaseResult(model, operator, scores)


def write_case(result: CaseResult, output: Path, *, case: str = "") -> tuple[Path, ...]:
    """Write the CSVs (profile `deepluq`) and the object table of one result.

    They lie in ``{output}/[{case}/]{model}/{operator}``, as `mutant_{tag}.csv` and `objects.parquet`.
    """
    parts = [safe_name(part, what) for part, what in ((result.model, "model"), (result.operator, "operator"))]
    folder = output.joinpath(*([safe_name(case, "case")] if case else []), *parts)
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "objects.parquet"
    result.scores.write_objects(table)
    tags = [key.removeprefix(f"{result.operator}_") for key in result.scores.keys]
    return *result.scores.write_columns(folder, tags), table
