"""Class scores read from whatever a classifier gives back: which of its outputs they are, and what its numbers mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from app.errors import UserError
from app.faults import short_of_memory
from app.inference.outcomes import OutputType, ResolvedOutput, resolve_output
from app.inference.refusal import refused

Path = tuple[str, ...]
Key = str | int
"""Which output: its name or its place, dotted where outputs lie below one another."""
_DEPTH = 4
_MAIN = "logits"
"""What the scores are called in outputs of transformers and of torchvision's nets with auxiliary classifiers."""
_SQUASHING = ("sigmoid", "sigmoid_", "hardsigmoid", "special_expit", "_softmax")
_LINEAR = ("addmm", "linear", "convolution")
"""Operations whose results know no bounds, so that a model that ends with one gives a logit."""


@dataclass(frozen=True)
class Scores:
    """Reads the class scores of a batch from what a model gives back."""

    width: int | None = None
    """How many numbers an image has; None takes the tensor as it comes."""
    path: Path = ()
    """Where they are; empty where the model gives nothing else."""
    single: Literal["logit", "probability"] | None = None
    """What the one number of a binary classifier is: that of the second class."""

    def __call__(self, output: Any) -> Tensor:
        """(B, K) float32.

        Args:
            output: of the model the reader was made for, or of one of its mutants.

        Raises:
            UserError: the scores are not there.
        """
        value = output
        for part in self.path:
            value = dict(_children(value)).get(part)
        if not isinstance(value, Tensor) or not value.is_floating_point():
            raise _no_scores(output)
        width = value.shape[-1] if self.width is None else self.width
        if value.numel() % width:
            raise _no_scores(output)
        rows = value.reshape(-1, width).float()
        if self.single == "logit":  # softmax of these two is the sigmoid of the one
            return torch.cat([-rows / 2, rows / 2], dim=1)
        if self.single == "probability":
            rows = rows.clamp(0, 1)
            return torch.cat([1 - rows, rows], dim=1)
        return rows


PLAIN = Scores()
"""Reads a tensor (B, K) as it comes."""


@dataclass(frozen=True)
class Read:
    """What the scores of a model are, found on a few images."""

    scores: Scores
    """How to read them."""
    output: ResolvedOutput
    """What they are."""
    rows: Tensor
    """(B, K): those of the images."""
    notes: tuple[str, ...] = ()
    """What was chosen, for the report."""


def find_scores(
    module: nn.Module,
    batch: Tensor,
    output: OutputType = "auto",
    key: Key | None = None,
    classes: Sequence[str] | None = None,
) -> Read:
    """Run a model on a few images and see which of its outputs are the class scores, and what they are.

    Args:
        module: in evaluation mode.
        batch: (B, C, H, W) preprocessed images.
        output: what the scores are, as far as the user said.
        key: which output they are; None where that is plain.
        classes: names of the classes; None if they are not known.

    Raises:
        UserError: there are no scores, several outputs that could be, or the model does not run.
    """
    try:
        with torch.no_grad():
            given = module(batch.clone())
    except UserError:
        raise
    except Exception as error:
        if short_of_memory(error):
            raise
        raise refused(module, batch, error) from error
    path, value, notes = _chosen(given, len(batch), key, None if classes is None else len(classes))
    rows = _rows(value, len(batch))
    if rows is None or rows.shape[0] != len(batch):
        if rows is not None or (value.dim() == 2 and value.is_floating_point()):
            raise UserError(f"the model gives {len(value)} rows for {len(batch)} images; one each is needed")
        raise _no_scores(given)
    if rows.shape[1] > 1:
        if output == "binary":
            raise UserError(
                f"model.output=binary is for one number an image, and this model gives {rows.shape[1]}: "
                "allowed are auto, logits and probs"
            )
        finite = rows[torch.isfinite(rows).all(dim=1)]
        resolved: ResolvedOutput = resolve_output(finite, output) if len(finite) else "logits"
        return Read(Scores(rows.shape[1], path), resolved, rows, notes)
    if classes is not None and len(classes) != 2:
        raise UserError(
            f"the model gives one number an image, which tells two classes apart, but there are {len(classes)} "
            f"classes: {', '.join(list(classes)[:8])}"
        )
    single, more = _single(module, batch, rows, output)
    scores = Scores(1, path, single)
    second = "the second class" if classes is None else f"{classes[1]}, the second class"
    means = f"above 0 it means {second}" if single == "logit" else f"above 0.5 it means {second}"
    told = f"the model gives one {single} an image: {means}"
    return Read(scores, "logits" if single == "logit" else "probs", scores(given), (*notes, told, *more))


# -- which output ---------------------------------------------------------------------------------------------------


def _chosen(
    given: Any, images: int, key: Key | None, classes: int | None
) -> tuple[Path, Tensor, tuple[str, ...]]:
    """The output that holds the scores, where it is, and what to say about the choice."""
    if isinstance(given, Tensor):
        if key is not None:
            raise UserError(f"model.output_key={key}: the model gives one tensor, so leave the key out")
        return (), given, ()
    leaves = list(_leaves(given))
    if not leaves:
        raise _no_scores(given)
    can = {path: rows for path, value in leaves if (rows := _rows(value, images)) is not None and value.dim()}
    found = dict(leaves)
    if key is not None:
        below = _named(given, key, leaves)
        fitting = [path for path in below if path in can]
        if len(below) == 1:
            return below[0], found[below[0]], (f"class scores are the output '{_dotted(below[0])}'",)
        if len(fitting) != 1:
            raise UserError(f"model.output_key={key} names several outputs: {_listed(below, found)}")
        return fitting[0], found[fitting[0]], (f"class scores are the output '{_dotted(fitting[0])}'",)
    path = _plain(can, classes)
    if path is None:
        if not can:
            raise UserError(
                "the model must give class scores of shape (images, classes); its outputs are "
                f"{_listed([path for path, _ in leaves], found)}"
            )
        fits = [path for path, rows in can.items() if classes is None or rows.shape[1] == classes]
        some = fits or list(can)
        what = "could be the class scores" if fits else f"have another width than the {classes} classes"
        raise UserError(
            f"several outputs of the model {what}: {_listed(some, found)}; say which is right with "
            f"model.output_key={_dotted(some[0])}, or another of these"
        )
    if len(leaves) == 1:
        return path, found[path], ()
    others = [each for each, _ in leaves if each != path]
    return (
        path,
        found[path],
        (f"class scores are the model's output '{_dotted(path)}'; not used: {_listed(others, found)}",),
    )


def _plain(can: Mapping[Path, Tensor], classes: int | None) -> Path | None:
    """The one output that must be the scores; None if it cannot be told."""
    wide = {path: rows for path, rows in can.items() if rows.shape[1] == classes}
    if not wide and classes in {None, 2}:
        wide = {path: rows for path, rows in can.items() if classes is None or rows.shape[1] == 1}
        several = {path: rows for path, rows in wide.items() if rows.shape[1] > 1}
        wide = several or wide
    different: dict[Path, Tensor] = {}
    for path, rows in wide.items():
        if not any(torch.equal(rows, other) for other in different.values()):
            different[path] = rows
    if len(different) == 1:
        return next(iter(different))
    main = [path for path in different if path[-1] == _MAIN]
    if len(main) == 1:
        return main[0]
    return next(iter(can)) if not different and len(can) == 1 else None


def _named(given: Any, key: Key, leaves: Sequence[tuple[Path, Tensor]]) -> list[Path]:
    """Paths of the tensors at, or below, the output that a key names."""
    path: Path = ()
    value, rest = given, str(key)
    while rest:
        children = list(_children(value))
        names = [name for name, _ in children]
        name = rest if rest in names else rest.partition(".")[0]
        if name not in names:
            place = int(name) if name.lstrip("-").isdigit() else len(names)
            if not -len(names) <= place < len(names):
                there = _listed([each for each, _ in leaves], dict(leaves))
                raise UserError(f"model.output_key={key} is no output of the model; they are {there}")
            child, value = children[place]
        else:
            child, value = name, dict(children)[name]
        path = (*path, child)
        rest = rest[len(name) + 1 :]
    return [each for each, _ in leaves if each[: len(path)] == path]


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Tensor]]:
    if isinstance(value, Tensor):
        yield path, value
    elif len(path) < _DEPTH:
        for name, child in _children(value):
            yield from _leaves(child, (*path, name))


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    """Name and value of what an output is made of: entries, fields, or numbered parts."""
    if isinstance(value, Mapping):
        yield from ((str(name), child) for name, child in value.items())
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from zip(value._fields, value, strict=True)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        yield from ((str(place), child) for place, child in enumerate(value))
    elif dataclasses.is_dataclass(value) or hasattr(value, "__dict__"):
        yield from vars(value).items()


def _rows(value: Tensor, images: int) -> Tensor | None:
    """(B, K) of a tensor that holds some numbers for each image, whatever axes of one it has; else None."""
    if not value.is_floating_point():
        return None
    if images == 1 and (value.dim() == 0 or (value.dim() == 1 and len(value) > 1)):
        return value.reshape(1, -1).float()  # a net that squeezes loses the axis of a single image
    if not value.dim() or value.shape[0] != images or sum(side > 1 for side in value.shape[1:]) > 1:
        return None
    return value.reshape(images, -1).float() if value.numel() else None


def _dotted(path: Path) -> str:
    return ".".join(path)


def _listed(paths: Sequence[Path], found: Mapping[Path, Tensor], shown: int = 6) -> str:
    rest = f" and {len(paths) - shown} more" if len(paths) > shown else ""
    return ", ".join(f"{_dotted(path)} {tuple(found[path].shape)}" for path in paths[:shown]) + rest


def _no_scores(given: Any) -> UserError:
    shown = f"a tensor of shape {tuple(given.shape)}" if isinstance(given, Tensor) else type(given).__name__
    return UserError(f"the model must give class scores of shape (images, classes), not {shown}")


# -- one number an image --------------------------------------------------------------------------------------------


def _single(
    module: nn.Module, batch: Tensor, rows: Tensor, output: OutputType
) -> tuple[Literal["logit", "probability"], tuple[str, ...]]:
    """Whether the one number of a binary classifier is a logit or a probability, and what to say about it.

    Outside [0, 1] it is a logit. Inside it is what the model's last operation says: a sigmoid's or softmax's is a
    probability, a linear one's a logit. What cannot be told is asked for.
    """
    finite = rows[torch.isfinite(rows)]
    inside = bool(((finite >= 0) & (finite <= 1)).all())
    if output == "probs":
        if not inside:
            raise UserError(
                "model.output=probs, but the model's one number an image is not in [0, 1]: it is a logit, so leave "
                "the key out"
            )
        return "probability", ()
    ends = _end(module, batch, rows) if inside and len(finite) else "linear"
    if output == "logits":
        told = (
            "model.output=logits was given, but the model ends with a sigmoid: its numbers are probabilities"
        )
        return "logit", (told,) if ends == "squashed" else ()
    if ends == "unknown":
        raise UserError(
            "the model gives one number in [0, 1] an image, which may be a probability or a logit: say "
            "model.output=probs or model.output=logits"
        )
    return ("probability" if ends == "squashed" else "logit"), ()


def _end(module: nn.Module, batch: Tensor, rows: Tensor) -> Literal["squashed", "linear", "unknown"]:
    """What the operation was whose result a model gives back."""
    watch = _Watch(len(rows))
    try:
        with torch.no_grad(), watch:
            module(batch.clone())
    except Exception:  # compiled code may refuse to be watched; then nothing is known
        return "unknown"
    for results, end in ((watch.squashed, "squashed"), (watch.linear, "linear")):
        for result in results:
            columns = result.reshape(len(rows), -1).float()
            if (columns - rows).abs().amax(dim=0).min() <= 1e-5:
                return "squashed" if end == "squashed" else "linear"
    return "unknown"


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's has no types
    """Keeps small results of operations that squash into [0, 1], and of such that know no bounds."""

    def __init__(self, images: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # as above
        self.images = images
        self.squashed: list[Tensor] = []
        self.linear: list[Tensor] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.numel() in {self.images, 2 * self.images}:
            name = func.overloadpacket.__name__
            if name in _SQUASHING:
                self.squashed.append(result.detach().clone())
            elif name in _LINEAR:
                self.linear.append(result.detach().clone())
        return result
