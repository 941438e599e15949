"""What a page is made of: sections of typed blocks. A page says what is shown; how it looks is `render`'s alone.

Text is a string or a tuple of pieces; all of it is escaped when it is drawn. Fractions are shown per cent by `words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from app.report.charts import Spec

Look: TypeAlias = Literal["", "good", "bad", "mid", "weak-good"]
"""Of a badge: what its word means for the reader."""


@dataclass(frozen=True)
class Span:
    """A piece of text that looks different from the rest."""

    text: str
    """What it says."""
    look: Literal["soft", "mono", "strong", "bad", "good", "small", "nowrap"] = "soft"
    """How it looks."""
    most: int = 120
    """Characters shown; longer text is cut in its middle."""


@dataclass(frozen=True)
class Badge:
    """A word on a coloured ground."""

    text: str
    """One to three words."""
    look: Look = ""
    """What they mean."""


@dataclass(frozen=True)
class Link:
    """A word that leads to another page or section."""

    text: str
    """What it says."""
    to: str
    """A relative path, or `#section`."""


@dataclass(frozen=True)
class Meter:
    """A small bar before a number."""

    value: float | None
    """Its length, 0 to 1; nothing is drawn without."""
    weak: bool = False
    """Whether it is drawn in the colour of what is bad."""


@dataclass(frozen=True)
class Image:
    """A picture inside a text or a cell of a table."""

    source: str
    """A data URI."""
    alt: str
    """What it shows."""


@dataclass(frozen=True)
class Break:
    """A new line."""


Piece: TypeAlias = str | Span | Badge | Link | Meter | Image | Break
Text: TypeAlias = Piece | tuple[Piece, ...]


def soft(text: object) -> Span:
    """Text that stands back."""
    return Span(str(text))


def mono(text: object, most: int = 120) -> Span:
    """A name of a file, a layer, a key: may be broken at its dots, dashes and slashes."""
    return Span(str(text), "mono", most)


def strong(text: object) -> Span:
    """Text that stands out."""
    return Span(str(text), "strong")


def joined(pieces: Iterable[Text], between: Piece = "; ") -> tuple[Piece, ...]:
    """Texts one after another with something between."""
    found: list[Piece] = []
    for text in pieces:
        found += [between] if found else []
        found += text if isinstance(text, tuple) else [text]
    return tuple(found)


@dataclass(frozen=True)
class Track:
    """A cell of a table: a bar from 0 to 100 % with the whisker of its interval and, as a diamond, a second value."""

    value: float | None
    """Length of the bar, a fraction of the track; none is drawn without."""
    interval: tuple[float, float] | None = None
    """Ends of the whisker, fractions."""
    weak: bool = False
    """Whether it is drawn in the colour of what is bad."""
    mark: float | None = None
    """Where the diamond stands."""
    rule: float | None = None
    """Where an upright line stands, such as the value to beat."""
    label: str = ""
    """In words, for who cannot see it; the numbers where it is empty."""


@dataclass(frozen=True)
class Whisker:
    """A cell of a table: a dot with its interval on an axis whose middle is no difference."""

    at: float
    """Where the dot stands, 0 to 1 of the axis."""
    interval: tuple[float, float] | None = None
    """Ends of the whisker."""
    look: Look = ""
    """What the difference means."""
    cut: bool = False
    """Whether the interval goes on beyond the axis."""


Cell: TypeAlias = Text | Track | Whisker | Spec


class Block:
    """A part of a page; what it may be are the classes below."""


@dataclass(frozen=True)
class Column:
    """One column of a table: what stands above it, and what it shows of a row."""

    heading: Text
    """What stands above it."""
    cell: Callable[[Any], Cell]
    """Its cell in the row of an item."""
    look: Literal["", "num", "bar", "words", "path", "key", "nowrap"] = ""
    """`num` is set right, `bar` is wide, `words` wraps, `path` and `key` are names that may be broken."""
    head: bool = False
    """Whether its cells name their rows."""
    scale: tuple[str, str, str] | None = None
    """Labels at the ends and the middle of a column of bars, in place of a heading."""


def num(heading: Text, cell: Callable[[Any], Cell]) -> Column:
    """A column of numbers."""
    return Column(heading, cell, "num")


def tracks(cell: Callable[[Any], Cell]) -> Column:
    """A column of bars from 0 to 100 %."""
    return Column("", cell, "bar", scale=("0", "50", "100 %"))


@dataclass(frozen=True)
class Table(Block):
    """Items under headings, a row each; it scrolls inside its own box."""

    label: str
    """What it is, for who cannot see it."""
    items: Sequence[Any]
    """What its rows show."""
    columns: Sequence[Column]
    """Its columns."""
    look: Literal["", "dense", "snug", "mid", "even", "mid dense", "even dense", "mid even"] = ""
    """`dense` is smaller, `snug` no wider than its content, `mid` centred in height, `even` with narrow bars."""
    most: int = 100
    """Rows on the page; a line says where the rest is."""
    first: int | None = None
    """Rows before the others are folded; none are if None."""
    total: int | None = None
    """How many rows there are, if not all were given."""
    rest: str = "report.json"
    """Where the rest is."""


@dataclass(frozen=True)
class Card:
    """One figure among several."""

    title: str
    """What it is."""
    value: Text
    """How much."""
    note: Text = ""
    """A line about it."""
    was: str = ""
    """What it was before, if that is compared."""


@dataclass(frozen=True)
class Cards(Block):
    """Figures side by side."""

    cards: Sequence[Card]
    """In their order."""


@dataclass(frozen=True)
class Headline(Block):
    """What a page comes down to."""

    sentence: str
    """One sentence."""
    meaning: str = ""
    """What follows from it."""
    badges: Sequence[Badge] = ()
    """Verdicts above it."""


@dataclass(frozen=True)
class Strip(Block):
    """A bar made of counted parts, with its legend."""

    parts: Sequence[tuple[str, str, int, str]]
    """Key (its colour), label, count, and what it means."""


@dataclass(frozen=True)
class Paragraph(Block):
    """A paragraph."""

    text: Text
    """What it says."""
    look: Literal["", "about", "note"] = "about"
    """`about` explains what follows and stands back; `note` is small."""


@dataclass(frozen=True)
class Subheading(Block):
    """A heading inside a section."""

    text: Text
    """What it says."""


@dataclass(frozen=True)
class Items(Block):
    """A list."""

    items: Sequence[Text]
    """Its entries."""
    look: Literal["", "ordered", "keys", "steps", "plain"] = ""
    """`ordered` is numbered; `keys` are names in two columns; `steps` are numbered with a rule between."""
    most: int = 100
    """Entries on the page; a line says where the rest is."""


@dataclass(frozen=True)
class Facts(Block):
    """Terms and what is to say about each."""

    facts: Sequence[tuple[Text, Text]]
    """Pairs."""
    look: Literal["", "numbers"] = ""
    """`numbers` puts the number first and its name behind it."""


@dataclass(frozen=True)
class Code(Block):
    """Text to copy."""

    text: str
    """As it is."""


@dataclass(frozen=True)
class Chart(Block):
    """A drawing."""

    spec: Spec
    """What is drawn."""
    caption: Text = ""
    """A line below."""
    width: int | None = None
    """Pixels it takes at most; the drawing's own if None."""


@dataclass(frozen=True)
class Legend(Block):
    """What colours mean."""

    entries: Sequence[tuple[str, Text]]
    """Class of the mark, and what it stands for."""
    look: Literal["", "ramp"] = ""
    """`ramp` is a scale of colours whose ends are named."""


@dataclass(frozen=True)
class Shot:
    """A picture with what is to say about it."""

    sources: Sequence[tuple[str, str]]
    """Pictures side by side: data URI (empty for a picture that cannot be shown) and what it shows."""
    caption: Text
    """Below them."""


@dataclass(frozen=True)
class Gallery(Block):
    """Pictures in a grid."""

    shots: Sequence[Shot]
    """In their order."""
    look: Literal["", "small", "pairs", "framed"] = ""
    """`small` for thumbnails, `pairs` for two pictures a shot, `framed` for cards with a border."""
    total: int | None = None
    """How many there are, if not all were given."""


@dataclass(frozen=True)
class Fold(Block):
    """A part that is folded at first."""

    title: Text
    """What is inside."""
    blocks: Sequence[Block]
    """It."""
    open: bool = False
    """Whether it is unfolded at first."""


@dataclass(frozen=True)
class Beside(Block):
    """Parts side by side where there is room."""

    parts: Sequence[Sequence[Block]]
    """Blocks of each."""
    look: Literal["two", "three", "grids"] = "two"
    """How many at most; `grids` are as wide as their content."""


@dataclass(frozen=True)
class Article(Block):
    """A part with a heading of its own, such as a finding."""

    title: Text
    """Its heading."""
    blocks: Sequence[Block]
    """What it says."""
    id: str = ""
    """For links to it."""


@dataclass(frozen=True)
class Answer:
    """One question with its answer, on the front page of a checkup."""

    question: str
    """It."""
    verdict: Badge
    """In a word."""
    figure: Text
    """The number that answers it; empty if there is none."""
    note: Text
    """Beside the number."""
    answer: Text
    """In a sentence."""
    meaning: Text
    """What follows."""
    blocks: Sequence[Block]
    """A drawing."""
    link: Link | None = None
    """To the whole report."""


@dataclass(frozen=True)
class Answers(Block):
    """Questions side by side."""

    answers: Sequence[Answer]
    """In their order."""


@dataclass(frozen=True)
class Section:
    """A part of a page with its heading."""

    id: str
    """For links to it."""
    title: str
    """Its heading."""
    blocks: Sequence[Block]
    """What it says."""
    short: str = ""
    """What the contents call it; the title where it is empty."""
    folded: Text | None = None
    """Said beside the heading of a section that is folded at first; it is not folded if None."""


@dataclass(frozen=True)
class Page:
    """A whole page, apart from where it comes from."""

    kind: str
    """What sort of report it is, in words."""
    title: str
    """For the window."""
    verdict: Sequence[Block]
    """What stands first: headline, cards."""
    sections: Sequence[Section]
    """In their order; the contents are made of them."""
    method: Sequence[Block] = ()
    """How the numbers are made."""
    method_title: str = "Method"
    """Its heading."""
    chosen: Sequence[tuple[str, Text]] = ()
    """What was chosen, for the part that says how to reproduce it."""
    data: Text | None = None
    """What is said about the data there, where it is not a number of test cases."""
    notes: bool = True
    """Whether the notes on the subject are shown."""


def present(sections: Iterable[Section | None]) -> tuple[Section, ...]:
    """Those that there are."""
    return tuple(each for each in sections if each is not None)


def looks(words: Mapping[str, Look], word: str) -> Badge:
    """A word as a badge."""
    return Badge(word.replace("_", " "), words.get(word, ""))
