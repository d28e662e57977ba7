"""A page printed for a class: with a teacher's own texts, indices from 1, and decimal commas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from attncalc.common.errors import InputError, both, near, quoted
from attncalc.render.page import (
    Formula,
    Heading,
    Note,
    Page,
    Paragraph,
    Part,
    Points,
    Rows,
    Span,
    Table,
    Verdict,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

TEXTS = ("Title", "Instructions", "Header", "Footer")
TITLE = re.compile(r"#{1,6}\s+(.*?)\s*#*")
PLACE = re.compile(r"\"[^\"]*\"|\[\d+(?:…\d+)?(?:,\d+(?:…\d+)?)*\]")
"""A place, as pages write it, `[0,1]`, `[1024…1087,0…63]`; or quoted text, which must not be changed."""
READ = ["backticks", "emphasis", "entity", "escape", "link", "autolink", "list", "newline"]
"""The rules of Markdown that are read in a teacher's texts."""
SPANS = {"strong_open": "strong", "em_open": "emphasis", "code_inline": "code"}
NUMBER = re.compile(r"(?<![\w.])(\d+)\.(\d+(?:e[-+]?\d+)?)(?!\w|\.\d)")
CALL = re.compile(r"\w\([^()]*\)")


@dataclass(frozen=True)
class Printing:
    """How pages are printed for a class: texts by heading, the first index, the decimal mark."""

    texts: Mapping[str, tuple[Paragraph, ...]] = field(default_factory=dict)
    base: int = 0
    decimal: str = "."

    def words(self, text: str) -> str:
        """Text of ours, with its places and numbers as they are to be printed."""
        if self.base:
            text = PLACE.sub(self._place, text)
        return self.number(text)

    def _place(self, found: re.Match[str]) -> str:
        if found[0].startswith('"'):
            return found[0]
        return re.sub(r"\d+", lambda index: str(int(index[0]) + self.base), found[0])

    def number(self, text: str) -> str:
        """Numbers as they are to be printed, with places left alone, since `[1]` may be a row; `max(0,5; 1,5)`."""
        if self.decimal == ".":
            return text
        return NUMBER.sub(rf"\1{self.decimal}\2", CALL.sub(lambda call: call[0].replace(", ", "; "), text))


AS_IT_IS = Printing()


def texts_of(markdown: str, source: str) -> dict[str, tuple[Paragraph, ...]]:
    """Heading → paragraphs, for the texts of a file; each item of a list is a paragraph."""
    found: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(markdown.splitlines(), 1):
        heading = TITLE.fullmatch(line.strip())
        if heading:
            name = heading[1].capitalize()
            if name not in TEXTS:
                hint = near(name, TEXTS) or f"it may be {both(TEXTS)}"
                raise InputError(f"{source}:{number}: no text is called {quoted(heading[1])}", hint=hint)
            if name in found:
                raise InputError(f"{source}:{number}: {name} stands there twice")
            found[name] = []
        elif name:
            found[name].append(line)
        elif line.strip():
            hint = "# Title, # Instructions, # Header or # Footer stands above each text"
            raise InputError(f"{source}:{number}: there is no heading above this text", hint=hint)
    return {name: tuple(_paragraphs("\n".join(lines))) for name, lines in found.items()}


def _paragraphs(markdown: str) -> Iterator[Paragraph]:
    """Paragraphs and items of lists, with emphasis, strong and code as spans; links are followed by their address."""
    from markdown_it import MarkdownIt  # a door: few pages have a teacher's texts

    items: list[int] = []  # the item's number in each open list; 0 if the list has no numbers
    mark = ""
    for token in MarkdownIt("zero").enable(READ).parse(markdown):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            items.append(int(token.attrs.get("start", 1)) - 1 if token.type[0] == "o" else -1)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            items.pop()
        elif token.type == "list_item_open":
            items[-1] += items[-1] >= 0
            mark = f"{items[-1]}. " if items[-1] >= 0 else "• "
        elif token.type == "inline":
            spans = (*([Span(mark)] if mark else []), *_spans(token.children or []))
            mark = ""
            is_plain = not any(span.kind for span in spans)
            yield Paragraph("".join(span.text for span in spans), "own", spans=() if is_plain else spans)


def _spans(tokens: Sequence[Token]) -> Iterator[Span]:
    kinds, href, linked = [""], "", ""
    for token in tokens:
        if token.type in ("strong_open", "em_open"):
            kinds.append(SPANS[token.type])
        elif token.type in ("strong_close", "em_close"):
            kinds.pop()
        elif token.type == "link_open":
            href, linked = str(token.attrs["href"]), ""
        elif token.type == "link_close":
            yield from [Span(f" ({href})")] if href.removeprefix("mailto:") != linked else []
        else:
            said = " " if token.type in ("softbreak", "hardbreak") else token.content
            linked += said
            yield Span(said, SPANS.get(token.type, kinds[-1]))


def printed(page: Page, how: Printing) -> Page:
    """The page as printed for a class."""
    blocks = [_block(block, how) for block in page.blocks]
    texts = how.texts
    title = " ".join(part.text for part in texts.get("Title", ())) or page.title
    at = next((i for i, block in enumerate(blocks) if isinstance(block, Heading)), -1)
    if at >= 0 and "Title" in texts:
        blocks[at] = Heading(title)
    if "Instructions" in texts and not _is_instructed(page):
        blocks[at + 1 : at + 1] = texts["Instructions"]
    return page._replace(title=title, blocks=(*texts.get("Header", ()), *blocks, *texts.get("Footer", ())))


def _is_instructed(block: Any) -> bool:
    """Whether a block has our own instructions, which a teacher's may replace."""
    inside = block.blocks if isinstance(block, Page | Part) else ()
    return (isinstance(block, Paragraph) and block.kind == "instructions") or any(map(_is_instructed, inside))


def _block(block: Any, how: Printing) -> Any:
    words, number = how.words, how.number
    if isinstance(block, Part):
        return block._replace(blocks=tuple(part for each in block.blocks for part in _inside(each, how)))
    if isinstance(block, Paragraph | Note):
        return block._replace(text=words(block.text))
    if isinstance(block, Points):
        points = (point._replace(text=words(point.text), words=words(point.words)) for point in block.points)
        return block._replace(points=tuple(points))
    if isinstance(block, Rows):  # their first column holds names
        rows = (row._replace(cells=(row.cells[0], *map(words, row.cells[1:]))) for row in block.rows)
        return block._replace(rows=tuple(rows))
    if isinstance(block, Formula):
        latex = block.latex if how.decimal == "." else NUMBER.sub(rf"\1{{{how.decimal}}}\2", block.latex)
        return block._replace(text=number(block.text), sizes=number(block.sizes), latex=latex)
    if isinstance(block, Table):
        sizes = zip(block.axes, block.shape, strict=False) if how.base else ()
        numbered = {axis: tuple(map(str, range(how.base, size + how.base))) for axis, size in sizes}
        return block._replace(labels={**numbered, **block.labels}, decimal=how.decimal)
    return _verdict(block, how) if isinstance(block, Verdict) else block


def _inside(block: Any, how: Printing) -> list[Any]:
    """A block of a part, with a teacher's instructions in place of ours."""
    if isinstance(block, Paragraph) and block.kind == "instructions" and "Instructions" in how.texts:
        return [part._replace(kind=block.kind) for part in how.texts["Instructions"]]
    return [_block(block, how)]


def _verdict(verdict: Verdict, how: Printing) -> Verdict:
    revealed = verdict.revealed.replace(", ", "; ") if how.decimal == "," else verdict.revealed
    return verdict._replace(
        marks=how.number(verdict.marks),
        mistake=how.words(verdict.mistake),
        hint=how.words(verdict.hint),
        wrong=how.words(verdict.wrong),
        revealed=how.number(revealed),
        given=tuple(tuple(map(how.number, row)) for row in verdict.given),
        first=how.base,
    )
