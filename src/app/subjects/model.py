"""Models: a module ready for evaluation, with what is needed to feed it and to tell it from others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from app.errors import UserError
from app.limits import ModelFile, MoreThanNothing
from app.subjects import script_check
from app.subjects.checkpoint import read_checkpoint, read_weights
from app.subjects.exported import load_exported
from app.subjects.formats import MAX_GIGABYTES, Format, locate, recognise
from app.subjects.preprocess import IMAGENET, Preprocess
from app.subjects.readiness import ready
from app.subjects.weights import check_written_out, fit, tensors_in
from app.tables import read_class_names

Output = Literal["auto", "logits", "probs", "binary"]

DEFAULT_PREPROCESS = "no preprocessing was given: ImageNet's is used (shorter side 256, centre 224, RGB)"


@dataclass(frozen=True)
class Model:
    """A classifier under test."""

    name: str
    """The first half of the subject's name; stays the same when the model is trained again."""
    module: nn.Module
    """In evaluation mode, on the CPU; (B, C, H, W) float32 goes in."""
    digest: str
    """SHA-256 of the weights: names, types, shapes and bytes."""
    preprocess: Preprocess
    """From a picture to the module's input."""
    class_names: tuple[str, ...] | None = None
    """Names of the outputs, in training order; None if unknown."""
    output: Output = "auto"
    """What the module's outputs are; auto decides by looking at them."""
    output_key: str | int | None = None
    """Which of several outputs are the class scores: its name or its place; None where that is plain."""
    notes: tuple[str, ...] = ()
    """What a reader of the report should know about how the model was loaded."""

    @property
    def shown_input(self) -> str:
        """The preprocessing in words; equal words mean equal inputs."""
        return self.preprocess.words

    @property
    def shown_output(self) -> str:
        """How the outputs are read, in words."""
        return self.output if self.output_key is None else f"{self.output}, of output {self.output_key}"


def assemble(
    module: nn.Module,
    name: str,
    *,
    class_names: str | Sequence[str] | None = None,
    preprocess: Preprocess | Mapping[str, Any] | None = None,
    output: Output = "auto",
    output_key: str | int | None = None,
    notes: Sequence[str] = (),
) -> Model:
    """The model made of a loaded module, which is put in evaluation mode.

    Args:
        module: the network, its weights loaded.
        name: letters and digits, without ``@``.
        class_names: names of the outputs in training order: a list or a file.
        preprocess: or its fields by name; None takes ImageNet's and notes it.
        output: auto, logits, probs or binary (one number an image, the second class's).
        output_key: which of several outputs the class scores are, by name or place.
        notes: remarks for the report.

    Raises:
        UserError: a bad name, repeated class names, an unknown output type, bad preprocessing,
            or lazy layers without weights.
    """
    if not name or "@" in name:
        raise UserError(f"model.name must not be empty nor hold '@': {name!r}")
    if output not in get_args(Output):
        raise UserError(f"model.output must be auto, logits, probs or binary, not {output!r}")
    names = None if class_names is None else read_class_names(class_names, "model.class_names")
    if names is not None and len(names) < 2:
        raise UserError(f"model.class_names must name at least two classes, not {list(names)}")
    module = ready(module, name)
    if preprocess is None:
        notes = (*notes, DEFAULT_PREPROCESS)
    elif isinstance(preprocess, Mapping) and not {"mean", "std"} <= set(preprocess):
        notes = (*notes, "preprocessing was given without mean and std: pixels are only scaled to [0, 1]")
    return Model(
        name, module, digest_of(module), _preprocess(preprocess), names, output, output_key, tuple(notes)
    )


def from_state_dict(
    factory: nn.Module | Callable[[], nn.Module],
    weights: ModelFile | Path | None,
    *,
    weights_key: str | None = None,
    name: str | None = None,
    class_names: str | Sequence[str] | None = None,
    preprocess: Preprocess | Mapping[str, Any] | None = None,
    output: Output = "auto",
    output_key: str | int | None = None,
    allow_unsafe_load: bool = False,
    max_gigabytes: MoreThanNothing = MAX_GIGABYTES,
) -> Model:
    """The model of a factory and a file of weights: a state_dict, a Lightning checkpoint or safetensors.

    Args:
        factory: the module itself or what makes it when called without arguments.
        weights: the file; None keeps the weights that the factory gives, which then is noted.
        weights_key: which weights of the file, where several fit, such as ``state_dict_ema`` or ``student``.
        name: None takes the module's class name.
        class_names: names of the outputs in training order: a list or a file.
        preprocess: or its fields by name; None takes ImageNet's.
        output: auto, logits, probs or binary (one number an image, the second class's).
        output_key: which of several outputs the class scores are, by name or place.
        allow_unsafe_load: let the file run code if it needs more than tensors.
        max_gigabytes: what a file may hold at most once it is unpacked.

    Raises:
        UserError: a factory that makes no module, a file that cannot be read, or weights that do not fit.
    """
    module = factory if isinstance(factory, nn.Module) else _made(factory)
    if weights is None:
        notes: tuple[str, ...] = ("no file of weights was given: the factory's own weights are used",)
    else:
        path = locate(weights, max_gigabytes)
        notes = fit(module, read_weights(path, allow_unsafe_load), str(path), key=weights_key)
    return assemble(
        module,
        name or type(module).__name__,
        class_names=class_names,
        preprocess=preprocess,
        output=output,
        output_key=output_key,
        notes=notes,
    )


def from_file(
    path: ModelFile | Path,
    *,
    name: str | None = None,
    class_names: str | Sequence[str] | None = None,
    preprocess: Preprocess | Mapping[str, Any] | None = None,
    output: Output = "auto",
    output_key: str | int | None = None,
    allow_unsafe_load: bool = False,
    max_gigabytes: MoreThanNothing = MAX_GIGABYTES,
) -> Model:
    """The model in a file that holds the whole module: TorchScript, an exported program, or a pickled module.

    The format is told by content. The sources of a TorchScript module are checked
    before torch reads them: they may only compute.

    Args:
        path: the file, or an MLflow model's directory.
        name: None takes the file's name, or the directory's.
        class_names: names of the outputs in training order: a list or a file.
        preprocess: or its fields by name; None takes ImageNet's.
        output: auto, logits, probs or binary (one number an image, the second class's).
        output_key: which of several outputs the class scores are, by name or place.
        allow_unsafe_load: let the file run code, which a pickled module always does.
        max_gigabytes: what a file may hold at most once it is unpacked.

    Raises:
        UserError: no file, a damaged or unknown one, one that could run code, or one with weights only.
    """
    file = locate(path, max_gigabytes)
    module, notes = _load(file, allow_unsafe_load, max_gigabytes)
    check_written_out(file, module.state_dict().values(), max_gigabytes)
    return assemble(
        module,
        name or Path(path).stem.replace("@", "_"),
        class_names=class_names,
        preprocess=preprocess,
        output=output,
        output_key=output_key,
        notes=notes,
    )


def digest_of(module: nn.Module) -> str:
    """SHA-256, in hex, of a module's state_dict: names, types, shapes and bytes in their order."""
    hasher = hashlib.sha256()
    for name, value in module.state_dict().items():
        if not isinstance(value, Tensor):
            hasher.update(f"{name}|{type(value).__name__}|{value!r}\n".encode())
            continue
        dense = value.detach().cpu()
        dense = dense.dequantize() if dense.is_quantized else dense
        dense = dense if dense.layout == torch.strided else dense.to_dense()
        hasher.update(f"{name}|{value.dtype}|{tuple(value.shape)}\n".encode())
        hasher.update(dense.resolve_conj().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return hasher.hexdigest()


def _load(path: Path, allow_unsafe_load: bool, max_gigabytes: float) -> tuple[nn.Module, tuple[str, ...]]:
    match recognise(path):
        case Format.TORCHSCRIPT:
            return _load_torchscript(path, allow_unsafe_load), ()
        case Format.EXPORTED:
            return load_exported(path, allow_unsafe_load, max_gigabytes)
        case Format.SAFETENSORS:
            raise UserError(_weights_only(path))
    content = read_checkpoint(path, allow_unsafe_load)
    if isinstance(content, nn.Module):
        return content, ("the module was unpickled, which runs code of the file",)
    weights = tensors_in(content)
    if not weights:
        raise UserError(f"{path} holds a {type(content).__name__}, neither a module nor a state_dict")
    raise UserError(_weights_only(path, weights))


def _weights_only(path: Path, weights: Mapping[str, Tensor] | None = None) -> str:
    what = (
        f" ({len(weights)} tensors, the first is {next(iter(weights), 'none')})"
        if weights is not None
        else ""
    )
    return (
        f"{path} holds a state_dict{what}, not a module: use model=state_dict with model.weights={path} and "
        "model.factory._target_ set to the class that makes the module"
    )


def _load_torchscript(path: Path, allow_unsafe_load: bool) -> nn.Module:
    if not allow_unsafe_load:
        _refuse_script(path, script_check.offences(path))
    unit = torch._C.CompilationUnit()
    try:  # as torch.jit.load does, which keeps the unit to itself and says each time that it will go
        module = torch._C.import_ir_module(unit, str(path), torch.device("cpu"), {}, False)  # type: ignore[call-arg]  # the stub lacks one
        if not allow_unsafe_load:
            _refuse_script(path, script_check.graph_offences(unit))
        wrapped: nn.Module = torch.jit._script.wrap_cpp_module(module)  # type: ignore[no-untyped-call]  # untyped
    except (RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UserError(f"{path} is a TorchScript file that torch cannot load ({reason})") from None
    return wrapped


def _refuse_script(path: Path, found: Iterable[str]) -> None:
    offending = list(dict.fromkeys(found))
    if offending:
        rest = f" and {len(offending) - 3} more" if len(offending) > 3 else ""
        raise UserError(
            f"{path} is a TorchScript file that can do more than compute ({'; '.join(offending[:3])}{rest}): save it "
            "without, export it with torch.export, or set allow_unsafe_load=true if you trust its origin"
        )


def _made(factory: object) -> nn.Module:
    if not callable(factory):
        raise UserError(
            f"model.factory must be a module or make one when called, not {type(factory).__name__}"
        )
    made = factory()
    if not isinstance(made, nn.Module):
        raise UserError(f"model.factory must make a torch.nn.Module, but made a {type(made).__name__}")
    return made


def _preprocess(given: Preprocess | Mapping[str, Any] | None) -> Preprocess:
    if given is None:
        return IMAGENET
    if isinstance(given, Preprocess):
        return given
    options = dict(given)
    known = [field.name for field in fields(Preprocess)]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise UserError(f"model.preprocess has no {', '.join(unknown)}: it takes {', '.join(known)}")
    try:
        return Preprocess(**options)
    except (ValueError, TypeError) as error:
        raise UserError(f"model.preprocess: {error}") from None
