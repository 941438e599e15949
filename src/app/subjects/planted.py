"""Models and data with a known fault, made of sound ones: what a diagnosis must find, and find nowhere else."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from app import images
from app.errors import UserError
from app.subjects.dataset import Excluded, ImageDataset, Source
from app.subjects.fashion import CLASS_NAMES, PREPROCESS, FashionCNN
from app.subjects.model import Model, assemble


def relabelled(
    data: ImageDataset, share: float = 0.1, seed: int = 0, name: str = "relabelled"
) -> ImageDataset:
    """The same pictures, a share of which has the label of another class: label noise.

    Args:
        data: sound data of at least two classes.
        share: of the labels that are replaced, 0 to 1.
        seed: of which, and by what.
        name: of the new data.

    Raises:
        UserError: a share outside 0 to 1.
    """
    _share("share", share)
    rng = np.random.default_rng(seed)
    labels, classes = data.labels.copy(), len(data.class_names)
    chosen = rng.choice(len(data), round(share * len(data)), replace=False)
    labels[chosen] = (labels[chosen] + rng.integers(1, classes, size=chosen.size)) % classes
    return replace(data, name=name, labels=labels)


def thinned(
    data: ImageDataset, class_name: str, keep: float = 0.1, seed: int = 0, name: str = "thinned"
) -> ImageDataset:
    """The same data with only a share of one class left: imbalance, or a class that is missing.

    Args:
        data: sound data.
        class_name: the class that is thinned.
        keep: share of it that stays; 0 leaves none.
        seed: of which stay.
        name: of the new data.

    Raises:
        UserError: an unknown class, or a share outside 0 to 1.
    """
    _share("keep", keep)
    if class_name not in data.class_names:
        raise UserError(f"there is no class {class_name!r}; allowed: {', '.join(data.class_names)}")
    inside = data.labels == data.class_names.index(class_name)
    members = np.flatnonzero(inside)
    kept = np.random.default_rng(seed).choice(members, round(keep * members.size), replace=False)
    return data.subset(np.sort(np.concatenate([np.flatnonzero(~inside), kept])), name)


def damaged(data: ImageDataset, share: float = 0.05, seed: int = 0, name: str = "damaged") -> ImageDataset:
    """The same data, the files of a share of which broke off halfway: corrupt files.

    Each of these pictures is packed as PNG, loses the second half of its bytes, and is given to the decoder that
    reads folders; what it cannot read is left out and listed.

    Args:
        data: sound data.
        share: of the test cases that are damaged, 0 to 1.
        seed: of which.
        name: of the new data.

    Raises:
        UserError: a share outside 0 to 1.
    """
    _share("share", share)
    chosen = np.random.default_rng(seed).choice(len(data), round(share * len(data)), replace=False)
    lost = {case: reason for case in np.sort(chosen).tolist() if (reason := _broken_off(data.load(case)))}
    kept = data.subset(np.setdiff1d(np.arange(len(data)), list(lost)), name)
    excluded = tuple(Excluded(data.paths[case], reason) for case, reason in lost.items())
    return replace(kept, excluded=kept.excluded + excluded)


def leaky(
    data: ImageDataset, training: ImageDataset, share: float = 0.2, seed: int = 0, name: str = "leaky"
) -> ImageDataset:
    """Test cases a share of which was replaced by training cases: a split that leaks.

    Args:
        data: sound test data.
        training: where the others come from; has the same classes.
        share: of the test cases that are replaced, 0 to 1.
        seed: of which.
        name: of the new data.

    Raises:
        UserError: other classes, a share outside 0 to 1, or too few training cases.
    """
    _share("share", share)
    if data.class_names != training.class_names:
        raise UserError("the training data of a leak must have the classes of the test data")
    count = round(share * len(data))
    if count > len(training):
        raise UserError(f"{count} training cases are needed for a leak, there are {len(training)}")
    rng = np.random.default_rng(seed)
    kept = data.subset(np.sort(rng.choice(len(data), len(data) - count, replace=False)))
    taken = training.subset(np.sort(rng.choice(len(training), count, replace=False)))
    return ImageDataset(
        name=name,
        class_names=data.class_names,
        labels=np.concatenate([kept.labels, taken.labels]),
        paths=kept.paths + taken.paths,
        source=_Both(kept.source, kept.rows, taken.source, taken.rows),
        rows=np.arange(len(data)),
        case_digests=np.concatenate([kept.case_digests, taken.case_digests]),
        named=data.named,
    )


def renamed(model: Model, class_names: Sequence[str], name: str = "renamed") -> Model:
    """The same model with its outputs named otherwise: class names in another order than in training.

    Args:
        model: a sound model.
        class_names: the new names.
        name: of the new model.
    """
    return assemble(
        model.module,
        name,
        class_names=class_names,
        preprocess=model.preprocess,
        output=model.output,
        output_key=model.output_key,
    )


def untrained(seed: int = 0, name: str = "untrained") -> Model:
    """The embedded network before any training: underfitting.

    Args:
        seed: of its weights.
        name: of the model.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = FashionCNN()
    return assemble(module, name, class_names=CLASS_NAMES, preprocess=PREPROCESS, output="logits")


def memoriser(data: ImageDataset, sharpness: float = 0.02, name: str = "memoriser") -> Model:
    """A network that only knows pictures by heart and says the class of the nearest: overfitting.

    Args:
        data: its training data, grey pictures of 28 by 28 pixels in which every class occurs.
        sharpness: how much surer it is of a picture that is nearer.
        name: of the model.
    """
    pictures = PREPROCESS.to_batch([data.load(case) for case in range(len(data))]).flatten(1)
    module = Memoriser(pictures, torch.as_tensor(data.labels, dtype=torch.long), sharpness)
    return assemble(module, name, class_names=data.class_names, preprocess=PREPROCESS, output="logits")


class Memoriser(nn.Module):
    """Nearest neighbour as a layer: logits fall with the squared distance to each class's nearest picture.

    Args:
        pictures: (M, D) what is known by heart.
        labels: (M,) their classes, each of which occurs.
        sharpness: factor of the distances.
    """

    def __init__(self, pictures: Tensor, labels: Tensor, sharpness: float) -> None:
        super().__init__()
        self.sharpness = sharpness
        self.known = nn.Linear(pictures.shape[1], len(pictures))
        with torch.no_grad():
            self.known.weight.copy_(2 * pictures)
            self.known.bias.copy_(-(pictures**2).sum(dim=1))
        self.register_buffer("member", labels[:, None] == torch.arange(int(labels.max()) + 1))

    def forward(self, images: Tensor) -> Tensor:
        """(B, K): logits of (B, 1, 28, 28) pictures."""
        nearness = self.known(
            images.flatten(1)
        )  # minus the squared distance, but for the picture's own length
        member: Tensor = self.get_buffer("member")
        scores: Tensor = nearness[:, :, None].masked_fill(~member, -torch.inf).amax(dim=1)
        return self.sharpness * (scores - scores.amax(dim=1, keepdim=True))


@dataclass(frozen=True, eq=False)
class _Both:
    """Pictures of two sources, one behind the other."""

    first: Source
    first_rows: NDArray[np.int64]
    second: Source
    second_rows: NDArray[np.int64] = field(repr=False)

    def load(self, row: int) -> Image.Image:
        """The picture of a row."""
        rest = row - len(self.first_rows)
        if rest < 0:
            return self.first.load(int(self.first_rows[row]))
        return self.second.load(int(self.second_rows[rest]))


def _broken_off(image: Image.Image) -> str:
    """Why half of a picture's file cannot be read; empty if it can."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    content = buffer.getvalue()
    try:
        images.decode(content[: len(content) // 2])
    except images.Unreadable as reason:
        return str(reason)
    return ""


def _share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise UserError(f"{name} must be from 0 to 1, not {value}")
