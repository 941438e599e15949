"""Weights found in whatever a training script saved, and fitted to a module.

Wrappers change names, not weights: Lightning and DataParallel put a prefix before them, torch.compile a component
anywhere in them, training scripts keep the raw weights beside averaged ones, or a teacher beside a student. So a file
is read as one flat set of names, and every place in it below which all names of the module are found is a candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from app.errors import UserError
from app.subjects.formats import check_unpacked

Content = Mapping[str, Any]
"""What a file holds: tensors by name, perhaps in mappings below one another."""

TOP = "."
"""What the top of a file is called as a key."""
_DEPTH = 8
_WRAPPERS = frozenset(
    {"module", "_orig_mod", "_forward_module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}
)
"""Components that DataParallel, torch.compile, Fabric, FSDP and activation checkpoints put into names."""
_NOT_OF_THE_NET = re.compile(
    r"loss|criteri(on|a)|accuracy|optimi[sz]er|scheduler|class_?weights?|pos_weight|n_averaged|global_step|"
    r"(^|[._])(metrics?|acc\d*|f1|auroc|auc|recall|precision|confmat|confusion_matrix|scaler|ema|epoch)([._]|$)",
    re.IGNORECASE,
)
"""Names that a LightningModule or a training script keeps beside a net, and that no output of it depends on."""


def tensors_in(content: object) -> dict[str, Tensor]:
    """The tensors in what a file holds by dotted name, in its order; none if it holds no weights."""
    return {name: value for name, _, value in _leaves(content) if isinstance(value, Tensor)}


def check_written_out(path: Path, values: Iterable[object], max_gigabytes: float) -> None:
    """Refuses tensors that take far more memory than their file: one stored number may be repeated without end.

    Args:
        path: the file.
        values: what it holds, tensors and others; those that are one view of one memory count once.
        max_gigabytes: what the file may hold if that is more than it is on the disk.

    Raises:
        UserError: they take more.
    """
    views = {
        (each.data_ptr() if each.layout == torch.strided else id(each), each.shape, each.dtype): each.numel()
        * each.element_size()
        for each in values
        if isinstance(each, Tensor) and not each.is_meta
    }
    check_unpacked(path, sum(views.values()), max_gigabytes)


def fit(
    module: nn.Module, content: Content, source: str, remedy: str = "", key: str | None = None
) -> tuple[str, ...]:
    """Loads weights into a module; what had to be done to make them fit comes out, as notes.

    Args:
        module: where the weights go.
        content: tensors by name, perhaps in mappings below one another.
        source: what messages call the weights, usually their path.
        remedy: what a message adds if shapes differ.
        key: which weights, where several fit: the place in the file, or its end; `.` for its top.

    Raises:
        UserError: missing or unexpected names, other shapes, or several weights that fit.
    """
    wanted = _Wanted(module)
    stored = _Stored(content)
    places = stored.places(wanted)
    named = type(module).__name__
    if key is not None:
        places = _chosen(places, key, source)
    whole = [place for place in places if not wanted.missing(place)]
    fitting = [place for place in whole if not wanted.unlike(place)]
    if not fitting:
        if not whole and stored.loaded_by(module, places):
            return ()
        raise UserError(f"{source} does not fit {named}: {_misfit(wanted, stored, places, whole, remedy)}")
    best = fitting[0]
    differing = [other for other in fitting[1:] if not _equal(best, other)]
    if differing:
        names = ", ".join(each.shown for each in (best, *differing))
        raise UserError(
            f"{source} holds several weights that fit {named} and differ: {names}; say which with "
            f"model.weights_key={differing[0].shown}, or another of these"
        )
    surplus = stored.beside(best, whole)
    strange = [name for name in surplus if stored.is_inside(name, best) and not _NOT_OF_THE_NET.search(name)]
    if strange:
        raise UserError(
            f"{source} does not fit {named}: it has {_some(strange)} too many; give the factory that these weights "
            "were trained with"
        )
    try:
        module.load_state_dict({name: value for name, (_, value) in best.found.items()}, strict=False)
    except RuntimeError as error:
        raise UserError(f"{source} does not fit {named}: {_one_line(error)}") from None
    return _notes(best, surplus)


@dataclass
class _Place:
    """A place in a file with weights below it."""

    prefix: str
    """Its dotted name, empty for the top."""
    found: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """Names of the module to what the file has for them: its name there, and the value."""

    @property
    def shown(self) -> str:
        """As a user writes it."""
        return self.prefix or TOP

    def take(self, name: str, stored: str, value: Any) -> None:
        """Keep a value for a name; where two spellings meet, the one with fewer wrappers is meant."""
        if name not in self.found or len(stored) < len(self.found[name][0]):
            self.found[name] = stored, value


class _Wanted:
    """The names that a module takes."""

    def __init__(self, module: nn.Module) -> None:
        self.tensors: dict[str, Any] = module.state_dict(keep_vars=True)
        self.names = {_bare(name): name for name in self.tensors}
        tied: dict[int, list[str]] = {}
        for name, value in self.tensors.items():
            tied.setdefault(id(value), []).append(name)
        self._tied = {name: names for names in tied.values() for name in names}

    def missing(self, place: _Place) -> list[str]:
        """What is not below a place.

        Batch norms of old checkpoints have no counter of batches, which nothing reads in evaluation; of tied weights a
        file needs one.
        """
        return [
            name
            for name in self.tensors
            if not name.endswith(("num_batches_tracked", "_extra_state"))
            and not any(each in place.found for each in self._tied[name])
        ]

    def unlike(self, place: _Place) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
        """Shapes in the file and in the module, where they differ."""
        return {
            name: (tuple(value.shape), tuple(self.tensors[name].shape))
            for name, (_, value) in place.found.items()
            if isinstance(value, Tensor)
            and not nn.parameter.is_lazy(self.tensors[name])
            and tuple(value.shape) != tuple(self.tensors[name].shape)
        }


class _Stored:
    """What a file holds, as one flat set of names."""

    def __init__(self, content: Content) -> None:
        self.values: dict[str, Any] = {}
        self.holders: dict[str, str] = {}
        for name, holder, value in _leaves(content):
            self.values[name], self.holders[name] = value, holder

    def places(self, wanted: _Wanted) -> list[_Place]:
        """Every place below which a name of the module is found; those with most of them first."""
        found: dict[str, _Place] = {}
        for stored, value in self.values.items():
            parts = stored.split(".")
            for cut in range(len(parts)):
                name = wanted.names.get(_bare(".".join(parts[cut:])))
                if name is not None:
                    prefix = ".".join(parts[:cut])
                    found.setdefault(prefix, _Place(prefix)).take(name, stored, value)
        # a wrapper at the end of a prefix makes two prefixes of one place: the longer says more
        same: dict[tuple[str, ...], _Place] = {}
        for place in found.values():
            names = tuple(sorted(stored for stored, _ in place.found.values()))
            if names not in same or len(place.prefix) > len(same[names].prefix):
                same[names] = place
        return sorted(same.values(), key=lambda place: -len(place.found))

    def beside(self, place: _Place, whole: Iterable[_Place]) -> list[str]:
        """What the mappings that hold a place's weights hold beside them, but for counters of batches.

        What belongs to other whole weights is left out too: it has a place of its own.
        """
        used = {stored for stored, _ in place.found.values()}
        holders = {self.holders[stored] for stored in used}
        others = {stored for other in whole for stored, _ in other.found.values()}
        return [
            name
            for name, holder in self.holders.items()
            if holder in holders
            and name not in used
            and name not in others
            and not name.endswith("num_batches_tracked")
        ]

    @staticmethod
    def is_inside(name: str, place: _Place) -> bool:
        """Whether a name lies below a place."""
        return not place.prefix or name.startswith(f"{place.prefix}.")

    def loaded_by(self, module: nn.Module, places: list[_Place]) -> bool:
        """Whether the module itself knows what to do with the names, as those with hooks for old names do."""
        prefix = f"{places[0].prefix}." if places and places[0].prefix else ""
        below = {
            name.removeprefix(prefix): value for name, value in self.values.items() if name.startswith(prefix)
        }
        try:
            module.load_state_dict(below, strict=True)
        except RuntimeError:
            return False
        return True


def _leaves(content: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, str, Any]]:
    """Name, name of the mapping that holds it, and value of each tensor."""
    if isinstance(content, nn.Module):
        content = content.state_dict()
    if not isinstance(content, Mapping) or depth > _DEPTH:
        return
    for key, value in content.items():
        if not isinstance(key, str):
            continue
        below = f"{name}.{key}" if name else key
        if isinstance(value, Tensor) or key.endswith("_extra_state"):
            yield below, name, value
        else:
            yield from _leaves(value, below, depth + 1)


def _bare(name: str) -> str:
    """A name without the components of wrappers."""
    return ".".join(part for part in name.split(".") if part not in _WRAPPERS)


def _chosen(places: list[_Place], key: str, source: str) -> list[_Place]:
    """The places that a key names: those of that name, else those that end so."""
    exact = [each for each in places if each.shown == key]
    ends = [
        each for each in places if f".{each.prefix}".endswith(f".{key}") or each.prefix.startswith(f"{key}.")
    ]
    if not (exact or ends):
        raise UserError(
            f"model.weights_key={key} is no place in {source} with weights of the module; it has "
            f"{_some([each.shown for each in places], shown=6) or 'none'}"
        )
    return exact or ends


def _equal(one: _Place, other: _Place) -> bool:
    return one.found.keys() == other.found.keys() and all(
        torch.equal(value, other.found[name][1])
        for name, (_, value) in one.found.items()
        if isinstance(value, Tensor)
    )


def _misfit(wanted: _Wanted, stored: _Stored, places: list[_Place], whole: list[_Place], remedy: str) -> str:
    if whole:
        unlike = wanted.unlike(whole[0])
        told = _some(
            [f"{name} is {file} in the file and {own} in the module" for name, (file, own) in unlike.items()],
            "; ",
        )
        return told + (remedy or _outputs_remedy(unlike))
    if not places:
        return (
            f"no name fits: it has {_some(stored.values) or 'no tensors'}, and the module takes "
            f"{_some(wanted.tensors) or 'none'}; give the factory that these weights were trained with"
            if wanted.tensors
            else f"it has {_some(stored.values)} too many"
        )
    best = places[0]
    surplus = [name for name in stored.beside(best, ()) if stored.is_inside(name, best)]
    below = f" (below '{best.prefix}')" if best.prefix else ""
    told = f"it lacks {_some(wanted.missing(best))}{below}"
    told += f" and it has {_some(surplus)} too many" if surplus else ""
    return f"{told}; give the factory that these weights were trained with"


def _outputs_remedy(unlike: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]) -> str:
    """What to do where only the number of outputs differs: one layer, and only in its first dimension."""
    layers = {name.rpartition(".")[0] for name in unlike}
    outputs = {(file[:1], own[:1]) for file, own in unlike.values()}
    if len(layers) > 1 or len(outputs) > 1 or any(file[1:] != own[1:] for file, own in unlike.values()):
        return "; give the factory that these weights were trained with"
    ((file, own),) = outputs
    return f"; the file is of a model with {file[0]} outputs and the factory makes {own[0]}: give it the right number"


def _notes(place: _Place, surplus: list[str]) -> tuple[str, ...]:
    left_out = f"; left out {_some(surplus)}" if surplus else ""
    if place.prefix:
        return (f"weights were read below '{place.prefix}' in the file{left_out}",)
    return (f"weights were read from the file{left_out}",) if surplus else ()


def _one_line(text: object, limit: int = 160) -> str:
    line = next((part.strip() for part in str(text).splitlines() if part.strip()), "").partition(". ")[0]
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _some(names: Iterable[str], separator: str = ", ", shown: int = 3) -> str:
    listed = list(names)
    rest = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return separator.join(listed[:shown]) + rest
