"""What the operators on raw images share: one parameter with a grid, and any colour mode in and out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from PIL import Image

from app.mutation import grid
from app.mutation.mutant import INPUT, Mutant
from app.mutation.operator import Choice, InputOperator
from app.mutation.targets import Targets


class ImageChange(InputOperator):
    """An input operator with one parameter.

    Subclasses say its name, which values are allowed, and how an image of mode L or RGB is changed.
    """

    parameter: ClassVar[str]
    """Name of the parameter in `Mutant.params`."""

    def __init__(
        self,
        values: tuple[str, float | Sequence[float]],
        allowed: Callable[[float], bool],
        sentence: str,
        count: int,
    ) -> None:
        """Checks the grid.

        Args:
            values: the constructor parameter's name and its value.
            allowed: whether a value is.
            sentence: what is allowed, for the error.
            count: how many mutants; fewer come when the grid holds fewer.
        """
        super().__init__(count)
        self.values = grid.numbers(*values, allowed, sentence)

    def choices(self, targets: Targets) -> list[Choice]:  # noqa: ARG002 - inputs are there in any model
        """Every value of the grid."""
        return [Choice({self.parameter: value}, INPUT) for value in self.values]

    def apply(self, mutant: Mutant, image: Image.Image, case: int) -> Image.Image:
        """The changed image, of the same size and mode; transparency stays as it was.

        Raises:
            ValueError: a mode of more than 8 bits a channel.
        """
        if image.mode in {"L", "RGB"}:
            return self.changed(image, mutant, case)
        if image.mode in {"LA", "RGBA"}:
            changed = self.changed(image.convert("L" if image.mode == "LA" else "RGB"), mutant, case)
            changed.putalpha(image.getchannel("A"))
            return changed
        if image.mode in {"1", "P", "CMYK", "YCbCr", "HSV", "LAB"}:
            return self.changed(image.convert("RGB"), mutant, case).convert(image.mode)
        raise ValueError(f"{self.name} cannot change an image of mode {image.mode}; convert it to L or RGB")

    def value(self, mutant: Mutant) -> float:
        """The parameter of a mutant."""
        return float(mutant.params[self.parameter])

    @abstractmethod
    def changed(self, image: Image.Image, mutant: Mutant, case: int) -> Image.Image:
        """A new image of the same size and mode.

        Args:
            image: in mode L or RGB.
            mutant: one of this operator's plan.
            case: index of the test case.
        """


class SteadyChange(ImageChange):
    """A change that is the same for every test case."""

    def changed(self, image: Image.Image, mutant: Mutant, case: int) -> Image.Image:  # noqa: ARG002 - the same for all
        """A new image of the same size and mode."""
        return self.change(image, self.value(mutant))

    @abstractmethod
    def change(self, image: Image.Image, value: float) -> Image.Image:
        """A new image of the same size and mode.

        Args:
            image: in mode L or RGB.
            value: of the parameter.
        """
