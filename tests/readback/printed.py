"""Pages → the equalities that stand on them, each a chain of sides: `scores[0,1] = 1×1 + 0×0 = 1`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from readback.mathml import Element, latex, page

Place = tuple[int, ...]


class Side(NamedTuple):
    """What stands on one side of a sign of equality."""

    written: str
    latex: bool = False  # or text
    relation: str = "="  # the sign in front of it


class Chain(NamedTuple):
    """What is said to be equal to a step, to an entry of it, or to a matrix of its stack."""

    left: str
    at: str  # "0,1", or the heading of a matrix; "" for the whole
    sides: list[Side]


class Said(NamedTuple):
    """All that is said of one step."""

    heading: str  # its name, or its key
    number: int  # 0 where the page doesn't count it
    chains: list[Chain]


COMPARED = r"[^=\[\]]+ (?:[≤<≥>≠=]|\\[lgn]e) [^=\[\]]+"
WORDS_BEHIND = rf" \((?:[a-z]+(?: [a-z]+)*|(?:an?|the) [a-z]{{2,}} .*|from .*|{COMPARED})\)$"

# Text and Markdown


def parted(line: str) -> Iterator[Side]:
    """`a = b ≈ c` → its sides; signs inside brackets are of a side."""
    depth, start, relation = 0, 0, "="
    for i, character in enumerate(line):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if not depth and line[i : i + 3] in (" = ", " ≈ "):
            yield Side(line[start:i], relation=relation)
            start, relation = i + 3, line[i + 1]
    yield Side(line[start:], relation=relation)


def of_line(line: str) -> Chain:
    """`scores[0,1] = 1×1 + 0×0 = 1`."""
    first, *sides = parted(line)
    found = re.fullmatch(r"(.*?)(?:\[([^][]+)\])?", first.written)
    assert found
    return Chain(found[1], found[2] or "", list(map(_without_words, sides)))


def _without_words(side: Side) -> Side:
    """`−∞ (masked)` → `−∞`: words behind a value say why no arithmetic gives it."""
    return side._replace(written=re.sub(WORDS_BEHIND, "", side.written))


def of_markdown(text: str) -> Iterator[Said]:
    """The steps of a page in Markdown: formulas between dollars, arithmetic as code, values in bold."""
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        number, _, name = heading.rpartition(". ")
        said = Said(_unescaped(name), int(number or 0), [])
        for line in body.splitlines():
            if line.startswith("## ") or line == "---":
                break
            if formula := re.match(r"\$((?:[^$])+)\$(?: = `([^`]*)`)?(?: → `[^`]*`)?$", line):
                left, *sides = equation(_as_latex(formula[1]))
                said.chains.append(Chain(left.written, "", sides))
            elif entry := re.fullmatch(r"- `(.+)`", line):
                said.chains.append(of_line(entry[1]))
            elif number_ := re.fullmatch(r"(?:`([^`]+)`|(\S+))((?: = `[^`]+`)*) = \*\*(.+)\*\*", line):
                worked = re.findall(r" = `([^`]+)`", number_[3])
                sides = [side for told in (*worked, number_[4].strip("`")) for side in parted(told)]
                said.chains.append(Chain(number_[1] or number_[2], "", list(map(_without_words, sides))))
        yield said


def _unescaped(text: str) -> str:
    return re.sub(r"\\([^\w\s])", r"\1", text)


def _as_latex(math: str) -> str:
    """LaTeX as it is where Markdown doesn't act on it."""
    for sign, instead in ((r"\cr", r"\\"), (r"\lt ", "<"), (r"\ast ", "*"), (r"\thinspace ", r"\,")):
        math = math.replace(sign, instead)
    return math.replace("_ {", "_{")


# LaTeX


def of_latex(text: str) -> Iterator[Said]:
    """The steps of a page in LaTeX: a paragraph each, with displays behind it."""
    for part in re.split(r"^\\paragraph\{", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("}")
        number, _, name = heading.rpartition(". ")
        said = Said(name.replace("\\_", "_"), int(number or 0), [])
        body = body.split("\n\\subsection*")[0]
        for display in re.findall(
            r"\\\[(.*?)\\\]|\\begin\{align\*\}(.*?)\\end\{align\*\}|\$\\displaystyle (.*?)\$\\par", body, re.DOTALL
        ):
            said.chains.extend(displayed("".join(display)))
        yield said


INDEX = r"(?:\\text\{((?:[^{}]|\{[^{}]*\})*)\}|(\d+))"
"""A label, or a number."""


def displayed(display: str) -> Iterator[Chain]:
    """The equalities of a display: lines without a left side go on with the one above."""
    lines: list[str] = []
    for line in (_unboxed(_unwrapped(row.strip())) for row in _rows(display, r"\\")):
        if line.startswith(r"&\quad"):
            lines[-1] += " " + line.removeprefix(r"&\quad").strip().removeprefix("{}")
        elif line.startswith("&"):
            lines[-1] += " " + line[1:]
        else:
            lines.append(line)
    for line in lines:
        first, *sides = equation(line.replace("&=", "=").replace(r"&\approx", r"\approx"))
        found = re.fullmatch(rf"\{{(.*)\}}_\{{((?:{INDEX}|,)+)\}}", first.written)
        left, at = (found[1], found[2]) if found else (first.written, "")
        words = [f'"{label}"' if label else place for label, place in re.findall(INDEX, at)]
        place = ",".join(words).replace(r"\dots{}", "…").replace(r"\_", "_")
        yield Chain(left, place, [_plain(side) for side in sides])


def _unwrapped(line: str) -> str:
    """Without what makes it small, and with brackets that keep their size as those that grow."""
    line = re.sub(r"\\text\{\\(?:small|footnotesize|scriptsize)\$(.*?)\$\}", r"\1", line)
    return re.sub(r"\\big([lr])(?=\W)", lambda found: {"l": r"\left", "r": r"\right"}[found[1]], line).replace(
        r"\allowbreak ", ""
    )


def _plain(side: Side) -> Side:
    words = rf"\s*\\text\{{ ?\((?:[a-z ]+|from .*)\)\}}$|\\quad \((?:\\text\{{(?:an?|the) .*|{COMPARED})\)$"
    return side._replace(written=re.sub(words, "", side.written.strip()).removesuffix(r"\quad"))


def _unboxed(line: str) -> str:
    """Without the frame around a result."""
    before, box, rest = line.partition(r"\boxed{")
    depth = 1
    for i, character in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if box and not depth:
            return before + rest[:i] + _unboxed(rest[i + 1 :])
    return line


def equation(line: str) -> Iterator[Side]:
    r"""The sides of an equality in LaTeX; signs inside braces, brackets and environments are of a side."""
    depth, start, relation = 0, 0, "="
    for found in re.finditer(r"\\begin\{|\\end\{|\\approx|\\[{}]|[][{}()=]|\\[a-zA-Z]+", line):
        sign = found[0]
        depth += {r"\begin{": 2, "{": 1, "}": -1, "(": 1, ")": -1, "[": 1, "]": -1}.get(sign, 0)
        if depth == 0 and sign in ("=", "\\approx") and "except where" not in line[: found.start()]:
            yield Side(line[start : found.start()].strip(), latex=True, relation=relation)
            start, relation = found.end(), "=" if sign == "=" else "≈"
    yield Side(line[start:].strip(), latex=True, relation=relation)


def _rows(body: str, mark: str) -> Iterator[str]:
    """The lines of an environment; those of one inside it are its own."""
    depth, start = 0, 0
    for found in re.finditer(r"\\begin\{|\\end\{|\\\\", body):
        depth += {"\\begin{": 1, "\\end{": -1}.get(found[0], 0)
        if not depth and found[0] == mark:
            yield body[start : found.start()]
            start = found.end()
    yield body[start:]


def cells(matrix: str) -> list[list[str]] | None:
    """The entries of a matrix, without the labels that frame it; None of what is no matrix."""
    found = re.fullmatch(r"\\begin\{(bmatrix|array)\}(?:\{([r|]+)\})?(.*)\\end\{\1\}", matrix, re.DOTALL)
    if not found:
        return None
    body = found[3].partition(r"\hline\rule{0pt}{2.6ex}")[2] or found[3]
    rows = [_columns(row) for row in _rows(body, r"\\")]
    return [row[1:] for row in rows] if (found[2] or "").startswith("r|") else rows


def _columns(row: str) -> list[str]:
    depth, start, found = 0, 0, []
    for sign in re.finditer(r"\\begin\{|\\end\{|\\&|&", row):
        depth += {r"\begin{": 1, r"\end{": -1}.get(sign[0], 0)
        if not depth and sign[0] == "&":
            found.append(row[start : sign.start()].strip())
            start = sign.end()
    return [*found, row[start:].strip()]


# HTML


def of_html(text: str) -> Iterator[Said]:
    """The steps of a page in HTML: formulas as they are drawn, arithmetic, values, and what entries tell."""
    for section in page(text).all("section"):
        titles = [child for child in section.children if child.tag == "h3"]
        if len(titles) != 1:
            continue
        words = [part for part in titles[0].inside if isinstance(part, str)]
        count = [part.text for part in titles[0].children]
        said = Said("".join(words), int("".join(count) or 0), [])
        for formula in section.all("p", "formula"):
            for math in formula.all("math"):
                left, *sides = equation(latex(math))
                said.chains.append(Chain(left.written, "", sides))
        for listed in section.all("ul", "worked"):
            said.chains.extend(of_line(item.text) for item in listed.all("li"))
        said.chains.extend(map(_mixed, section.all("p", "value")))
        for cell in section.all("td"):
            if how := cell.of.get("data-how"):
                chain = of_line(_without_origins(how))
                if maths := cell.all("math"):  # an exact entry, with what its decimals are
                    chain.sides.append(Side(latex(maths[0]), latex=True))
                    chain.sides.extend(list(parted(cell.text.replace(maths[0].text, "")))[1:])
                said.chains.append(chain)
        yield said


def _mixed(value: Element) -> Chain:
    """`sum = 1 + 2 = 3`, of which the last may be drawn."""
    maths = value.all("math")
    line = "".join(part if isinstance(part, str) else _shown(part) for part in value.inside)
    chain = of_line(line)
    sides = [
        side._replace(written=latex(maths[0]), latex=True) if side.written == MATH else side for side in chain.sides
    ]
    return chain._replace(sides=sides)


MATH = "\ue000"


def _shown(element: Element) -> str:
    return MATH if element.tag == "math" else "".join(p if isinstance(p, str) else _shown(p) for p in element.inside)


def _without_origins(told: str) -> str:
    """`a = 1 + 2 = 3, from b and c` → `a = 1 + 2 = 3`."""
    return told.partition(", from ")[0]
