"""Two operators of ours: a scratch on the lens, and a layer whose weights lost their sign."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from PIL import Image, ImageDraw
from torch import nn

from app.mutation.image_change import SteadyChange
from app.mutation.layer import layer_at, like, numbers
from app.mutation.mutant import Mutant
from app.mutation.operator import Choice, WeightOperator, Weights
from app.mutation.targets import Layers, Targets


class Scratch(SteadyChange):
    """A black line from corner to corner; an operator on images needs a name, a grid and `change`."""

    name: ClassVar[str] = "scratch"
    parameter: ClassVar[str] = "width"

    def __init__(self, widths: Sequence[float] = (1, 2, 4), count: int = 20) -> None:
        super().__init__(("widths", widths), lambda width: width >= 1, "give pixels, 1 or more", count)

    def change(self, image: Image.Image, value: float) -> Image.Image:
        """The scratched image, of the same size and mode."""
        scratched = image.copy()
        ImageDraw.Draw(scratched).line((0, 0, *image.size), fill=0, width=round(value))
        return scratched


class LostSign(WeightOperator):
    """Every weight of a layer becomes its absolute value; an operator on weights needs `choices` and `weights`."""

    name: ClassVar[str] = "lost_sign"

    def __init__(self, count: int = 20, layers: Layers = None) -> None:
        super().__init__(count)
        self.layers = layers

    def choices(self, targets: Targets) -> list[Choice]:
        """One mutant for every layer with weights."""
        return [Choice({}, layer.label, (layer.name,)) for layer in targets.weighted(self.layers)]

    def weights(self, mutant: Mutant, modules: Mapping[str, nn.Module]) -> Weights:
        """The layer's weight without signs."""
        (site,) = mutant.sites
        layer, module = layer_at(modules, site)
        return {(site, layer.weight): like(abs(numbers(module, layer.weight)), module, layer.weight)}
