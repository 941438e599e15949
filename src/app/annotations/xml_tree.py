"""XML of unknown origin as a tree with line numbers: no document types, no entities, nothing outside the file."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from app.errors import UserError

MOST_ELEMENTS = 1_000_000
DEEPEST = 50


@dataclass
class Element:
    """One element."""

    tag: str
    """Its name."""
    line: int
    """Where it begins, from 1."""
    text: str = ""
    """The characters directly in it."""
    children: list[Element] = field(default_factory=list)
    """The elements directly in it."""

    def all(self, tag: str) -> list[Element]:
        """The children of a name."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child of a name; None if there is none."""
        return next((child for child in self.children if child.tag == tag), None)


def parse(text: str | bytes, source: str) -> Element:
    """The root of an XML text.

    A document type is refused as such: entities, which can grow without bound or read other files, need one.

    Args:
        text: the file's content; bytes are UTF-8 or, where they are not, in the encoding that they declare.
        source: what messages call it.

    Raises:
        UserError: malformed XML, a document type, or too many or too deep elements.
    """
    if isinstance(text, bytes):
        with contextlib.suppress(UnicodeDecodeError):
            text = text.decode("utf-8-sig")
    root = Element("", 0)
    stack = [root]
    count = 0
    parser = expat.ParserCreate()

    def refuse(*_: object) -> NoReturn:
        raise UserError(
            f"{source} line {parser.CurrentLineNumber} declares a document type or an entity, "
            "which annotations do not need and which can be harmful: remove it"
        )

    def start(tag: str, _: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(stack) > DEEPEST:
            raise UserError(
                f"{source} line {parser.CurrentLineNumber} goes past {MOST_ELEMENTS:,} elements or "
                f"{DEEPEST} levels: no annotations do"
            )
        element = Element(tag, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        stack[-1].text += data

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    try:
        parser.Parse(text, True)
    except (LookupError, ValueError) as error:  # an encoding that is not known, or that expat cannot read
        raise UserError(f"{source} line 1: no valid XML ({error})") from None
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise UserError(f"{source} line {error.lineno}: no valid XML ({reason})") from None
    return root.children[0]
